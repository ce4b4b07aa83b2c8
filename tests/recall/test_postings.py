"""Sets of message numbers as bytes, and many of them in one block."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from clew.recall.blocks import pack_block, split, squeeze, stretch, unpack_block
from clew.recall.postings import SPAN, decode, encode, extend

offsets = st.sets(st.integers(0, SPAN - 1), min_size=1, max_size=300) | st.builds(
    lambda start, size, step: set(range(start, min(SPAN, start + size * step), step)),
    st.integers(0, 60_000),
    st.integers(1, 9_000),
    st.integers(1, 3),
)


@given(offsets, st.integers(0, 65_535))
def test_a_set_comes_back_as_it_was(docs: set[int], span: int) -> None:
    whole = BitMap(span * SPAN + offset for offset in docs)
    assert decode(encode(whole), span) == whole


@given(st.lists(st.lists(st.integers(0, SPAN - 1), min_size=1), min_size=1), st.integers(0, 9))
def test_a_set_grown_step_by_step_is_the_set_of_all(steps: list[list[int]], span: int) -> None:
    data = None
    for step in steps:
        data = extend(data, span, sorted({span * SPAN + offset for offset in step}))
    assert data is not None
    assert decode(data, span) == BitMap(span * SPAN + offset for step in steps for offset in step)


def test_one_message_takes_two_bytes_and_a_long_run_a_few() -> None:
    assert len(encode(BitMap([70_000]))) == 2
    assert len(encode(BitMap(range(1_000)))) < 20
    assert len(encode(BitMap(range(20_000)))) < 20


@given(offsets)
def test_squeezed_numbers_come_back_as_they_were(docs: set[int]) -> None:
    assert stretch(squeeze(BitMap(docs))) == BitMap(docs)


@given(
    st.dictionaries(st.binary(min_size=1, max_size=40).filter(lambda key: b"\0" not in key), st.binary(max_size=999))
)
def test_a_block_comes_back_as_it_was_and_so_do_its_parts(block: dict[bytes, bytes]) -> None:
    assert unpack_block(pack_block(block)) == block
    parts = list(split(block))
    assert {key: docs for part in parts for key, docs in part.items()} == block
    assert [key for part in parts for key in sorted(part)] == sorted(block)

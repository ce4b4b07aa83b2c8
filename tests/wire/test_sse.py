"""Are the same events read however the bytes are cut, and are events spelled so that they read the same?"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.wire.sse import Event, EventReader, spell

STREAMS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "usage" / "sse"


def read(*chunks: bytes) -> list[Event]:
    reader = EventReader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.close()


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(place % (len(stream) + 1) for place in places)})
    return [stream[start:end] for start, end in pairwise(edges)]


def test_names_and_data_are_read() -> None:
    assert read(b"event: ping\ndata: {}\n\ndata: [DONE]\n\n") == [Event("{}", "ping"), Event("[DONE]")]


def test_an_event_is_given_as_soon_as_its_blank_line_is_there() -> None:
    reader = EventReader()
    assert reader.feed(b"data: a\r\n\r") == [Event("a")]
    assert reader.feed(b"\ndata: b\n\n") == [Event("b")]
    assert reader.close() == []


def test_a_line_end_that_is_cut_in_two_is_one() -> None:
    assert read(b"event: a\r", b"", b"\ndata: 1\r", b"\n\r", b"\n") == [Event("1", "a")]


def test_comments_and_other_fields_are_passed_over() -> None:
    assert read(b": OPENROUTER PROCESSING\n\nid: 7\nretry: 3\n:\ndata: a\nunknown\n\n: bye\n\n") == [Event("a")]


def test_several_data_lines_are_one_text() -> None:
    assert read(b"data: a\ndata:\ndata: b\n\n") == [Event("a\n\nb")]


def test_only_one_space_behind_the_colon_is_dropped() -> None:
    assert read(b"data:a\n\ndata:  b \n\n") == [Event("a"), Event(" b ")]


def test_a_mark_at_the_beginning_is_no_part_of_the_first_line() -> None:
    assert read(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n") == [Event("a")]


def test_a_name_does_not_outlive_its_event() -> None:
    assert read(b"event: a\n\ndata: 1\n\nevent: b\ndata: 2\n\ndata: 3\n\n") == [
        Event("1"),
        Event("2", "b"),
        Event("3"),
    ]


def test_an_empty_name_is_none() -> None:
    assert read(b"event: a\nevent:\ndata: 1\n\n") == [Event("1")]


def test_an_event_without_data_is_none_but_empty_data_is_data() -> None:
    assert read(b"event: a\n\ndata\n\ndata:\n\n") == [Event(""), Event("")]


@pytest.mark.parametrize("stream", [b"data: a\ndata: b", b"data: a\ndata: b\n", b"data: a\r\ndata: b\r"])
def test_the_last_event_needs_no_blank_line(stream: bytes) -> None:
    assert read(stream) == [Event("a\nb")]


def test_bytes_that_are_no_text_do_not_stop_the_stream() -> None:
    assert read(b"data: \xff\n\ndata: b\n\n") == [Event("\ufffd"), Event("b")]


def test_only_line_ends_of_the_format_end_a_line() -> None:
    told = "form\x0cfeed \u2028 \x85 \x1c end"
    assert read(spell(Event(told))) == [Event(told)]


def test_a_very_long_line_in_small_chunks_is_read() -> None:
    stream = b"data: " + b"x" * 5_000_000 + b"\n\n"
    assert read(*(stream[start : start + 1024] for start in range(0, len(stream), 1024))) == [Event("x" * 5_000_000)]


def test_half_a_surrogate_pair_is_spelled_as_json_can_read_it() -> None:
    data = json.dumps("\ud83d", ensure_ascii=False)
    [event] = read(spell(Event(data)))
    assert json.loads(event.data) == "\ud83d"


pieces_of_streams = st.sampled_from(
    ["data", "event", ":", " ", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "必", "🧵", "a", "data: x", "id: 1", "\ufeff"]
)
streams = st.lists(pieces_of_streams, max_size=40).map(lambda found: "".join(found).encode())


@given(streams, st.lists(st.integers(0, 10_000), max_size=12))
def test_any_cutting_gives_the_same_events(stream: bytes, places: list[int]) -> None:
    assert read(*cut(stream, places)) == read(stream)


@given(streams)
def test_byte_by_byte_gives_the_same_events(stream: bytes) -> None:
    assert read(*(stream[place : place + 1] for place in range(len(stream)))) == read(stream)


@given(streams)
def test_the_three_line_ends_mean_the_same(stream: bytes) -> None:
    plain = stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert read(stream) == read(plain) == read(plain.replace(b"\n", b"\r\n")) == read(plain.replace(b"\n", b"\r"))


events = st.builds(
    Event,
    st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"])),
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])),
)


@given(st.lists(events, max_size=5))
def test_what_is_spelled_is_read_again(told: list[Event]) -> None:
    assert read(b"".join(map(spell, told))) == told


def recorded_streams() -> list[Path]:
    return sorted(STREAMS.glob("*/*.sse"))


def test_recorded_streams_are_there() -> None:
    if not STREAMS.exists():
        pytest.skip("the corpus of recorded streams is not beside the project")
    assert recorded_streams()


@pytest.mark.parametrize("path", recorded_streams(), ids=lambda path: f"{path.parent.name}/{path.name}")
@settings(max_examples=10, deadline=None)
@given(places=st.lists(st.integers(0, 1_000_000), max_size=30))
def test_a_recorded_stream_reads_the_same_however_cut_and_spelled(path: Path, places: list[int]) -> None:
    stream = path.read_bytes()
    found = read(stream)
    assert found
    assert all(event.data == "[DONE]" or json.loads(event.data) for event in found)
    assert read(*cut(stream, places)) == found == read(b"".join(map(spell, found)))

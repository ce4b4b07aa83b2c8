"""Big output lies outside the rows, once, under the hash of its bytes, and comes back whole."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.store import blobs
from clew.store.address import open_store
from clew.store.blobs import OUTSIDE, Files, lines, put_back, take_out
from clew.store.store import Store
from clew.store.trouble import NotFound

BIG = "output \ud800 ✓\n" * 4_000

texts = st.text(max_size=4) | st.sampled_from(["big one", "another big one"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=4))
def test_every_big_text_is_taken_out_and_put_back_where_it_was(message: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blobs, "OUTSIDE", 5)  # so that a big text is one of five characters
        rest, found = take_out(message)
    assert "big one" not in json.dumps(rest)
    assert all(len(text) >= 5 for _, text in found)
    for path, text in found:
        put_back(rest, path, text)
    assert rest == message


@given(st.text(st.sampled_from("ab\n\r\x0b\u2028 é"), max_size=30), st.integers(1, 12), st.none() | st.integers(0, 12))
def test_lines_are_counted_from_one(text: str, offset: int, limit: int | None) -> None:
    expected = re.findall(r"[^\n]*\n|[^\n]+$", text)[offset - 1 :]
    assert lines(text.encode(), offset, limit) == "".join(expected if limit is None else expected[:limit])
    assert lines(text.encode()) == text


@pytest.mark.parametrize(("offset", "limit"), [(0, None), (-1, 5), (1, -1)])
def test_lines_that_cannot_be_are_refused(offset: int, limit: int | None) -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        lines(b"a", offset, limit)


@pytest.mark.parametrize("length", [OUTSIDE - 1, OUTSIDE, OUTSIDE + 1])
@pytest.mark.parametrize("letter", ["x", "é", "\ud800", "\0"])
def test_a_text_of_any_length_comes_back_whole(store: Store, length: int, letter: str) -> None:
    message = {"role": "tool", "content": [{"type": "text", "text": letter * length, "n": 1}], "tool_call_id": "c"}
    session = store.open_session()
    store.append(session, [message])
    assert store.messages(session)[0].message == message
    assert len(names(store)) == (length >= OUTSIDE)


def names(store: Store) -> list[str]:
    return [name for name, _ in store.shelf.names()]


def test_the_same_output_is_kept_once_however_often_it_is_said(store: Store) -> None:
    session = store.open_session()
    for n in range(3):
        store.append(
            session, [{"role": "user", "content": BIG}, {"role": "tool", "content": BIG, "tool_call_id": f"{n}"}]
        )
    assert store.spill(BIG).removeprefix("blob:") == names(store)[0]
    assert len(names(store)) == 1
    assert all(said.message["content"] == BIG for said in store.messages(session))


def test_a_message_knows_what_it_points_to_and_not_what_it_holds(store: Store) -> None:
    one, two = store.spill("one"), store.spill("two")
    session = store.open_session()
    store.append(
        session,
        [
            {"role": "user", "content": f"see {one} and {two} and {one}"},
            {"role": "user", "content": f"{BIG} {two}"},
            {"role": "user", "content": [{"type": "text", "text": f"({one})"}]},
            {"role": "user", "content": "blob:" + "0" * 32},
        ],
    )
    wanted = [{one, two}, {two}, {one}, set()]
    assert [{f"blob:{name}" for name in said.blobs} for said in store.messages(session)] == wanted


def test_a_call_with_huge_arguments_still_names_the_tool_of_its_result(store: Store) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "write_file", "arguments": json.dumps({"x": BIG})}}
    session = store.open_session()
    store.append(session, [{"role": "assistant", "content": None, "tool_calls": [call]}])
    store.append(session, [{"role": "tool", "tool_call_id": "c", "content": "ok"}])
    assert [said.tool for said in store.messages(session)] == ["", "write_file"]


def test_no_name_leads_out_of_the_shelf(store: Store, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    for name in ("../secret", "blob:../../secret", str(tmp_path / "secret"), "a" * 31, "A" * 32, "a" * 32 + "\n", ""):
        with pytest.raises(NotFound):
            store.read_blob(name)


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        store.spill(BIG)
        folder = tmp_path / "store.db-blobs"
        made = [tmp_path / "store.db", folder, *folder.rglob("*")]
        assert len(made) == 4
        assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in made)


def test_a_file_that_was_cut_short_is_written_again(tmp_path: Path) -> None:
    shelf = Files(tmp_path / "blobs")
    name = shelf.put(b"all of it")
    (path,) = (path for path in (tmp_path / "blobs").rglob("*") if path.is_file())
    path.write_bytes(b"all")
    assert shelf.put(b"all of it") == name
    assert shelf.get(name) == b"all of it"


def test_what_is_removed_is_gone_and_removing_twice_is_nothing(store: Store) -> None:
    name = store.spill(BIG).removeprefix("blob:")
    for _ in range(2):
        store.shelf.remove(name)
        assert names(store) == []
        with pytest.raises(NotFound, match=name):
            store.read_blob(name)


@given(st.lists(st.binary(max_size=50), max_size=6))
@settings(max_examples=25)
def test_the_shelf_gives_back_what_it_was_given(tmp_path_factory: pytest.TempPathFactory, data: list[bytes]) -> None:
    shelf = Files(tmp_path_factory.mktemp("shelf") / "blobs")
    put = {shelf.put(each): each for each in data}
    assert {name: shelf.get(name) for name, _ in shelf.names()} == put


def test_lines_end_where_other_programs_say_they_do(store: Store) -> None:
    name = store.keep_blob("one\x0cstill one\rstill\u2028one\ntwo\n".encode())
    assert store.read_lines(name, offset=2) == "two\n"

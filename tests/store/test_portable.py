"""What is exported comes back the same, into any store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.facts.usage import Usage
from clew.store import portable
from clew.store.address import open_store
from clew.store.check import findings
from clew.store.ledger import Call
from clew.store.store import Store
from clew.store.trouble import StoreError
from tests.store.test_care import filled, user


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "elsewhere.db") as opened:
        yield opened


def travelled(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As JSON in a file and back."""
    return [json.loads(line) for line in [json.dumps(line) for line in lines]]


def test_a_conversation_comes_back_as_it_was(store: Store, elsewhere: Store) -> None:
    session = filled(store)
    store.undo(session)
    store.append(session, [{"role": "user", "content": "odd \ud800 \0 text", "unknown": {"b": 1, "a": [None, 1.5]}}])
    lines = list(portable.export(store, session))
    name, is_new = portable.restore(elsewhere, travelled(lines))
    assert is_new
    assert list(portable.export(elsewhere, name)) == lines
    assert findings(elsewhere) == []
    for one in store.sessions(session):
        assert [said.message for said in elsewhere.messages(one.id)] == [
            said.message for said in store.messages(one.id)
        ]
    assert elsewhere.spent() == store.spent()
    assert elsewhere.recognise([said.message for said in store.history(session)]) is not None


def test_taking_it_in_twice_adds_nothing(store: Store, elsewhere: Store) -> None:
    lines = travelled(list(portable.export(store, filled(store))))
    name, _ = portable.restore(elsewhere, lines)
    before = elsewhere.behind((0, 0))
    assert portable.restore(elsewhere, lines) == (name, False)
    assert elsewhere.behind((0, 0)) == before


def test_a_branch_travels_with_what_it_points_to(store: Store, elsewhere: Store) -> None:
    session = filled(store)
    branch = store.branch(session)
    store.append(branch, [user("in the branch")])
    store.record(branch, Call(Usage(input=1), model="m"))
    seen = [said.message for said in store.messages(branch)]
    name, _ = portable.restore(elsewhere, travelled(list(portable.export(store, branch))))
    assert [said.message for said in elsewhere.messages(name)] == seen
    assert [said.message for said in elsewhere.history(name)] == [user("in the branch")]
    assert findings(elsewhere) == []


def test_what_is_no_export_or_a_newer_one_is_refused_with_a_word(elsewhere: Store) -> None:
    with pytest.raises(StoreError, match="not a conversation exported by clew"):
        portable.restore(elsewhere, [{"role": "user", "content": "hi"}])
    with pytest.raises(StoreError, match="Use a newer clew"):
        portable.restore(elsewhere, [{"format": portable.FORMAT, "version": 99, "id": "x"}])
    assert elsewhere.conversations() == []


@pytest.mark.parametrize("kept", [1, 4, -1])
def test_an_export_that_was_cut_short_is_refused(store: Store, elsewhere: Store, kept: int) -> None:
    lines = travelled(list(portable.export(store, filled(store))))
    with pytest.raises(StoreError, match="cut short"):
        portable.restore(elsewhere, lines[:kept])
    assert elsewhere.conversations() == []


def test_a_damaged_blob_in_an_export_is_refused(store: Store, elsewhere: Store) -> None:
    lines = travelled(list(portable.export(store, filled(store))))
    for line in lines:
        if "blob" in line:
            line["base64"] = "AAAA"
    with pytest.raises(StoreError, match="damaged"):
        portable.restore(elsewhere, lines)
    assert elsewhere.conversations() == []

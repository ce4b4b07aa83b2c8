"""A damaged file: what is readable is saved, what is lost is said, the damaged file is kept."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from clew.store import care
from clew.store.address import open_store
from clew.store.check import Kind, findings
from clew.store.salvage import salvage
from clew.store.trouble import StoreBusy, StoreDamaged, StoreError

PAGE = 4096


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def texts(path: Path) -> set[str]:
    with open_store(path) as store:
        return {said.message["content"] for one in store.conversations() for said in store.history(one.id, aside=True)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        for n in range(6):
            session = store.open_session(title=f"talk {n}")
            store.append(session, [user(f"{n}.{k} " + f"word{k} " * (k * 3)) for k in range(60)])
            store.continue_session(session, [user(f"summary of {n}")], upto=60)
    return path


@pytest.mark.parametrize("seed", range(4))
def test_what_a_broken_page_does_not_hold_is_saved(path: Path, seed: int) -> None:
    before = texts(path)
    data = bytearray(path.read_bytes())
    page = random.Random(seed).randrange(3, len(data) // PAGE)
    data[page * PAGE : (page + 1) * PAGE] = bytes([0xA5]) * PAGE
    path.write_bytes(data)

    saved = salvage(path)
    with open_store(path) as store:
        care.mend(store)
        assert findings(store) == []
    lost = before - texts(path)
    assert len(lost) <= 40, f"one page of 4 KB took {len(lost)} of {len(before)} messages"
    assert saved.kept_as.read_bytes() == data


def test_a_broken_page_of_messages_is_a_finding_not_an_empty_list(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for page in range(30, len(data) // PAGE, 2):  # behind the pages that hold the schema itself
        data[page * PAGE : (page + 1) * PAGE] = bytes([0xA5]) * PAGE
    path.write_bytes(data)
    with open_store(path) as store:
        assert {wrong.kind for wrong in findings(store)} == {Kind.FILE}
        with pytest.raises(StoreDamaged, match="clew doctor"):
            store.conversations()


def test_a_file_in_use_is_not_salvaged(path: Path) -> None:
    with open_store(path) as store, store.database.write(), pytest.raises(StoreBusy, match="in use"):
        salvage(path)
    assert len(texts(path)) == 366


def test_what_cannot_be_read_at_all_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"this was never a database" * 1000)
    with pytest.raises(StoreError):
        salvage(path)
    assert path.read_bytes() == b"this was never a database" * 1000
    assert [found.name for found in tmp_path.iterdir()] == ["store.db"]

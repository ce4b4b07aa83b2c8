"""The log's rows: which messages are knots, what points outside, and a transaction that leaves nothing behind."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clew.store.check import findings
from clew.store.database import Database
from clew.store.lineage import links
from clew.store.log import KNOT
from clew.store.sqlite import Sqlite
from clew.store.store import Store
from clew.store.trouble import StoreBusy, StoreError


def test_every_32nd_message_and_the_end_of_each_append_are_knots_and_no_other(store: Store) -> None:
    session = store.open_session()
    ends, said = set(), 0
    for count in (1, 1, 20, KNOT - 22, 1, KNOT, 2 * KNOT + 1, 5, 70, 0):
        store.append(session, [{"role": "user", "content": f"{n}"} for n in range(said, said + count)])
        said += count
        ends.add(said - 1)
    with store.database.read() as work:
        rows = work.all("SELECT place, hash, chain FROM message ORDER BY place")
    chains = links(b"", [bytes(hash_) for _, hash_, _ in rows])
    assert [(place, bytes(chain)) for place, _, chain in rows if chain is not None] == [
        (place, chains[place]) for place in range(said) if place % KNOT == 0 or place in ends
    ]
    assert not findings(store)


def test_of_many_messages_the_one_that_points_to_a_blob_is_known_for_it(store: Store) -> None:
    session = store.open_session()
    pointer = store.spill("a long output")
    texts = [f"{n} {'long ' * 600 if n % 7 == 0 else ''}" for n in range(2 * KNOT)]
    texts[5], texts[KNOT + 3], texts[KNOT + 4] = f"see {pointer}", f"again {pointer}", "x" * 40_000
    store.append(session, [{"role": "user", "content": text} for text in texts])
    found = store.messages(session)
    assert [said.message["content"] for said in found] == texts
    assert [said.place for said in found if said.blobs] == [5, KNOT + 3]
    assert not findings(store)


def test_what_fails_in_a_transaction_never_happened_and_others_may_write(tmp_path: Path) -> None:
    database = Sqlite(tmp_path / "my.db")
    with database.write() as work:
        work.run("CREATE TABLE said (word TEXT NOT NULL)")

    def half(word: Callable[[], str | None]) -> None:
        with database.write() as work:
            work.run("INSERT INTO said VALUES ('half')")
            work.run("INSERT INTO said VALUES (?)", (word(),))

    with pytest.raises(StoreError, match="NOT NULL"):
        half(lambda: None)
    with pytest.raises(StopIteration):
        half(lambda: next(iter(())))
    assert _written_by_another_thread(database) == [("whole",)]
    database.close()


def test_who_cannot_begin_is_in_no_ones_way(tmp_path: Path) -> None:
    database = Sqlite(tmp_path / "my.db", wait=0.01)
    with database.write() as work:
        work.run("CREATE TABLE said (word TEXT NOT NULL)")
    other = sqlite3.connect(tmp_path / "my.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy), database.write():
        pass
    other.close()
    assert _written_by_another_thread(database) == [("whole",)]
    database.close()


def _written_by_another_thread(database: Database) -> list[tuple[str, ...]]:
    def write() -> list[tuple[str, ...]]:
        with database.write() as work:
            work.run("INSERT INTO said VALUES ('whole')")
        with database.read() as work:
            return work.all("SELECT word FROM said")

    with ThreadPoolExecutor(1) as threads:
        return threads.submit(write).result(timeout=10)

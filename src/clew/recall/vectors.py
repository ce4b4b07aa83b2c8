"""Where the meanings of messages are kept: rows of bits beside the index, made from the log and dropped with it."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pyroaring import BitMap

from clew.recall.meaning import WIDTH
from clew.store.database import Database, Look, Work
from clew.store.values import START, Mark

BLOCK = 256
"""Message numbers whose meanings share a row: one more message changes one row, of some ten thousand bytes."""
RECORD = struct.Struct(f"<I{WIDTH}s")
"""A message's number and the meaning of one of its passages."""
CHUNK = 200
"""Rows read in one statement."""

Meanings = Mapping[int, Sequence[bytes]]
"""Message → the meanings of its passages, in their order."""


class Progress(NamedTuple):
    """How far the meanings have come."""

    model: str
    """The encoder they were made with; empty where there are none."""
    mark: Mark
    """The moment of the log up to which every message has its meanings."""
    changes: int
    """Counted up with every change: whoever holds a copy knows whether it still is one."""
    cleared: int
    """The change with which all were dropped: of a copy from before it nothing holds."""
    messages: int
    """Those that have any: a message without text has none."""


COLUMNS = "model, mark_first, mark_second, changes, cleared, messages"


def create(work: Work, database: Database) -> None:
    whole, data = database.types["whole"], database.types["bytes"]
    counts = ", ".join(f"{column} {whole} NOT NULL" for column in COLUMNS.split(", ")[1:])
    work.run(f"CREATE TABLE IF NOT EXISTS recall_meaning (model {data} NOT NULL, {counts})")
    work.run(
        f"CREATE TABLE IF NOT EXISTS recall_vector (block {whole} PRIMARY KEY, changed {whole} NOT NULL, "
        f"data {data} NOT NULL)"
    )


def clear(work: Work) -> None:
    """As if there were none. Changes go on being counted, so that no copy is taken for the new ones."""
    changes = (work.all("SELECT max(changes) FROM recall_meaning")[0][0] or 0) + 1
    work.run("DELETE FROM recall_vector")
    work.run("DELETE FROM recall_meaning")
    work.run(f"INSERT INTO recall_meaning ({COLUMNS}) VALUES (?, ?, ?, ?, ?, 0)", (b"", *START, changes, changes))


def read(work: Look) -> Progress:
    model, first, second, *counts = work.all(f"SELECT {COLUMNS} FROM recall_meaning")[0]
    return Progress(bytes(model).decode(), (first, second), *counts)


def add(work: Work, before: Progress, model: str, mark: Mark, meanings: Meanings) -> None:
    """More messages, each in the row of its number."""
    changes = before.changes + 1
    blocks: dict[int, list[bytes]] = defaultdict(list)
    for seq in sorted(meanings):
        blocks[seq // BLOCK] += [RECORD.pack(seq, meaning) for meaning in meanings[seq]]
    had = dict(_rows(work, sorted(blocks)))
    _write(work, changes, {block: _sorted(had.get(block, b"") + b"".join(new)) for block, new in blocks.items()})
    told = (model.encode(), *mark, changes, before.messages + sum(map(bool, meanings.values())))
    work.run("UPDATE recall_meaning SET model = ?, mark_first = ?, mark_second = ?, changes = ?, messages = ?", told)


def remove(work: Work, gone: BitMap) -> None:
    """Take messages out, bit by bit."""
    now = read(work)
    changed: dict[int, bytes] = {}
    lost: set[int] = set()
    for block, data in _rows(work, sorted({seq // BLOCK for seq in gone})):
        kept = b"".join(data[at : at + RECORD.size] for at, seq in _numbered(data) if seq not in gone)
        if kept != data:
            changed[block] = kept
            lost |= {seq for _, seq in _numbered(data) if seq in gone}
    if changed:
        _write(work, now.changes + 1, changed)
        told = (now.changes + 1, now.messages - len(lost))
        work.run("UPDATE recall_meaning SET changes = ?, messages = ?", told)


def changed_since(work: Look, changes: int) -> list[tuple[int, bytes]]:
    """The rows that a copy of that time lacks or has otherwise. A row that was emptied comes empty."""
    return [(block, bytes(data)) for block, data in work.all(
        "SELECT block, data FROM recall_vector WHERE changed > ? ORDER BY block", (changes,)
    )]  # fmt: skip


def messages_of(work: Look) -> BitMap:
    """Every message that has a meaning."""
    return BitMap([seq for _, data in changed_since(work, -1) for _, seq in _numbered(data)])


def _numbered(data: bytes) -> Iterable[tuple[int, int]]:
    """Where each record begins, and whose it is."""
    return [(at, int.from_bytes(data[at : at + 4], "little")) for at in range(0, len(data), RECORD.size)]


def _sorted(data: bytes) -> bytes:
    """By number; the passages of a message stay in their order."""
    return b"".join(data[at : at + RECORD.size] for at, _ in sorted(_numbered(data), key=lambda record: record[1]))


def _rows(work: Look, blocks: Sequence[int]) -> Iterable[tuple[int, bytes]]:
    for start in range(0, len(blocks), CHUNK):
        some = blocks[start : start + CHUNK]
        marks = ",".join("?" * len(some))
        for block, data in work.all(f"SELECT block, data FROM recall_vector WHERE block IN ({marks})", some):
            yield block, bytes(data)


def _write(work: Work, changes: int, rows: Mapping[int, bytes]) -> None:
    work.many(
        "INSERT INTO recall_vector (block, changed, data) VALUES (?, ?, ?) "
        "ON CONFLICT (block) DO UPDATE SET changed = excluded.changed, data = excluded.data",
        [(block, changes, data) for block, data in rows.items()],
    )

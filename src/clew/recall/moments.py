"""Which messages are of a certain time? Exactly, though their numbers are only about in the order of time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from struct import pack, unpack

from pyroaring import BitMap

from clew.store.database import Database, Look, Work

BLOCK = 1_024
"""Message numbers whose times share a row. Only rows at an edge of the time asked for are opened."""


def within(work: Look, after: float | None, before: float | None) -> BitMap:
    """The messages written at or after the one time and before the other."""
    start, end = (-math.inf if after is None else after), (math.inf if before is None else before)
    found = BitMap()
    for block, first, last in work.all(
        "SELECT block, first, last FROM recall_moment WHERE last >= ? AND first < ?", (start, end)
    ):
        if start <= first and last < end:
            found.add_range(block * BLOCK, (block + 1) * BLOCK)
        else:
            times = _read(work, block)
            found.update(seq for seq, at in times.items() if start <= at < end)
    return found


def create(work: Work, database: Database) -> None:
    types = database.types
    work.run(
        f"CREATE TABLE IF NOT EXISTS recall_moment (block {types['whole']} PRIMARY KEY, "
        f"first {types['real']} NOT NULL, last {types['real']} NOT NULL, times {types['bytes']} NOT NULL)"
    )


def clear(work: Work) -> None:
    work.run("DELETE FROM recall_moment")


def times_of(work: Look, start: int, end: int) -> dict[int, float]:
    """When the messages numbered from `start` to before `end` were written."""
    blocks = work.all("SELECT block FROM recall_moment WHERE block >= ? AND block < ?", (start // BLOCK, end // BLOCK))
    return {seq: at for (block,) in blocks for seq, at in _read(work, block).items()}


def add_times(work: Work, times: Mapping[int, float]) -> None:
    for block, some in _by_block(times).items():
        _write(work, block, {**_read(work, block), **some})


def forget_times(work: Work, seqs: Iterable[int]) -> None:
    for block, some in _by_block(dict.fromkeys(seqs, 0.0)).items():
        _write(work, block, {seq: at for seq, at in _read(work, block).items() if seq not in some})


def _by_block(times: Mapping[int, float]) -> dict[int, dict[int, float]]:
    blocks: dict[int, dict[int, float]] = defaultdict(dict)
    for seq, at in times.items():
        blocks[seq // BLOCK][seq] = at
    return blocks


def _read(work: Look, block: int) -> dict[int, float]:
    row = work.one("SELECT times FROM recall_moment WHERE block = ?", (block,))
    if row is None:
        return {}
    times = unpack(f"<{len(row[0]) // 8}d", row[0])
    return {block * BLOCK + place: at for place, at in enumerate(times) if not math.isnan(at)}


def _write(work: Work, block: int, times: Mapping[int, float]) -> None:
    if not times:
        work.run("DELETE FROM recall_moment WHERE block = ?", (block,))
        return
    base = block * BLOCK
    places = [times.get(seq, math.nan) for seq in range(base, max(times) + 1)]
    work.run(
        "INSERT INTO recall_moment (block, first, last, times) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (block) DO UPDATE SET first = excluded.first, last = excluded.last, times = excluded.times",
        (block, min(times.values()), max(times.values()), pack(f"<{len(places)}d", *places)),
    )

"""A conversation from its first message to its last, a branch with what it shares: which row stands at which place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from clew.store.chain import Head, Item, first_of, opened_with, view
from clew.store.database import Row, Work
from clew.store.lineage import links
from clew.store.log import COLUMNS, chain_before


class Ground:
    """One conversation, looked at inside one transaction. Places count what it opened with, then its own line."""

    def __init__(self, work: Work, head: Head) -> None:
        self.work, self.head = work, head
        self.begun: list[Item] = opened_with(work, first_of(work, head))
        """What a branch shares with another conversation; nothing for any other."""

    @cached_property
    def _at(self) -> dict[int, int]:
        return {item.seq: place for place, item in enumerate(self.begun)}

    def place(self, seq: int, on_line: int) -> int:
        """The place of a row that stands at `on_line` of its own line."""
        return self._at.get(seq, len(self.begun) + on_line)

    def shown(self) -> list[tuple[int | None, Item]]:
        """What the newest session shows, each with its place; None for what clew wrote itself."""
        return [
            (self.place(item.seq, item.place) if item.own or item.seq in self._at else None, item)
            for item in view(self.work, self.head.tip)
        ]

    def hashes(self, first: int, last: int) -> list[tuple[int, int, bytes]]:
        """Place, number and hash of everything that stands between two places, both included."""
        before = len(self.begun)
        found = [(place, item.seq, item.hash) for place, item in enumerate(self.begun) if first <= place <= last]
        if last >= before:
            found += [
                (before + place, seq, bytes(hash_))
                for place, seq, hash_ in self.work.all(
                    "SELECT place, seq, hash FROM message WHERE conversation = ? AND standing = 1 "
                    "AND place >= ? AND place <= ? ORDER BY place, seq",
                    (self.head.number, first - before, last - before),
                )
            ]
        return found

    def rows(self, first: int, last: int) -> tuple[Sequence[int], Sequence[Row]]:
        """The places of the same, and their rows of `COLUMNS`."""
        before = len(self.begun)
        places = [place for place in range(before) if first <= place <= last]
        by_seq = {
            row[0]: row
            for place in places
            for row in self.work.all(f"SELECT {COLUMNS} WHERE m.seq = ?", (self.begun[place].seq,))
        }
        own = self.work.all(
            f"SELECT {COLUMNS} WHERE m.conversation = ? AND m.standing = 1 AND m.place >= ? AND m.place <= ? "
            "ORDER BY m.place, m.seq",
            (self.head.number, first - before, last - before),
        )
        lent = [by_seq[self.begun[place].seq] for place in places]
        return [*places, *(before + row[2] for row in own)], [*lent, *own]

    def after(self, place: int) -> int | None:
        """The place of the next row that stands behind one."""
        if place + 1 < len(self.begun):
            return place + 1
        before = len(self.begun)
        row = self.work.one(
            "SELECT place FROM message WHERE conversation = ? AND standing = 1 AND place > ? ORDER BY place LIMIT 1",
            (self.head.number, place - before),
        )
        return None if row is None else before + int(row[0])

    def chain(self, place: int) -> bytes:
        """The running hash behind a place."""
        if place < len(self.begun):
            return [b"", *links(b"", [item.hash for item in self.begun[: place + 1]])][-1]
        return chain_before(self.work, self.head.number, place - len(self.begun) + 1)

"""Which messages mean what is asked? All kept meanings are compared, in memory, bit by bit; the nearest ones closer."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from pyroaring import BitMap

from clew.recall import state, vectors
from clew.recall.index import Index
from clew.recall.meaning import BITS, WIDTH, Encoder
from clew.recall.passages import passages_of
from clew.recall.texts import Section
from clew.recall.vectors import Meanings, Progress
from clew.store.values import START, Mark, Stored

BATCH = 2_000
"""Messages given their meanings in one transaction."""
CHUNK = 250
"""Messages read from the log at once."""
COMPARED = 1_000
"""Passages, the nearest by their bits, that are compared with the question's own numbers."""
FEW = 50
"""One in so many messages, or fewer, are looked up one by one; of more, every row is asked whether it is among them."""


class Near(NamedTuple):
    """How near a message is, and which of its passages is."""

    likeness: float
    """From -1 to 1."""
    passage: int


class Copy(NamedTuple):
    """All that is kept, in memory."""

    changes: int
    seqs: Any
    """Whose passage each row is, in order."""
    signs: Any
    """Four columns of 64 bits."""


class Nearness:
    """The meanings of an index's messages, and a copy of them in memory."""

    def __init__(self, index: Index, encoder: Encoder) -> None:
        self.index = index
        self.encoder = encoder
        self._np = import_module("numpy")
        nothing = self._np.zeros((BITS // 64, 0), dtype=self._np.uint64)
        self._copy = Copy(-1, self._np.zeros(0, dtype=self._np.uint32), nothing)

    def build(self, limit: int | None = None, progress: Callable[[int], None] | None = None) -> int:
        """Give at most `limit` indexed messages their meanings; how many got them.

        Each transaction writes its messages and how far it came together, so whoever kills it loses only time.
        Meanings that another encoder made are dropped first.
        """
        done = 0
        while limit is None or done < limit:
            indexed, before = self._states()
            mark = before.mark if before.model in ("", self.encoder.name) else START
            mark, meanings = self._read_log(mark, indexed.mark, BATCH if limit is None else min(BATCH, limit - done))
            if not meanings:
                break
            with self.index.database.write() as work:
                # The row that every writer of the index holds: what is forgotten meanwhile must not come back.
                if state.read(work, self.index.database.row_lock).removals != indexed.removals:
                    continue
                now = vectors.read(work)
                if now != before:
                    continue
                if now.model not in ("", self.encoder.name):
                    vectors.clear(work)
                    now = vectors.read(work)
                vectors.add(work, now, self.encoder.name, mark, meanings)
            done += len(meanings)
            if progress:
                progress(done)
        return done

    def progress(self) -> Progress:
        return self._states()[1]

    def behind(self) -> int:
        """How many messages have no meanings of this encoder yet."""
        now = self.progress()
        return self.index.feed.behind(now.mark if now.model == self.encoder.name else START)

    def nearest(self, question: Any, scope: BitMap, most: int) -> dict[int, Near]:
        """The messages nearest in meaning to a question."""
        copy = self._refreshed()
        np, rows = self._np, self._within(copy, scope)
        if not len(rows):
            return {}
        asked = np.packbits(question > 0).view(np.uint64)
        apart = np.zeros(len(rows), dtype=np.uint16)
        everything = len(rows) == len(copy.seqs)
        for column, sign in zip(copy.signs, asked, strict=True):
            apart += np.bitwise_count((column if everything else column[rows]) ^ sign)
        # As many as differ in few enough bits: counting is faster than sorting a million.
        reach = int(np.searchsorted(np.cumsum(np.bincount(apart)), min(COMPARED, len(rows))))
        near = self._compare(copy, question, rows[np.flatnonzero(apart <= reach)])
        return dict(list(near.items())[:most])

    def likeness(self, question: Any, seqs: BitMap) -> dict[int, Near]:
        """How near these messages are."""
        copy = self._refreshed()
        return self._compare(copy, question, self._within(copy, seqs))

    def passage(self, stored: Stored, number: int) -> Section:
        """The passage itself, veiled."""
        found = passages_of(stored, self.index.veil, self.index.feed.read_blob)
        return found[number] if number < len(found) else Section("")

    def _compare(self, copy: Copy, question: Any, rows: Any) -> dict[int, Near]:
        """The best passage of each message, the nearest message first."""
        np = self._np
        bits = np.ascontiguousarray(copy.signs[:, rows].T).view(np.uint8).reshape(len(rows), WIDTH)
        likeness = (np.unpackbits(bits, axis=1).astype(np.float32) * 2 - 1) @ question / BITS**0.5
        seqs = copy.seqs[rows]
        passages = rows - np.searchsorted(copy.seqs, seqs)
        found: dict[int, Near] = {}
        for place in np.argsort(-likeness, kind="stable"):
            found.setdefault(int(seqs[place]), Near(float(likeness[place]), int(passages[place])))
        return found

    def _within(self, copy: Copy, scope: BitMap) -> Any:
        """The rows of messages that may be found."""
        np, seqs = self._np, copy.seqs
        chosen = np.frombuffer(scope.to_array(), dtype=np.uint32) if scope else np.zeros(0, dtype=np.uint32)
        if len(chosen) < len(seqs) // FEW:
            firsts, ends = np.searchsorted(seqs, chosen), np.searchsorted(seqs, chosen, side="right")
            return np.concatenate([np.arange(first, end) for first, end in zip(firsts, ends, strict=True)] or [firsts])
        size = int(seqs[-1]) + 1 if len(seqs) else 0
        allowed = np.zeros(size, dtype=bool)
        allowed[chosen[chosen < size]] = True
        return np.flatnonzero(allowed[seqs])

    def _refreshed(self) -> Copy:
        """The copy, brought up to what is kept. Another thread may do the same: each works on whole values."""
        np, copy = self._np, self._copy
        with self.index.database.read() as work:
            now = vectors.read(work)
            if now.changes == copy.changes:
                return copy
            rows = vectors.changed_since(work, copy.changes)
        seqs, signs = (copy.seqs, copy.signs) if now.cleared <= copy.changes else (copy.seqs[:0], copy.signs[:, :0])
        kind = np.dtype([("seq", "<u4"), ("signs", "<u8", (BITS // 64,))])
        fresh = np.frombuffer(b"".join([data for _, data in rows]), dtype=kind)
        # Mostly only the last rows have changed: what stands before them is not touched.
        start = int(np.searchsorted(seqs, np.uint32(rows[0][0] * vectors.BLOCK))) if rows else len(seqs)
        kept = start + np.flatnonzero(~np.isin(seqs[start:] // vectors.BLOCK, [block for block, _ in rows]))
        tail = np.concatenate([seqs[kept], fresh["seq"]])
        order = np.argsort(tail, kind="stable")
        tail_signs = np.concatenate([signs[:, kept], fresh["signs"].T], axis=1)[:, order]
        self._copy = renewed = Copy(
            now.changes,
            np.concatenate([seqs[:start], tail[order]]),
            np.concatenate([signs[:, :start], tail_signs], axis=1),
        )
        return renewed

    def _read_log(self, mark: Mark, end: Mark, limit: int) -> tuple[Mark, Meanings]:
        """The meanings of the next messages that the index knows already, and the mark behind them."""
        meanings: dict[int, list[bytes]] = {}
        while len(meanings) < limit:
            news = self.index.feed.after(mark, min(CHUNK, limit - len(meanings)))
            known = [(behind, stored) for behind, stored in news if behind <= end]
            texts = {stored.seq: self._passages(stored) for _, stored in known}
            bits = iter(self.encoder.bits([text for some in texts.values() for text in some]))
            meanings.update({seq: [next(bits) for _ in some] for seq, some in texts.items()})
            if len(known) < len(news) or not news:
                mark = known[-1][0] if known else mark
                break
            mark = known[-1][0]
        return mark, meanings

    def _passages(self, stored: Stored) -> list[str]:
        return [section.text for section in passages_of(stored, self.index.veil, self.index.feed.read_blob)]

    def _states(self) -> tuple[state.State, Progress]:
        with self.index.database.read() as work:
            return state.read(work), vectors.read(work)

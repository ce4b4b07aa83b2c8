"""The index: for each word the messages that have it, in tables of its own, always as the log was at one moment."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from pyroaring import BitMap

from clew.recall import moments, proof, shelves, state, vectors
from clew.recall.postings import SPAN, decode, union
from clew.recall.shelves import marks
from clew.recall.state import State
from clew.recall.terms import ALL, DERIVED, keys_of
from clew.store.database import Database, Look, Work
from clew.store.values import Feed, Mark, Stored

BATCH = 16_000
"""Messages indexed in one transaction: many, because each touches most rows of its span."""
BATCH_CHARACTERS = 16_000_000
"""Characters in one transaction, so that huge messages do not fill the memory."""
CHUNK = 500
"""Messages read from the log at once."""
YOUNG = 16_384
"""Messages up to which a store is kept in blocks. From there on rows are smaller than the text, and faster."""
FRESH = 64
"""Messages, or a sixteenth of all, that a young store keeps in rows: to change the blocks for each would be slow."""
PATIENCE, PAUSE = 20, 0.01
"""How often, and for how many seconds, a search waits for what is committed but may not be read in order yet. Whoever
wants all of it indexed waits ten times as long."""
EXPANSIONS = 4_000
"""Rows a prefix is looked up in."""


class Question(NamedTuple):
    """What a search has to know from the index, asked at once so that all answers are of one moment."""

    keys: list[bytes]
    prefixes: list[bytes]
    after: float | None = None
    before: float | None = None


class Answer(NamedTuple):
    state: State
    docs: dict[bytes, BitMap]
    """Key or prefix* → the messages that stand under it. What nobody has is left out."""
    cut: set[bytes]
    """Prefixes of too many words to look at all of them."""
    within: BitMap | None
    """The messages of the time asked for."""


class Index:
    """A full-text index beside a log. Several processes may use it, and catch up with the log, at the same time."""

    def __init__(self, database: Database, feed: Feed, veil: Callable[[str], str]) -> None:
        """`veil` takes the credentials out of a text: what it hides is never written, found or shown."""
        self.database = database
        self.feed = feed
        self.veil = veil
        self._young = True
        with database.read() as work:
            if database.has_table(work, "recall_state") and state.is_readable(work):
                return
        with database.write() as work:
            database.alone(work)
            if database.has_table(work, "recall_state") and state.is_readable(work):
                return  # someone else was faster
            for table in ("posting", "block", "moment", "meaning", "vector", "state"):  # of another format, if at all
                work.run(f"DROP TABLE IF EXISTS recall_{table}")
            for part in (shelves, moments, vectors, state):
                part.create(work, database)
            _clear(work)

    def catch_up(self, limit: int | None = None, progress: Callable[[int], None] | None = None) -> int:
        """Index what the log has and the index has not, at most `limit` messages; how many it were.

        Each transaction writes its messages and how far it came together, so whoever kills it loses only time.
        """
        done, patience = 0, PATIENCE if limit is not None else 10 * PATIENCE
        while limit is None or done < limit:
            before = self.state()
            batch = self._read_log(before.mark, BATCH if limit is None else min(BATCH, limit - done))
            if not batch.times:
                if not patience or not self.feed.behind(before.mark):
                    break
                patience -= 1  # an older transaction has yet to end; it mostly does in a moment
                time.sleep(PAUSE)
                continue
            more = self.feed.behind(batch.mark)
            with self.database.write() as work:
                now = self._locked(work)
                if (now.mark, now.removals) != (before.mark, before.removals):
                    continue  # what we read was indexed by another process meanwhile, or must not be indexed any more
                _add(work, now, batch, more)
            done += len(batch.times)
            if progress:
                progress(done)
        return done

    def read(self, question: Question) -> Answer:
        """Everything the index knows about a question, of one moment."""
        if not self._young and not question.prefixes and question.after is None and question.before is None:
            answer = self._answer(self.database.glance, question)
            if not answer.state.young:
                return answer  # a single statement is of one moment by itself
        with self.database.read() as work:
            answer = self._answer(work, question)
        self._young = answer.state.young
        return answer

    def _answer(self, work: Look, question: Question) -> Answer:
        found: dict[bytes, list[BitMap]] = {}
        cut: set[bytes] = set()
        within = None
        # State and rows in one statement: for a word nobody said, one more would cost as much as the answer.
        keys = question.keys
        rows = work.all(_state_and_rows(len(keys)), keys)
        now = state.as_state(rows[0])
        if keys and rows[0][state.WIDTH] is not None:
            for *_, key, span, docs in rows:
                found.setdefault(key, []).append(decode(docs, span))
        if now.young:
            for key, some in shelves.find_in_blocks(work, keys):
                found.setdefault(key, []).append(some)
        for prefix in question.prefixes:
            expanded = shelves.begin_with(work, prefix, EXPANSIONS + 1, now.young)
            cut |= {prefix} if len(expanded) > EXPANSIONS else set()
            found[prefix + b"*"] = expanded[:EXPANSIONS]
        if question.after is not None or question.before is not None:
            within = moments.within(work, question.after, question.before)
        return Answer(now, {key: union(docs) for key, docs in found.items()}, cut, within)

    def state(self) -> State:
        with self.database.read() as work:
            return state.read(work)

    def behind(self) -> int:
        """How many messages of the log are not indexed yet."""
        return self.feed.behind(self.state().mark)

    def drop(self) -> None:
        """Forget everything. The log has it all."""
        with self.database.write() as work:
            self._locked(work)
            _clear(work)

    def rebuild(self, progress: Callable[[int], None] | None = None) -> int:
        """Drop it and make it again from the log; how many messages it has."""
        self.drop()
        return self.catch_up(progress=progress)

    def remove(self, seqs: Iterable[int]) -> int:
        """Take messages out of everything they stand under, so that no word stays that only they had; how many.

        It looks at every row of their spans, not at their words: a redactor that has learnt since would hide the very
        words that have to go.
        """
        gone = BitMap(seqs)
        with self.database.write() as work:
            now = self._locked(work)
            had = dict.fromkeys((ALL, DERIVED), BitMap())
            for key, docs in shelves.find(work, [ALL, DERIVED], now.young):
                had[key] = had[key] | (docs & gone)
            for span in sorted({seq // SPAN for seq in had[ALL]}):
                shelves.remove(work, span, gone, now.young)
            moments.forget_times(work, had[ALL])
            vectors.remove(work, gone)
            state.write(
                work,
                now._replace(
                    messages=now.messages - len(had[ALL]),
                    derived=now.derived - len(had[DERIVED]),
                    removals=now.removals + 1,
                ),
            )
        return len(had[ALL])

    def verify(self) -> list[str]:
        """Read the whole log again and compare; what is wrong, a sentence each."""
        return proof.findings(self.database, self.feed, self.veil)

    def size(self) -> int:
        """Bytes it takes up."""
        return self.database.size()

    def _read_log(self, mark: Mark, limit: int) -> Batch:
        batch = Batch(mark)
        while len(batch.times) < limit and batch.characters < BATCH_CHARACTERS:
            news = self.feed.after(batch.mark, min(CHUNK, limit - len(batch.times)))
            for behind, stored in news:
                batch.add(behind, stored, self)
            if not news:
                break
        return batch

    def _locked(self, work: Work) -> State:
        return state.read(work, self.database.row_lock)


class Batch:
    """Messages read from the log and not yet written to the index."""

    def __init__(self, mark: Mark) -> None:
        self.mark = mark
        self.times: dict[int, float] = {}
        self.derived = 0
        self.characters = 0
        self.spans: dict[int, dict[bytes, list[int]]] = {}

    def add(self, mark: Mark, stored: Stored, index: Index) -> None:
        seq = stored.seq
        keys, characters = keys_of(stored, index.veil, index.feed.read_blob)
        postings = self.spans.setdefault(seq // SPAN, defaultdict(list))
        for key in keys:
            postings[key].append(seq)
        self.mark = mark
        self.times[seq] = stored.at
        self.derived += stored.derived
        self.characters += characters


def _add(work: Work, now: State, batch: Batch, more: int) -> None:
    messages, fresh = now.messages + len(batch.times), now.fresh + len(batch.times)
    young = now.young and messages + more <= YOUNG and max(batch.times) < SPAN
    if now.young and not young:
        shelves.grow_up(work)
    if young and fresh > max(FRESH, messages // 16):
        shelves.settle(work, batch.spans[0])
        fresh = 0
    else:
        for span, postings in batch.spans.items():
            shelves.add(work, span, postings)
    moments.add_times(work, batch.times)
    derived, characters = now.derived + batch.derived, now.characters + batch.characters
    fresh = fresh if young else 0
    state.write(work, State(batch.mark, young, fresh, messages, derived, characters, now.removals))


def _clear(work: Work) -> None:
    shelves.clear(work)
    moments.clear(work)
    vectors.clear(work)
    state.begin(work)


@cache
def _state_and_rows(keys: int) -> str:
    if not keys:
        return f"SELECT {state.COLUMNS} FROM recall_state"
    rows = f"recall_posting ON term IN ({marks(keys)})"
    return f"SELECT {state.COLUMNS}, term, span, docs FROM recall_state LEFT JOIN {rows}"

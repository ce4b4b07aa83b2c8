"""Does the index say what the log says? Every message is read again and compared, span by span."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pyroaring import BitMap

from clew.recall import moments, shelves, state, vectors
from clew.recall.postings import SPAN
from clew.recall.state import State
from clew.recall.terms import ALL, DERIVED, keys_of
from clew.store.database import Database
from clew.store.values import START, Feed

CHUNK = 500
"""Messages read from the log at once."""
TRIES = 5
"""How often is begun anew when another process indexes meanwhile."""

Keyed = dict[bytes, BitMap]


def findings(database: Database, feed: Feed, veil: Callable[[str], str]) -> list[str]:
    """What is wrong, a sentence each; empty when all is well."""
    found = ["the index kept changing while it was looked at: try again when it has caught up"]
    for _ in range(TRIES):
        now = _state(database)
        seen = list(_findings(database, now, feed, veil))
        if _state(database) == now:  # nobody indexed anything meanwhile
            return seen
    return found


def _findings(database: Database, now: State, feed: Feed, veil: Callable[[str], str]) -> Iterator[str]:
    # The log and the index may share a connection, so they are never read one inside the other.
    logged = _logged(feed, now)
    kept = dict.fromkeys((ALL, DERIVED), BitMap())
    with database.read() as work:
        for key, docs in shelves.find(work, [ALL, DERIVED], now.young):
            kept[key] = kept[key] | docs
        meant = vectors.messages_of(work)
    yield from _compared(logged, kept[ALL], "of the log up to here are not in the index")
    yield from _compared(kept[ALL], logged, "in the index are not in the log")
    yield from _compared(meant, logged, "with a meaning are not in the log")
    yield from _counted("messages", now.messages, len(kept[ALL]))
    yield from _counted("derived messages", now.derived, len(kept[DERIVED]))
    for span in sorted({doc // SPAN for doc in logged | kept[ALL]}):
        yield from _of_span(database, now, span, logged, feed, veil)


def _of_span(
    database: Database, now: State, span: int, logged: BitMap, feed: Feed, veil: Callable[[str], str]
) -> Iterator[str]:
    expected: Keyed = {}
    times: dict[int, float] = {}
    seqs = list(logged & BitMap(range(span * SPAN, (span + 1) * SPAN)))
    for start in range(0, len(seqs), CHUNK):
        for seq, stored in feed.fetch(seqs[start : start + CHUNK]).items():
            times[seq] = stored.at
            for key in keys_of(stored, veil, feed.read_blob)[0]:
                expected.setdefault(key, BitMap()).add(seq)
    kept: Keyed = {}
    with database.read() as work:
        for key, docs in shelves.everything(work, span, now.young):
            kept[key] = kept[key] | docs if key in kept else docs
        kept_times = moments.times_of(work, span * SPAN, (span + 1) * SPAN)
    where = f"messages {span * SPAN:,} to {(span + 1) * SPAN - 1:,}"
    lacking = sum(bool(docs - kept.get(key, BitMap())) for key, docs in expected.items())
    too_many = sum(bool(docs - expected.get(key, BitMap())) for key, docs in kept.items())
    if lacking:
        yield f"{where}: {lacking:,} words or filters lack messages that have them"
    if too_many:
        yield f"{where}: {too_many:,} words or filters name messages that do not have them"
    if times != kept_times:
        yield f"{where}: times are not those of the log"


def _logged(feed: Feed, now: State) -> BitMap:
    """The messages the index claims to have seen."""
    logged, mark = BitMap(), START
    while mark < now.mark and (news := feed.after(mark, CHUNK)):
        logged.update(stored.seq for behind, stored in news if behind <= now.mark)
        mark = news[-1][0]
    return logged


def _compared(these: BitMap, those: BitMap, told: str) -> Iterator[str]:
    if missing := these - those:
        yield f"{len(missing):,} messages {told}, the first is {missing[0]:,}"


def _counted(what: str, told: int, there: int) -> Iterator[str]:
    if told != there:
        yield f"the index counts {told:,} {what} and has {there:,}"


def _state(database: Database) -> State:
    with database.read() as work:
        return state.read(work)

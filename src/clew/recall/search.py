"""Find it again: the messages that have what is asked for, the best first, and how many there are in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.recall.candidates import Plan, plan_of
from clew.recall.excerpt import beginning, excerpt
from clew.recall.filters import Filters, filter_keys, scope_of
from clew.recall.index import Answer, Index, Question
from clew.recall.query import Unit, read_query
from clew.recall.rank import POOL, pool, rarity, scores
from clew.recall.reading import Readings
from clew.recall.sift import NOTHING, Sifted, sift, told
from clew.recall.state import State
from clew.store.trouble import StoreBusy, StoreReadOnly
from clew.store.values import Stored

AT_ONCE = 200
"""Messages a search indexes itself when the index is behind. More would keep the person waiting."""
NOTHING_ASKED = "nothing to look for: the question has no word, number or character, or only what to leave out"


@dataclass(frozen=True, slots=True)
class Hit:
    """One message that was found."""

    seq: int
    conversation: str
    place: int
    at: float
    role: str
    tool: str
    derived: bool
    standing: bool
    score: float
    snippet: str
    """A few words around the best place, as they were written; credentials taken out."""
    marks: tuple[tuple[int, int], ...]
    """Where in the snippet it is, what was looked for."""
    line: int | None
    """The line of the best place in the message, or in its blob, from 1; None where we did not find it again."""
    blob: str
    """The blob it stands in; empty for the message itself."""


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to one search. It always says what was searched: nothing found is not the same as not looked."""

    hits: tuple[Hit, ...]
    total: int
    """How many messages there are in all."""
    exact: bool
    """False: `total` is an estimate, and a note says why."""
    complete: bool
    """False: not everything was searched, and a note says what was left out."""
    searched: int
    """How many messages were searched: those that pass the filters."""
    filters: tuple[str, ...]
    notes: tuple[str, ...]


def search(
    index: Index,
    text: str,
    *,
    limit: int = 10,
    conversation: str | None = None,
    role: str | None = None,
    tool: str | None = None,
    after: float | None = None,
    before: float | None = None,
    derived: bool = False,
) -> Found:
    """The best `limit` messages for a question: any of its words will do, more and rarer ones come first.

    Filters: of a conversation, by a role, a tool's calls and results, written at or after `after` and before `before`;
    `derived` also looks at what clew wrote itself.
    """
    query = read_query(text)
    filters = Filters(conversation, role, tool, after, before, derived)
    plans = [plan_of(unit, derived) for unit in query.units]
    without = [plan_of(unit, derived) for unit in query.without]

    answer, left_out = _ask(index, _question(plans, without, filters))
    scope = scope_of(filters, answer)
    if query.notes or not plans:
        left_out += query.notes or [NOTHING_ASKED]
    hits: tuple[Hit, ...] = ()
    sifted, state = NOTHING, answer.state
    if answer.docs:
        readings = Readings(index)
        sifted = sift(plans, without, answer, scope, readings)
        hits = _hits(sifted, state, readings, limit) if sifted.total else ()
    return Found(
        hits,
        sifted.total,
        not sifted.notes,
        not left_out,
        len(scope) if scope is not None else state.messages if derived else state.messages - state.derived,
        filters.told() + tuple([f"without {told(plan.unit)}" for plan in without]),
        (*left_out, *sifted.notes),
    )


def _question(plans: Sequence[Plan], without: Sequence[Plan], filters: Filters) -> Question:
    keys = dict.fromkeys([key for plan in (*plans, *without) for lookup in plan.lookups for key in lookup])
    prefixes = [key[:-1] for key in keys if key.endswith(b"*")]
    words = [key for key in keys if not key.endswith(b"*")] if prefixes else [*keys]
    return Question(words + filter_keys(filters), prefixes, filters.after, filters.before)


def _ask(index: Index, question: Question) -> tuple[Answer, list[str]]:
    """What the index knows, once it has caught up with the log as far as one search may wait for; what it lacks."""
    answer = index.read(question)
    if not index.feed.behind(answer.state.mark):
        return answer, []
    lacking = []
    try:
        index.catch_up(AT_ONCE)
    except (StoreBusy, StoreReadOnly) as error:
        lacking.append(str(error))
    answer = index.read(question)
    if behind := index.feed.behind(answer.state.mark):
        lacking.append(f"{behind:,} new messages are not indexed yet and were not searched: let the index catch up")
    return answer, lacking


def _hits(sifted: Sifted, state: State, readings: Readings, limit: int) -> tuple[Hit, ...]:
    messages = readings.fetch(pool(sifted.messages, list(sifted.units.values()), max(POOL, limit)))
    weights = {unit: rarity(len(docs), state.messages) for unit, docs in sifted.units.items()}
    scored = scores(messages, sifted.units, weights, readings, usual=state.characters / state.messages or 1.0)
    best = sorted(messages, key=lambda stored: (-scored[stored.seq], -stored.seq))[:limit]
    return tuple([_hit(stored, scored[stored.seq], weights, readings) for stored in best])


def _hit(stored: Stored, score: float, weights: dict[Unit, float], readings: Readings) -> Hit:
    near = readings.near(stored)
    shown = excerpt(near, weights) or excerpt(readings.far(stored, list(weights)), weights) or beginning(near)
    seq, conversation, place, at, role, tool, derived, standing, *_ = stored
    return Hit(seq, conversation, place, at, role, tool, derived, standing, score, *shown)

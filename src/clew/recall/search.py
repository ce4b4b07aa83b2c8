"""Find it again: the messages that have what is asked for, the best first, and how many there are in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pyroaring import BitMap

from clew.recall.candidates import Plan, candidates, plan_of
from clew.recall.echo import echoed, is_cjk
from clew.recall.excerpt import Excerpt, beginning, excerpt, whole
from clew.recall.filters import Filters, filter_keys, scope_of
from clew.recall.forms import forms_of
from clew.recall.fuse import fused
from clew.recall.index import Answer, Index, Question
from clew.recall.meant import Meant, Mode, keep_up, meant_by
from clew.recall.nearness import Near, Nearness
from clew.recall.query import Query, Unit, Word, read_query
from clew.recall.rank import POOL, WEIGHED, Wanted, pool, rarity, scores
from clew.recall.reading import Readings
from clew.recall.sift import NOTHING, Sifted, sift, told
from clew.recall.terms import ALL, DERIVED
from clew.store.trouble import StoreBusy, StoreReadOnly
from clew.store.values import Stored

AT_ONCE = 200
"""Messages a search indexes itself when the index is behind. More would keep the person waiting."""
FLOOR = 0.2
"""Likeness below which a message without any of the words is not found: some message is always the nearest one."""
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
    """False: `total` is an estimate, and a note says why; or some hits have no word of it, only its meaning."""
    complete: bool
    """False: not everything was searched, and a note says what was left out."""
    searched: int
    """How many messages were searched: those that pass the filters."""
    filters: tuple[str, ...]
    notes: tuple[str, ...]
    mode: Mode
    """How it was looked for in truth: by words, by meaning, or by both."""


def search(
    index: Index,
    text: str,
    *,
    mode: Mode | None = None,
    nearness: Nearness | None = None,
    limit: int = 10,
    conversation: str | None = None,
    role: str | None = None,
    tool: str | None = None,
    after: float | None = None,
    before: float | None = None,
    derived: bool = False,
) -> Found:
    """The best `limit` messages for a question: any of its words will do, more and rarer ones come first.

    With `nearness` a question is also asked by its meaning, and its words by their other forms; `mode` says otherwise.
    Filters: of a conversation, by a role, a tool's calls and results, written at or after `after` and before `before`;
    `derived` also looks at what clew wrote itself.
    """
    query = read_query(text)
    filters = Filters(conversation, role, tool, after, before, derived)
    meant, left_out = meant_by(text, query, mode, nearness)
    forms = _forms(query) if meant else {}
    plans = [plan_of(unit, derived, forms.get(unit, ())) for unit in query.units]
    without = [plan_of(unit, derived) for unit in query.without]

    answer, lacking = _ask(index, _question(plans, without, filters, meant))
    left_out += lacking
    if meant:
        left_out += keep_up(meant.nearness)
    scope = scope_of(filters, answer)
    if query.notes or not plans:
        left_out += query.notes or [NOTHING_ASKED]
    hits: tuple[Hit, ...] = ()
    sifted, state = NOTHING, answer.state
    searched = len(scope) if scope is not None else state.messages if derived else state.messages - state.derived
    if answer.docs:
        readings = Readings(index)
        if not (meant and meant.alone):
            sifted = sift(plans, without, answer, scope, readings)
        looked = Looked(sifted, _wanted(query, sifted, forms, searched), readings)
        if meant:
            hits = _by_meaning(looked, meant, _scope(scope, without, answer, derived), limit)
        elif sifted.total:
            hits = _by_words(looked, limit)
    alone = sum(hit.seq not in sifted.messages for hit in hits) if meant else 0
    return Found(
        hits,
        sifted.total + alone,
        not sifted.notes and not alone,
        not left_out,
        searched,
        filters.told() + tuple([f"without {told(plan.unit)}" for plan in without]),
        (*left_out, *sifted.notes),
        "words" if not meant else "meaning" if meant.alone else "hybrid",
    )


class Looked(NamedTuple):
    """What is known before anything is ranked."""

    sifted: Sifted
    wanted: list[Wanted]
    readings: Readings


def _forms(query: Query) -> dict[Unit, tuple[Word, ...]]:
    """The other forms of a question's words; those of a page would be too many, and it has most of them itself."""
    if query.stress:
        return {}
    words = [unit for unit in query.units if isinstance(unit, Word)]
    return {word: tuple(Word(form) for form in forms_of(word.text)) for word in words}


def _question(plans: Sequence[Plan], without: Sequence[Plan], filters: Filters, meant: Meant | None) -> Question:
    keys = dict.fromkeys([key for plan in (*plans, *without) for lookup in plan.lookups for key in lookup])
    prefixes = [key[:-1] for key in keys if key.endswith(b"*")]
    words = [key for key in keys if not key.endswith(b"*")] if prefixes else [*keys]
    chosen = filter_keys(filters) or ([ALL, DERIVED] if meant else [])
    return Question(words + chosen, prefixes, filters.after, filters.before)


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


def _wanted(query: Query, sifted: Sifted, forms: dict[Unit, tuple[Word, ...]], searched: int) -> list[Wanted]:
    """What is looked for with its weight; of a page the rarest words that there are."""
    stress = dict(zip(query.units, query.stress, strict=True)) if query.stress else {}
    spelled = dict(zip(query.units, query.spelled, strict=True)) if query.spelled else {}
    found = list(sifted.units.items())
    if len(found) > WEIGHED:
        found = sorted(found, key=lambda unit: len(unit[1]) or searched)[:WEIGHED]
    return [
        Wanted(
            docs,
            rarity(len(docs), searched) * stress.get(unit, 1.0),
            (unit, *forms.get(unit, ())),
            spelled.get(unit, ""),
        )
        for unit, docs in found
    ]


def _by_words(looked: Looked, limit: int) -> tuple[Hit, ...]:
    messages, scored = _said(looked, pool(looked.sifted.messages, looked.wanted, max(POOL, limit)))
    best = sorted(messages, key=lambda stored: (-scored[stored.seq], -stored.seq))[:limit]
    return tuple([_hit(stored, scored[stored.seq], _excerpt(stored, looked)) for stored in best])


def _by_meaning(looked: Looked, meant: Meant, scope: BitMap, limit: int) -> tuple[Hit, ...]:
    """By both where the question has words to go by; what has none of them must be alike enough."""
    most, found = max(POOL, limit), looked.sifted.messages
    near = meant.nearness.nearest(meant.question, scope, most)
    near = {seq: one for seq, one in near.items() if one.likeness >= FLOOR or seq in found}
    said = BitMap(pool(found, looked.wanted, most))
    near |= meant.nearness.likeness(meant.question, said - BitMap(near))
    messages, scored = _said(looked, list(said | BitMap(near)))
    order = {seq: one.likeness for seq, one in near.items()} if meant.alone else fused(scored, near)
    best = sorted(messages, key=lambda stored: (-order[stored.seq], -stored.seq))[:limit]
    return tuple([_hit(stored, order[stored.seq], _passage(stored, looked, meant, near)) for stored in best])


def _said(looked: Looked, seqs: Sequence[int]) -> tuple[list[Stored], dict[int, float]]:
    messages = looked.readings.fetch(seqs)
    scored = scores(messages, looked.wanted, looked.readings)
    return messages, echoed(messages, scored, looked.readings) if is_cjk(looked.wanted) else scored


def _scope(scope: BitMap | None, without: Sequence[Plan], answer: Answer, derived: bool) -> BitMap:
    """The messages that may be found by meaning. What may have a phrase to be left out is left out."""
    if scope is None:
        scope = answer.docs.get(ALL, BitMap()) - (BitMap() if derived else answer.docs.get(DERIVED, BitMap()))
    for plan in without:
        scope = scope - candidates(plan, answer)
    return scope


def _passage(stored: Stored, looked: Looked, meant: Meant, near: dict[int, Near]) -> Excerpt:
    if stored.seq in looked.sifted.messages:
        return _excerpt(stored, looked)
    return whole(meant.nearness.passage(stored, near[stored.seq].passage))


def _excerpt(stored: Stored, looked: Looked) -> Excerpt:
    readings = looked.readings
    weights = {form: unit.weight for unit in looked.wanted for form in unit.forms}
    near = readings.near(stored)
    return excerpt(near, weights) or excerpt(readings.far(stored, list(weights)), weights) or beginning(near)


def _hit(stored: Stored, score: float, shown: Excerpt) -> Hit:
    seq, conversation, place, at, role, tool, derived, standing, *_ = stored
    return Hit(seq, conversation, place, at, role, tool, derived, standing, score, *shown)

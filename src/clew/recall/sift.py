"""Which messages have what is looked for, and how many are they? Phrases are read, as many as a search may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyroaring import BitMap

from clew.recall.candidates import Plan, candidates
from clew.recall.index import Answer
from clew.recall.postings import union
from clew.recall.query import Phrase, Prefix, Unit
from clew.recall.reading import PATIENCE, Readings

CHECKED = 200
"""Messages that are read to see whether they have a phrase."""


class Sifted(NamedTuple):
    """What was found."""

    units: dict[Unit, BitMap]
    """What is looked for → the messages that have it."""
    messages: BitMap
    total: int
    notes: list[str]
    """Why the total is an estimate; empty where it is exact."""


NOTHING = Sifted({}, BitMap(), 0, [])


def sift(
    plans: Sequence[Plan], without: Sequence[Plan], answer: Answer, scope: BitMap | None, readings: Readings
) -> Sifted:
    """The messages that have any of the units and none of those to leave out."""
    notes = [_cut_short(key) for key in answer.cut]
    units: dict[Unit, BitMap] = {}
    unread: list[tuple[BitMap, float]] = []
    for plan in plans:
        docs = candidates(plan, answer)
        if scope is not None:
            docs = docs & scope
        if isinstance(plan.unit, Phrase) and docs:
            docs, rest, share = _check(plan.unit, docs, readings, notes)
            unread.append((rest, share))
        units[plan.unit] = docs
    found = union(list(units.values()))
    more = sum(share * len(rest - found) for rest, share in unread)
    for plan in without:
        docs = candidates(plan, answer) & found
        if isinstance(plan.unit, Phrase) and docs:
            docs, rest, share = _check(plan.unit, docs, readings, notes)
            docs = docs | rest  # what could not be read is not shown, but counted
            more += (1 - share) * len(rest)
        found = found - docs
        units = {unit: having - docs for unit, having in units.items()}
    return Sifted(units, found, len(found) + round(more), notes)


def _check(phrase: Phrase, docs: BitMap, readings: Readings, notes: list[str]) -> tuple[BitMap, BitMap, float]:
    """The messages that have the phrase, those too many to be read, and the share of these that may have it."""
    newest = docs[-CHECKED:]
    having = BitMap([stored.seq for stored in readings.fetch(list(newest)) if readings.has(stored, phrase)])
    rest = docs - newest
    if rest:
        notes.append(
            f"{len(docs):,} messages may have {told(phrase)}; the newest {len(newest):,} were read, "
            "and the total is estimated from them"
        )
    if readings.characters >= PATIENCE:
        notes.append(f"not all large messages were read to their end in search of {told(phrase)}")
    return having, rest, len(having) / len(newest)


def told(unit: Unit) -> str:
    """A unit as a person would write it."""
    match unit:
        case Phrase(pieces):
            return '"' + "".join(piece.text if piece.joined else f" {piece.text}" for piece in pieces).strip() + '"'
        case Prefix(text):
            return f"{text}*"
        case _:
            return unit.text


def _cut_short(prefix: bytes) -> str:
    return f"very many words begin with {prefix.lstrip(bytes([1])).decode()}; only the first of them were looked for"

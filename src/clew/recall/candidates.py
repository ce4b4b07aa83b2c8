"""Which messages may have what is looked for? From bitmaps alone; a phrase has to be checked on the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyroaring import BitMap

from clew.recall.index import Answer
from clew.recall.postings import union
from clew.recall.query import Phrase, Prefix, Unit, Word
from clew.recall.terms import pair_keys, word_keys
from clew.recall.words import Piece, pair_of

PIECES = 16
"""Pieces of a phrase that are looked up. What has these in a row is rare enough to be checked word by word."""
TELLING_PAIRS = 3
"""Pairs that leave so little that of the words only the longest is looked up: those of a path are in half of all texts.
"""

Lookup = tuple[bytes, ...]
"""Keys any of which will do; one that ends in `*` stands for all that begin like it."""


class Plan(NamedTuple):
    """How a unit is looked up: a message must stand under one key of every lookup."""

    unit: Unit
    lookups: tuple[Lookup, ...]


def plan_of(unit: Unit, derived: bool, forms: Sequence[Word] = ()) -> Plan:
    """`forms` are other words that will do as well."""
    match unit:
        case Word(text):
            others = [key for form in forms for key in word_keys(form.text, derived)]
            return Plan(unit, ((*word_keys(text, derived), *others),))
        case Prefix(text):
            return Plan(unit, (_prefix(text, derived),))
        case Phrase(pieces, is_open):
            return Plan(unit, tuple(_of_phrase(pieces[:PIECES], is_open and len(pieces) <= PIECES, derived)))


def candidates(plan: Plan, answer: Answer) -> BitMap:
    """The messages that have a word or prefix; those that may have a phrase."""
    docs = answer.docs
    sets = [union([docs[key] for key in keys if key in docs]) for keys in plan.lookups]
    if len(sets) == 1:
        return sets[0]
    sets.sort(key=len)
    return sets[0].intersection(*sets[1:]) if sets[0] else sets[0]


def _of_phrase(pieces: Sequence[Piece], is_open: bool, derived: bool) -> Iterator[Lookup]:
    last = len(pieces) - 1
    pairs = [place for place in range(1, len(pieces)) if not (pieces[place].is_cjk and pieces[place - 1].is_cjk)]
    longest = max(range(len(pieces)), key=lambda place: len(pieces[place].text))
    for place, piece in enumerate(pieces):
        if piece.joined:
            yield word_keys(pieces[place - 1].text + piece.text, derived)
        elif is_open and place == last:
            yield _prefix(piece.text, derived)
        elif (len(pairs) < TELLING_PAIRS or place == longest) and not (place < last and pieces[place + 1].joined):
            yield word_keys(piece.text, derived)
    for place in pairs:
        if not (is_open and place == last):
            yield pair_keys(pair_of(pieces[place - 1].text, pieces[place].text))


def _prefix(text: str, derived: bool) -> Lookup:
    return tuple(key + b"*" for key in word_keys(text, derived))

"""Which of the messages found come first? Those with more and rarer words, more often, in less text; then newer."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyroaring import BitMap

from clew.recall.matching import spots
from clew.recall.query import MOST_UNITS, Unit
from clew.recall.reading import Readings
from clew.store.values import Stored

POOL = 100
"""Messages that are read to be compared. What a search costs must not grow with what it finds."""
WIDE = 1_000
"""Messages, the most promising ones by number of words, of which the pool is chosen by their rarity."""
TALLIED = 8
"""Units, the rarest ones, counted to find the messages that have most of them."""
WEIGHED = 64
"""Units, the rarest ones, that are weighed; the common words of a page tell nothing more."""
OFTEN, LENGTH = 1.2, 0.4
"""How soon another mention counts for little, and how much a long text counts against it, as BM25 has them. Length
counts half as much as usual: a short "ok, the parser" is no better an answer than the message it agrees with."""
VERBATIM = 2.5
"""What it adds to have a unit to the letter: `./cmd` before `cmd`. More than any number of mentions can."""
NEIGHBOUR = 0.3
"""What the better of its two neighbours adds to a message: the answer often stands beside the words of the question."""
NEWNESS = 0.1
"""What being the newest is worth, in shares of a rare word."""
WEEK = 7 * 86_400.0


class Wanted(NamedTuple):
    """One unit of the question."""

    docs: BitMap
    """The messages that have it."""
    weight: float
    forms: tuple[Unit, ...]
    """The unit itself, and others that will do as well."""
    spelled: str = ""
    """How it was written, with capitals and signs; empty where there are none."""


def rarity(found: int, of: int) -> float:
    """What having a unit is worth: much where few have it."""
    return math.log(1 + of / max(1, found))


def pool(found: BitMap, wanted: Sequence[Wanted], most: int) -> list[int]:
    """The messages to compare: all, or those with most of the rare words, of equals the newest."""
    if len(found) <= most:
        return list(found)
    if len(wanted) == 1:
        return list(found[-most:])
    wide = BitMap(_promising(found, [unit.docs for unit in wanted], max(WIDE, most)))
    worth: dict[int, float] = defaultdict(float)
    for unit in wanted:
        for doc in unit.docs & wide:
            worth[doc] += unit.weight
    return sorted(worth, key=lambda doc: (-worth[doc], -doc))[:most]


def scores(messages: Sequence[Stored], wanted: Sequence[Wanted], readings: Readings) -> dict[int, float]:
    """Message → how well it answers. What stands beside it counts for a question, not for one word or a page."""
    if len(messages) == 1:  # nothing to compare it with
        seq = messages[0].seq
        return {seq: sum(unit.weight for unit in wanted if seq in unit.docs)}
    newest = max((stored.at for stored in messages), default=0.0)
    lengths = [sum(len(stretch.text) for stretch in readings.near(stored)) for stored in messages]
    usual = sum(lengths) / len(lengths) if any(lengths) else 1.0
    own = {
        stored.seq: _of_words(stored, wanted, readings, 1 - LENGTH + LENGTH * length / usual)
        for stored, length in zip(messages, lengths, strict=True)
    }
    beside = _beside(messages, own) if 1 < len(wanted) <= MOST_UNITS else {}
    return {
        stored.seq: own[stored.seq]
        + NEIGHBOUR * beside.get(stored.seq, 0.0)
        + NEWNESS / (1 + (newest - stored.at) / WEEK)
        for stored in messages
    }


def _of_words(stored: Stored, wanted: Sequence[Wanted], readings: Readings, length: float) -> float:
    texts = readings.near(stored)
    score = 0.0
    for unit in wanted:
        if stored.seq in unit.docs:
            often = max(1, sum(len(spots(form, text.folded)) for text in texts for form in unit.forms))
            score += unit.weight * often * (OFTEN + 1) / (often + OFTEN * length)
            if unit.spelled and any(unit.spelled in text.text for text in texts):
                score += VERBATIM * unit.weight
    return score


def _beside(messages: Sequence[Stored], own: Mapping[int, float]) -> dict[int, float]:
    """Message → what the better of its neighbours is worth, as far as those are compared, too."""
    places: dict[tuple[str, int], float] = {}
    for stored in messages:
        place = (stored.conversation, stored.place)
        places[place] = max(own[stored.seq], places.get(place, 0.0))
    return {
        stored.seq: max(places.get((stored.conversation, stored.place + step), 0.0) for step in (-1, 1))
        for stored in messages
    }


def _promising(found: BitMap, units: Sequence[BitMap], most: int) -> list[int]:
    """All, or the newest of those with most units and of those with the rarest."""
    if len(found) <= most:
        return list(found)
    rarest = sorted((unit for unit in units if unit), key=len)[:TALLIED]
    chosen: dict[int, None] = {}
    for having in _with_most(rarest):
        chosen.update(dict.fromkeys(having[-(most // 2) :]))
        if len(chosen) >= most // 2:
            break
    for unit in rarest:
        chosen.update(dict.fromkeys(unit[-(most // 4) :]))
    chosen.update(dict.fromkeys(found[-most:]))
    return list(chosen)[:most]


def _with_most(units: Sequence[BitMap]) -> list[BitMap]:
    """The messages with all of the units, with all but one, and so on, each in one set only."""
    at_least = [BitMap() for _ in range(len(units) + 1)]
    for number, unit in enumerate(units):
        for count in range(number + 1, 1, -1):
            at_least[count] |= at_least[count - 1] & unit
        at_least[1] |= unit
    return [
        at_least[count] - (at_least[count + 1] if count < len(units) else BitMap())
        for count in range(len(units), 0, -1)
        if at_least[count]
    ]

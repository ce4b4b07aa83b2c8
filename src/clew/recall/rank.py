"""Which of the messages found come first? Those with more and rarer words, more often, in less text; then newer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pyroaring import BitMap

from clew.recall.matching import spots
from clew.recall.query import Unit
from clew.recall.reading import Readings
from clew.store.values import Stored

POOL = 100
"""Messages that are read to be compared. What a search costs must not grow with what it finds."""
TALLIED = 8
"""Units, the rarest ones, counted to find the messages that have most of them."""
OFTEN, LENGTH = 1.2, 0.4
"""How soon another mention counts for little, and how much a long text counts against it, as BM25 has them. Length
counts half as much as usual: a short "ok, the parser" is no better an answer than the message it agrees with."""
NEWNESS = 0.1
"""What being the newest is worth, in shares of a rare word."""
WEEK = 7 * 86_400.0


def rarity(found: int, of: int) -> float:
    """What having a unit is worth: much where few have it."""
    return math.log(1 + of / max(1, found))


def pool(found: BitMap, units: Sequence[BitMap], most: int) -> list[int]:
    """The messages to compare: all, or the newest of those with most units and of those with the rarest."""
    if len(found) <= most:
        return list(found)
    if len(units) == 1:
        return list(found[-most:])
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


def scores(
    messages: Sequence[Stored],
    units: Mapping[Unit, BitMap],
    weights: Mapping[Unit, float],
    readings: Readings,
    usual: float,
) -> dict[int, float]:
    """Message → how well it answers. `usual` is the length of most texts."""
    if len(messages) == 1:  # nothing to compare it with
        seq = messages[0].seq
        return {seq: sum(weights[unit] for unit, docs in units.items() if seq in docs)}
    newest = max((stored.at for stored in messages), default=0.0)
    scored = {}
    for stored in messages:
        texts = [stretch.folded for stretch in readings.near(stored)]
        length = 1 - LENGTH + LENGTH * sum(map(len, texts)) / usual
        score = NEWNESS / (1 + (newest - stored.at) / WEEK)
        for unit, docs in units.items():
            if stored.seq in docs:
                often = max(1, sum(len(spots(unit, text)) for text in texts))
                score += weights[unit] * often * (OFTEN + 1) / (often + OFTEN * length)
        scored[stored.seq] = score
    return scored


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

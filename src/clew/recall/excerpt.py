"""What does a hit look like? A few words around the best place, as they were written, and where in them it is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from typing import NamedTuple

from clew.recall.matching import Spot, loose_spots, spots
from clew.recall.query import Unit
from clew.recall.reading import Stretch
from clew.recall.texts import Section
from clew.recall.words import fold

BEFORE, WIDTH = 60, 200
"""Characters shown before the best place, and in all."""
SPOTS = 64
"""Places that are weighed against each other, shared among all that is looked for."""

_CLUSTER = re.compile(r".[\u0300-\u036f\u1160-\u11ff\u3099\u309a\uff9e\uff9f]*", re.DOTALL)


class Excerpt(NamedTuple):
    text: str
    marks: tuple[Spot, ...]
    line: int | None
    """The line of the best place, from 1; None where no place was found."""
    blob: str


def excerpt(stretches: Iterable[Stretch], weights: Mapping[Unit, float]) -> Excerpt | None:
    """The best place in the first stretch that has any."""
    most = max(1, SPOTS // len(weights))
    for stretch in stretches:
        for look in (spots, loose_spots):
            found = [(spot, unit) for unit in weights for spot in look(unit, stretch.folded, most)]
            if found:
                return _around(stretch, _best(found, weights), [spot for spot, _ in found])
    return None


def beginning(stretches: list[Stretch]) -> Excerpt:
    """For a message whose words stand only where we did not look."""
    return Excerpt(stretches[0].text[:WIDTH] if stretches else "", (), None, "")


def whole(section: Section) -> Excerpt:
    """For a message that has no word of the question: how the passage begins that means it."""
    return Excerpt(section.text[:WIDTH], (), None, section.blob)


def _best(found: list[tuple[Spot, Unit]], weights: Mapping[Unit, float]) -> Spot:
    """The place with the most, and the rarest, of what is looked for close behind it."""
    if len(found) == 1:
        return found[0][0]

    def worth(spot: Spot) -> float:
        end = spot[0] + WIDTH - BEFORE
        return sum(weights[unit] for unit in {unit for place, unit in found if spot[0] <= place[0] and place[1] <= end})

    return max((spot for spot, _ in found), key=lambda spot: (worth(spot), -spot[0]))


def _around(stretch: Stretch, best: Spot, found: list[Spot]) -> Excerpt:
    text = stretch.text
    if not text.isascii():
        original = _unfolding(text, stretch.folded, best)
        best = original(best)
        found = [original(spot) for spot in found]
    start = max(0, best[0] - BEFORE)
    if start:
        space = text.find(" ", start, best[0])
        start = space + 1 if 0 <= space < start + 20 else start
    end = min(len(text), max(start + WIDTH, best[1]))
    marks = sorted({(a - start, b - start) for a, b in found if start <= a < b <= end})
    return Excerpt(text[start:end], tuple(marks), stretch.line + text.count("\n", 0, best[0]) + 1, stretch.blob)


def _unfolding(text: str, folded: str, sample: Spot) -> Callable[[Spot], Spot]:
    """From places in the folded text to places in the text as it was written."""
    if len(folded) == len(text) and fold(text[slice(*sample)]) == folded[slice(*sample)]:
        return lambda spot: spot  # nothing grew or shrank, as in plain Chinese
    clusters = _CLUSTER.findall(text)
    ends = list(accumulate(len(fold(cluster)) for cluster in clusters))
    starts = [0, *accumulate(map(len, clusters))]

    def original(spot: Spot) -> Spot:
        first, last = bisect_right(ends, spot[0]), bisect_right(ends, spot[1] - 1)
        return starts[min(first, len(clusters))], starts[min(last + 1, len(clusters))]

    return original

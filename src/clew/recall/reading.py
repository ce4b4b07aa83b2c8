"""What do the messages say that one search has to look into? Each is fetched once, and veiled before it is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clew.recall.index import Index
from clew.recall.matching import loose_spots, spots
from clew.recall.query import Unit
from clew.recall.texts import Section, blobs_of, sections_of
from clew.recall.words import fold
from clew.store.values import Stored

LONG = 32_768
"""Characters read at once. A longer text is read stretch by stretch, until something is found."""
MARGIN = 20_000
"""Characters before a stretch that are veiled with it: a private key that begins there must not show its end here."""
TRIM = 1_024
"""Characters dropped where a stretch is cut: half a credential may not look like one."""
PATIENCE = 8_000_000
"""Characters beyond the first stretches that one search reads."""


class Stretch(NamedTuple):
    """Some text of a message, veiled."""

    text: str
    folded: str
    blob: str
    """The blob it is from; empty for the message itself."""
    line: int
    """Lines before it."""


class Readings:
    """The messages of one search."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.characters = 0
        self._known: dict[int, Stored] = {}
        self._own: dict[int, list[Stretch]] = {}

    def fetch(self, seqs: Sequence[int]) -> list[Stored]:
        """Those of the messages that the log still has."""
        known = self._known
        missing = [seq for seq in seqs if seq not in known] if known else seqs
        if missing:
            known.update(self.index.feed.fetch(missing))
        return [known[seq] for seq in seqs if seq in known]

    def near(self, stored: Stored) -> list[Stretch]:
        """The message's own text; of what is long, the beginning."""
        found = self._own.get(stored.seq)
        if found is None:
            found = self._own[stored.seq] = [self._stretch(section, 0) for section in sections_of(stored)]
        return found

    def far(self, stored: Stored, units: Sequence[Unit]) -> Iterator[Stretch]:
        """The rest of it and its blobs: the stretches that seem to have one of the units."""
        for section in self._long_sections(stored):
            start = 0 if section.blob else LONG - TRIM
            while start < len(section.text) and self.characters < PATIENCE:
                self.characters += LONG
                folded = fold(section.text[start : start + LONG])
                if any(spots(unit, folded, 1) or loose_spots(unit, folded) for unit in units):
                    yield self._stretch(section, start)
                start += LONG - TRIM

    def has(self, stored: Stored, unit: Unit) -> bool:
        """Whether a message has it, as far as our patience goes."""
        if any(spots(unit, stretch.folded, 1) for stretch in self.near(stored)):
            return True
        return any(spots(unit, stretch.folded, 1) for stretch in self.far(stored, [unit]))

    def _long_sections(self, stored: Stored) -> Iterable[Section]:
        yield from (section for section in sections_of(stored) if len(section.text) > LONG)
        if stored.blobs:
            yield from blobs_of(stored, self.index.feed.read_blob)

    def _stretch(self, section: Section, start: int) -> Stretch:
        raw, end = section.text, start + LONG
        if start == 0 and end >= len(raw):
            text = self.index.veil(raw)
            return Stretch(text, fold(text), section.blob, 0)
        begin = max(0, start - MARGIN)
        text = self.index.veil(raw[begin : end + TRIM])
        if end + TRIM < len(raw):
            text = text[:-TRIM]
        return Stretch(text, fold(text), section.blob, raw.count("\n", 0, begin))

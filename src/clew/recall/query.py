"""What is looked for? A person's words, "quoted phrases", prefixes*, identifiers, paths, and -what to leave out."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from clew.recall.words import LONGEST, Piece, pieces_of

MOST_UNITS = 32
"""Words of one question that are looked for. A whole page pasted in as a question must not cost a page of lookups."""
EXACT_RUN = 4
"""Chinese, Japanese or Korean characters in a row that are one word. A longer run is a question without spaces."""


class Word(NamedTuple):
    """One term as the index has it: a word, a CJK character or two of them."""

    text: str


class Prefix(NamedTuple):
    """Any word that begins like this."""

    text: str


class Phrase(NamedTuple):
    """Pieces one after the other, whatever stands between them."""

    pieces: tuple[Piece, ...]
    is_open: bool = False
    """Whether the last piece is only the beginning of a word."""


Unit = Word | Prefix | Phrase


class Query(NamedTuple):
    units: tuple[Unit, ...]
    """A message that has any of them is found; one that has more, or rarer ones, comes first."""
    without: tuple[Unit, ...]
    notes: list[str]


_TOKEN = re.compile(r'(?:(?<!\S)(-)(?=[\w"]))?(?:"([^"]*)"?|([^\s"]+))')
_QUOTES = str.maketrans("“”„＂", '""""')

STOP = frozenset(
    "a about all an and any are as at be been but by can could did do does for from had has have he her his how i if "
    "in into is it its me my no not of on or our she should so some than that the their them then there these they "
    "this to us was we were what when where which who why will with would you your "
    "的 了 是 在 我 你 他 她 它 们 吗 呢 吧 啊 和 与 就 都 也 很 这 那 有 个 が の を に は で と も か".split()
)
"""Words that say nothing about what is looked for. They count only where nothing else is left, and inside quotes."""


def read_query(text: str) -> Query:
    """The units of a question."""
    if text.isascii() and text.isalnum() and len(text) <= LONGEST:  # one plain word, as most are
        return Query((Word(text.lower()),), (), [])
    units: list[Unit] = []
    without: list[Unit] = []
    for token in _TOKEN.finditer(text.translate(_QUOTES)):
        minus, quoted, plain = token.groups()
        said = plain if quoted is None else quoted
        if minus:
            without += as_phrase(said)
        elif quoted is not None:
            units += as_phrase(said)
        else:
            units += as_words(said)
    telling = [unit for unit in units if not (isinstance(unit, Word) and unit.text in STOP)] or units
    distinct = tuple(dict.fromkeys(telling))
    notes = []
    if len(distinct) > MOST_UNITS:
        notes.append(
            f"the question is long: of its {len(distinct):,} words only the first {MOST_UNITS} were looked for"
        )
    return Query(distinct[:MOST_UNITS], tuple(dict.fromkeys(without)), notes)


def as_phrase(said: str) -> list[Unit]:
    """Exactly this: one word, a prefix, or several pieces in a row."""
    pieces = pieces_of(said)
    if not pieces:
        return []
    is_open = said.endswith("*") and not pieces[-1].is_cjk
    if len(pieces) == 1:
        return [Prefix(pieces[0].text) if is_open else Word(pieces[0].text)]
    if len(pieces) == 2 and pieces[1].joined:
        return [Word(pieces[0].text + pieces[1].text)]
    return [Phrase(tuple(pieces), is_open)]


def as_words(said: str) -> list[Unit]:
    """The same, but a long run of CJK characters is also looked for in parts, as a sentence with spaces would be."""
    whole = as_phrase(said)
    pieces = pieces_of(said) if whole and isinstance(whole[0], Phrase) else []
    if sum(piece.is_cjk for piece in pieces) <= EXACT_RUN:
        return whole
    parts: list[Unit] = []
    for one, two in pairwise(pieces):
        if two.joined and one.text not in STOP and two.text not in STOP:
            parts.append(Word(one.text + two.text))
    parts += [Word(piece.text) for piece in pieces if not piece.is_cjk]
    return whole + parts

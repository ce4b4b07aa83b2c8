"""What is looked for? A person's words, "quoted phrases", prefixes*, identifiers, paths, and -what to leave out."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from clew.recall.words import LONGEST, Piece, pieces_of

MOST_UNITS = 32
"""Words and phrases of a question that someone typed."""
MOST_PIECES = 64
"""Words up to which it is one, the same ones and those in phrases counted, too. What is longer, or has several lines,
is a page: its quotes, paths and minus signs are not meant for us, and no phrase of it is looked for."""
MOST_WORDS = 200
"""Words of a page that are looked for, those it says most often first."""
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
    stress: tuple[float, ...] = ()
    """How much each unit of a page counts: more where it is said again and again. Empty: all alike."""
    spelled: tuple[str, ...] = ()
    """How each unit was written, where its words alone do not say it: with capitals or signs. Empty: none was."""


_TOKEN = re.compile(r'(?:(?<!\S)(-)(?=[\w"]))?(?:"([^"]*)"?|([^\s"]+))')
_POSSESSIVE = re.compile(r"(?<=\w)['’]s(?!\w)")
_AROUND = " \t,;:!?()[]{}<>*'’`"
"""Signs around a word that are the sentence's, not its own."""
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
        return Query((Word(text.lower()),), (), [], (), () if text.islower() else (text,))
    tokens = list(_TOKEN.finditer(text.translate(_QUOTES)))
    if len(tokens) > 1 and ("\n" in text.strip() or len(pieces_of(text)) > MOST_PIECES):
        return _page(text)
    units: list[Unit] = []
    spelled: dict[Unit, str] = {}
    without: list[Unit] = []
    for token in tokens:
        minus, quoted, plain = token.groups()
        said = plain if quoted is None else quoted
        if minus:
            without += as_phrase(said)
            continue
        found = as_phrase(said) if quoted is not None else as_words(_POSSESSIVE.sub("", said))
        units += found
        spelled |= dict.fromkeys(found[:1], said.strip(_AROUND))
    distinct = tuple(dict.fromkeys(_telling(units)))
    if len(distinct) > MOST_UNITS:
        return _page(text)
    written = [_written(unit, spelled.get(unit, "")) for unit in distinct]
    return Query(distinct, tuple(dict.fromkeys(without)), [], (), tuple(written) if any(written) else ())


def _written(unit: Unit, said: str) -> str:
    return "" if isinstance(unit, Word) and unit.text == said else said


def _page(text: str) -> Query:
    """The words of a long text, the most frequent first."""
    counted = Counter(telling_words(text))
    chosen = counted.most_common(MOST_WORDS)
    left = len(counted) - len(chosen)
    notes = [f"the question is long: of its {len(counted):,} words only {MOST_WORDS} were looked for"] if left else []
    return Query(tuple(unit for unit, _ in chosen), (), notes, tuple(1 + math.log(often) for _, often in chosen))


def telling_words(text: str) -> list[Unit]:
    """The words of a text, and the pairs of its CJK characters, without those that say nothing."""
    pieces = pieces_of(text)
    words: list[Unit] = [Word(piece.text) for piece in pieces if not piece.is_cjk]
    return _telling(words + _pairs(pieces))


def _telling(units: list[Unit]) -> list[Unit]:
    return [unit for unit in units if not (isinstance(unit, Word) and unit.text in STOP)] or units


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
    return [*whole, *_pairs(pieces), *(Word(piece.text) for piece in pieces if not piece.is_cjk)]


def _pairs(pieces: list[Piece]) -> list[Unit]:
    """Each two CJK characters that touch and say something."""
    return [
        Word(one.text + two.text)
        for one, two in pairwise(pieces)
        if two.joined and one.text not in STOP and two.text not in STOP
    ]

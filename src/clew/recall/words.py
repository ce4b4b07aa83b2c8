"""Which words does a text have? One answer, for the text that is indexed and for the text that is asked for."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple
from zlib import crc32

LONGEST = 64
"""Characters of a word that count. What is longer is a key or encoded data: its beginning tells it apart."""

CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of scripts written without spaces between words, as the inside of a character class."""
LETTER = rf"[^\W_{CJK}]"
"""A letter or digit of any other script."""

_ASCII_WORD = re.compile(rb"[a-z0-9]+")
_RUN = re.compile(rf"([{CJK}]+)|{LETTER}+")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_MIXED_WORD = re.compile(r"[A-Za-z0-9]+")
_PART = re.compile(r"[A-Z]+(?![a-z0-9])|[A-Z]?[a-z0-9]+|[A-Z]+")
_LATIN_MARKS = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")
_MARKS = re.compile(r"[\u0300-\u036f]+")


class Words(NamedTuple):
    """What the index keeps of a text."""

    terms: set[bytes]
    pairs: set[int]
    """Hashes of each two neighbours: what tells `src/core` from a text that has both words somewhere."""


class Piece(NamedTuple):
    """One word, or one Chinese, Japanese or Korean character, in its place in a text."""

    text: str
    is_cjk: bool
    joined: bool
    """Whether it continues a run of CJK characters, nothing in between."""


def words_of(text: str) -> Words:
    """The terms of a text, and the hashes of its neighbours. Two CJK characters are a term, and need no hash."""
    pairs: set[int] = set()
    if text.isascii():
        sequence = _ASCII_WORD.findall(text.lower().encode())
        if sequence and len(max(sequence, key=len)) > LONGEST:
            sequence = [word[:LONGEST] for word in sequence]
        terms = set(sequence)
        pairs = set(map(crc32, sequence[1:], map(crc32, sequence)))
    else:
        pieces = pieces_of(text)
        sequence = [piece.text.encode() for piece in pieces]
        terms = set(sequence)
        for place, piece in enumerate(pieces):
            if piece.joined:
                terms.add(sequence[place - 1] + sequence[place])
            elif place and not (piece.is_cjk and pieces[place - 1].is_cjk):
                pairs.add(crc32(sequence[place], crc32(sequence[place - 1])))
    if _CAMEL.search(text):
        terms.update(part.encode() for part in camel_parts(text))
    return Words(terms, pairs)


def pieces_of(text: str) -> list[Piece]:
    """The sequence of a text's words and CJK characters, folded."""
    pieces = []
    for run in _RUN.finditer(fold(text)):
        if run[1]:
            pieces += [Piece(letter, True, place > 0) for place, letter in enumerate(run[1])]
        else:
            pieces.append(Piece(run[0][:LONGEST], False, False))
    return pieces


def pair_of(one: str, two: str) -> int:
    """The hash of two neighbours; the same on every machine, for ever."""
    return crc32(two.encode(), crc32(one.encode()))


def camel_parts(text: str) -> set[str]:
    """`compression` out of `getCompressionTip`. Not out of long encoded data, which would give nothing but noise."""
    return {
        part.lower()
        for word in _MIXED_WORD.findall(text)
        if len(word) <= LONGEST and _CAMEL.search(word)
        for part in _PART.findall(word)
        if len(part) > 1
    }


def fold(text: str) -> str:
    """Case, width and Latin accents taken away: ＣＡＦÉ is cafe."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    # й and が are letters of their own, é is an e: marks leave Latin letters, the rest is put together again.
    return _MARKS.sub("", unicodedata.normalize("NFKC", _LATIN_MARKS.sub("", text)))

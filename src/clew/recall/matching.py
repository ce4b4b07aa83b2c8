"""Where in a text does it stand, what was looked for? Answered on folded text, by the same rules as the index."""

from __future__ import annotations

import re
from functools import lru_cache

from clew.recall.query import Phrase, Prefix, Unit, Word
from clew.recall.words import CJK, LETTER, LONGEST

Spot = tuple[int, int]
"""From where to where, in characters."""

_IS_CJK = re.compile(f"[{CJK}]").match


def spots(unit: Unit, folded: str, most: int = 20) -> list[Spot]:
    """The first places of a unit in a folded text."""
    if isinstance(unit, Phrase):
        pattern = phrase_pattern(unit, folded.isascii())
        found = []
        for match in pattern.finditer(folded):
            found.append(match.span())
            if len(found) == most:
                break
        return found
    return word_spots(unit, folded, most)


def word_spots(unit: Word | Prefix, folded: str, most: int) -> list[Spot]:
    text = unit.text
    bounded = not _IS_CJK(text)
    to_its_end = isinstance(unit, Prefix) or len(text) == LONGEST
    found: list[Spot] = []
    start = folded.find(text)
    while start >= 0 and len(found) < most:
        end = start + len(text)
        if bounded and start and is_letter(folded[start - 1]):
            pass
        elif not bounded:
            found.append((start, end))
        elif to_its_end:
            while end < len(folded) and is_letter(folded[end]):
                end += 1
            found.append((start, end))
        elif end == len(folded) or not is_letter(folded[end]):
            found.append((start, end))
        start = folded.find(text, end)
    return found


def loose_spots(unit: Unit, folded: str, most: int = 20) -> list[Spot]:
    """Where a word stands inside another, as `tip` does in getCompressionTip."""
    if isinstance(unit, Phrase):
        return []
    start = folded.find(unit.text)
    return [(start, start + len(unit.text))][:most] if start >= 0 else []


def is_letter(character: str) -> bool:
    return character.isalnum() and (character.isascii() or not _IS_CJK(character))


@lru_cache(maxsize=64)
def phrase_pattern(phrase: Phrase, is_ascii: bool) -> re.Pattern[str]:
    letter = "[a-z0-9]" if is_ascii else LETTER
    pattern = ""
    before = None
    for place, piece in enumerate(phrase.pieces):
        is_last = place == len(phrase.pieces) - 1
        if before is None:
            pattern = "" if piece.is_cjk else f"(?<!{letter})"
        elif not piece.joined:
            pattern += r"[\W_]*" if piece.is_cjk or before.is_cjk else r"[\W_]+"
        pattern += re.escape(piece.text)
        if not piece.is_cjk:
            if len(piece.text) == LONGEST or (phrase.is_open and is_last):
                pattern += f"{letter}*"
            # Inside, what follows is no letter anyway; and each class of all letters takes milliseconds to compile.
            pattern += f"(?!{letter})" if is_last else ""
        before = piece
    return re.compile(pattern)

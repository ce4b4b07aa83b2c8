"""In which other forms may an English word stand? `paint` for painted and paints; what no text has costs nothing."""

from __future__ import annotations

import re

SHORTEST = 3
"""Letters that a word must keep: of shorter ones every ending makes another word."""

_ENGLISH = re.compile(r"[a-z]{3,20}")
_VOWELS = "aeiou"


def forms_of(word: str) -> tuple[str, ...]:
    """The word's other forms, made by rule; many of them are no words, and nobody has said those."""
    if not _ENGLISH.fullmatch(word):
        return ()
    found = dict.fromkeys(form for base in _bases(word) for form in _inflected(base) if len(form) >= SHORTEST)
    found.pop(word, None)
    return tuple(found)


def _bases(word: str) -> list[str]:
    """What it may be a form of: itself, and what is left without its ending."""
    bases = [word]
    for ending in ("ing", "ed", "es", "s"):
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < SHORTEST or word.endswith("ss"):
            continue
        if ending in ("ed", "es") and stem.endswith("i"):
            return [*bases, stem[:-1] + "y"]
        bases += [stem] if ending == "s" else [stem, stem + "e"]
        if ending in ("ing", "ed") and stem[-1] == stem[-2] and len(stem) > SHORTEST:
            bases.append(stem[:-1])
        break
    return bases


def _inflected(base: str) -> list[str]:
    if base.endswith("e"):
        return [base, base + "s", base + "d", base[:-1] + "ing"]
    if base.endswith("y") and base[-2] not in _VOWELS:
        return [base, base[:-1] + "ies", base[:-1] + "ied", base + "ing"]
    forms = [base, base + "s", base + "es", base + "ed", base + "ing"]
    if base[-1] not in _VOWELS + "wxy" and base[-2] in _VOWELS and base[-3] not in _VOWELS:
        forms += [base + base[-1] + "ed", base + base[-1] + "ing"]
    return forms

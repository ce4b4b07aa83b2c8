"""Where a text says a certain kind of thing: the sentences around given phrases, found in one quick pass."""

from __future__ import annotations

import re
from collections import defaultdict

_LETTERS = {ord("'"), *range(ord("a"), ord("z") + 1), *range(128, 256)}
_LOWERED = [code + 32 if ord("A") <= code <= ord("Z") else code for code in range(256)]
_WORDS_ONLY = bytes(code if code in _LETTERS else ord(" ") for code in _LOWERED)
"""Lower case, and a space for whatever is no letter: a text becomes its words at the speed of copying it."""
_WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


class Phrases:
    """Ways of saying one kind of thing. They count as whole words; in scripts without spaces, wherever they occur."""

    def __init__(self, *phrases: str) -> None:
        self._unspaced = [phrase for phrase in phrases if _WITHOUT_SPACES.search(phrase)]
        self._by_word: dict[bytes, list[str]] = defaultdict(list)
        for phrase in set(phrases).difference(self._unspaced):
            word = max(phrase.split(), key=len)
            for form in {word, word.capitalize(), word.upper()}:  # only ASCII is lowered in the quick pass
                self._by_word[form.encode().translate(_WORDS_ONLY)].append(phrase)
        self._words = frozenset(self._by_word)

    def sentences(self, text: str, *, line_up_to: int = 0) -> list[str]:
        """The sentences with one of the phrases, or the whole line where it is no longer than `line_up_to`."""
        hits = self._mentioned(text)
        if not hits:
            return []
        lowered = text.lower()
        if len(lowered) != len(text):  # a few capitals have no small letter of one character
            lowered = text
        found: dict[int, int] = {}
        for phrase in hits:
            at = lowered.find(phrase)
            while at >= 0:
                if phrase in self._unspaced or _stands_alone(lowered, at, at + len(phrase)):
                    start, end = _surroundings(lowered, at, line_up_to)
                    found[start] = end
                    at = end - 1
                at = lowered.find(phrase, at + 1)
        return [text[start:end].strip() for start, end in sorted(found.items())]

    def _mentioned(self, text: str) -> set[str]:
        words = self._words.intersection(text.encode("utf-8", "replace").translate(_WORDS_ONLY).split())
        hits = {phrase for word in words for phrase in self._by_word[word]}
        if self._unspaced and not text.isascii() and _WITHOUT_SPACES.search(text):
            hits.update(phrase for phrase in self._unspaced if phrase in text)
        return hits


def _sentence_around(text: str, at: int, start: int, end: int) -> tuple[int, int]:
    """Where the sentence around a place begins and ends, within a stretch of text."""
    for mark in (". ", "! ", "? ") if text.isascii() else (". ", "! ", "? ", "。", "！", "？", "；"):
        before = text.rfind(mark, start, at)
        start = before + len(mark) if before >= 0 else start
        behind = text.find(mark, at, end)
        end = behind + 1 if behind >= 0 else end
    return start, end


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not (start and text[start - 1].isalpha()) and not (end < len(text) and text[end].isalpha())


def _surroundings(text: str, at: int, line_up_to: int) -> tuple[int, int]:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return (start, end) if end - start <= line_up_to else _sentence_around(text, at, start, end)

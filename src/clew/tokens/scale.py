"""How heavy is this text, when the same texts are asked about again and again?"""

from collections.abc import Callable, Iterable
from math import ceil

from clew.tokens.estimate import estimate
from clew.tokens.exact import available, count_exact

Count = Callable[[str], int]
Key = str | tuple[int, int]

WHOLE = 64 * 1024
"""Characters up to which a text is counted whole. Beyond that a sample costs the same whatever the length."""

SLICE = 512  # characters in one slice of a sample
CUT = 0.6  # tokens that cutting a slice out adds, by breaking a word at either end; measured

ENTRIES = 100_000
"""Counts remembered before the older generation of them is let go."""

HELD = 4 * 1024 * 1024
"""Characters of text kept as keys of one generation."""

SMALL = 256  # characters up to which a text is its own key


class Scale:
    """Counts each text once and remembers it by its content. Safe to share between threads.

    What is remembered lives in two generations: whatever is used moves to the young one, and when that is full it
    becomes the old one, whose own entries go. So nothing has to be locked or put in order to look up a count.
    """

    def __init__(self, count: Count | None = None, *, entries: int = ENTRIES, held: int = HELD) -> None:
        """`count` replaces the built-in counting: it is asked once for every text, and nothing is sampled."""
        self._count = count
        self._entries = entries
        self._held = held
        self._young: dict[Key, int] = {}
        self._old: dict[Key, int] = {}
        self._holding = 0

    def count(self, text: str) -> int:
        """The tokens of one text: exact up to 64 K characters, sampled beyond (error below 2 % in 19 of 20 texts)."""
        key = _key(text)
        tokens = self._young.get(key)
        if tokens is None:
            tokens = self._old.get(key)
            if tokens is None:
                tokens = self._count(text) if self._count else _measure(text)
            self._remember(key, tokens)
        return tokens

    def count_all(self, texts: Iterable[str]) -> int:
        """The tokens of many texts together: exact up to 64 K characters, from a sample beyond.

        Off by less than 4 % in 19 of 20 cases. What was counted before plays no part: the same texts weigh the same.
        """
        if self._count:
            return sum(self.count(text) for text in texts)
        texts = list(texts)
        if sum(map(len, texts)) <= WHOLE:
            return sum(map(self.count, texts))
        return sample("".join(texts), counter(), slices=64)

    def _remember(self, key: Key, tokens: int) -> None:
        if len(self._young) >= self._entries or self._holding >= self._held:
            self._old, self._young, self._holding = self._young, {}, 0
        self._young[key] = tokens
        self._holding += len(key) if isinstance(key, str) else 0


def default() -> Scale:
    """The one scale shared by everybody who brings none."""
    return _SHARED


def counter() -> Count:
    """The best way to count a short text here: exact when the tokenizer is installed, estimated otherwise."""
    return count_exact if available() else estimate


def sample(text: str, count: Count, *, slices: int) -> int:
    """The tokens of a long text, from evenly spread slices of it."""
    step = (len(text) - SLICE) / (slices - 1)
    starts = [int(i * step) for i in range(slices)]
    tokens = sum(count(text[start : start + SLICE]) for start in starts) - CUT * slices
    return max(1, ceil(tokens / (slices * SLICE) * len(text)))


def _measure(text: str) -> int:
    count = counter()
    # Twice as many slices as for a sum: this count will be remembered and used many times.
    return count(text) if len(text) <= WHOLE else sample(text, count, slices=128)


def _key(text: str) -> Key:
    # Python remembers a string's 64-bit keyed hash inside the string, so asking again about the same one costs nothing,
    # and a long text is not kept alive only to be recognised.
    return text if len(text) <= SMALL else (len(text), hash(text))


_SHARED = Scale()

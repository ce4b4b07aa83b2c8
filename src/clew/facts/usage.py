"""What a call consumed: disjoint buckets of tokens, as the provider reported them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. The buckets never overlap, so their sum is the whole.

    >>> usage = Usage(input=21_000, cache_read=60_000, output=3_000)
    >>> usage.prompt, usage.total
    (81000, 84000)
    """

    input: int = 0
    """Prompt tokens that were neither read from nor written to the provider's cache."""
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    """The part of `output` that was thinking; already counted there."""
    raw: Any = field(default=None, compare=False, repr=False)
    """The provider's own object, kept for whoever doubts the reading."""
    aside: Usage | None = field(default=None, repr=False)
    """What the provider did besides, in passes that the buckets leave out and the bill does not: a compaction of its
    own, an advisor. None: nothing."""
    last_pass: int | None = field(default=None, repr=False)
    """Prompt tokens of the last of several passes. None: there was one."""

    @property
    def prompt(self) -> int:
        """All the tokens of the prompt."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        return self.prompt + self.output

    @property
    def standing(self) -> int:
        """The prompt tokens that stood in the window at the end: what decides when to compact."""
        return self.prompt if self.last_pass is None else self.last_pass

    @property
    def billed(self) -> Usage:
        """All that has to be paid for, what was done besides included."""
        more = self.aside
        return self if more is None else replace(self + more, raw=self.raw)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
        )

    # The same by the longer names that many agents use.
    input_tokens = property(lambda self: self.input)
    output_tokens = property(lambda self: self.output)
    cache_read_tokens = property(lambda self: self.cache_read)
    cache_write_tokens = property(lambda self: self.cache_write)
    reasoning_tokens = property(lambda self: self.reasoning)
    prompt_tokens = property(lambda self: self.prompt)
    total_tokens = property(lambda self: self.total)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call cost, and how old the price is that says so. Where no price is known there is no Cost, not a zero."""

    usd: Decimal
    priced: str
    """The day of the price, as 2026-11-16."""

"""What a call consumed: disjoint buckets of tokens, as the provider reported them."""

from __future__ import annotations

from dataclasses import dataclass, field
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

    @property
    def prompt(self) -> int:
        """All the tokens that stood in the window: what decides when to compact."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        return self.prompt + self.output

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

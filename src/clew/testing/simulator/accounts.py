"""What would the whole conversation have cost?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prices:
    """USD for a million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float


RELATIVE = Prices(input=1.0, output=5.0, cache_read=0.1, cache_write_5m=1.25, cache_write_1h=2.0)
"""Multiples of the input price, as they are for Claude models."""


@dataclass(frozen=True, slots=True)
class Bill:
    """Tokens by what is charged for them; the buckets do not overlap."""

    calls: int = 0
    input: int = 0
    """Prompt tokens neither read from nor written to the cache."""
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    prices: Prices | None = None

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def cost(self) -> float:
        """In tokens of plain input: what all of it costs, in multiples of the price of one."""
        return self._at(RELATIVE if self.prices is None else self.prices) / (self.prices or RELATIVE).input

    @property
    def usd(self) -> float | None:
        """None: no prices were given."""
        return None if self.prices is None else self._at(self.prices) / 1_000_000

    def _at(self, prices: Prices) -> float:
        return (
            self.input * prices.input
            + self.cache_read * prices.cache_read
            + self.cache_write_5m * prices.cache_write_5m
            + self.cache_write_1h * prices.cache_write_1h
            + self.output * prices.output
        )

    def __add__(self, other: Bill) -> Bill:
        return Bill(
            self.calls + other.calls,
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
            self.output + other.output,
            self.prices,
        )

"""What do tokens cost, by what became of them?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from clew.facts.usage import Usage

MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens. None is a price that is not known; only a 0 is free."""

    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    """For the shortest time a provider keeps it: 5 minutes at Anthropic, 30 at OpenAI."""
    cache_write_1h: Decimal | None = None

    def of(self, usage: Usage) -> Decimal | None:
        """What a call cost in dollars; None when a price is missing that it needs."""
        lasting = _written_for_an_hour(usage)
        buckets = (
            (usage.input, self.input),
            (usage.output, self.output),  # reasoning is in it
            (usage.cache_read, self.cache_read),
            (usage.cache_write - lasting, self.cache_write_5m),
            (lasting, self.cache_write_1h),
        )
        total = Decimal(0)
        for tokens, price in buckets:
            if not tokens:
                continue
            if price is None:
                return None
            total += tokens * price / MILLION
        return total

    def times(self, factor: Decimal) -> Prices:
        """Every price that is known, so many times as high."""
        known = {name: getattr(self, name) for name in PRICES}
        return Prices(**{name: price if price is None else price * factor for name, price in known.items()})


PRICES = tuple(field.name for field in fields(Prices))


@dataclass(frozen=True, slots=True)
class Tier:
    """Other prices for a whole call whose prompt is longer than so many tokens."""

    above: int
    prices: Prices


def _written_for_an_hour(usage: Usage) -> int:
    """How much of what was written is kept for an hour: only Anthropic's own report tells the two apart."""
    tokens = _within(_within(usage.raw, "cache_creation"), "ephemeral_1h_input_tokens")
    return max(0, min(tokens, usage.cache_write)) if isinstance(tokens, int) else 0


def _within(raw: Any, name: str) -> Any:
    """A field of a dict or of an object from a provider's library."""
    return raw.get(name) if isinstance(raw, Mapping) else getattr(raw, name, None)

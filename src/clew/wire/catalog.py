"""What is known about a model, by whatever name it is asked for, and what did a call of it cost?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from difflib import get_close_matches
from enum import StrEnum

from clew.facts.model import Window
from clew.facts.usage import Cost, Usage
from clew.wire.names import spelled, take_apart
from clew.wire.prices import PRICES, Prices, Tier


class Caching(StrEnum):
    """How a provider comes to keep the beginning of a prompt."""

    EXPLICIT = "explicit"
    """Where the request says so."""
    AUTOMATIC = "automatic"
    """By itself."""
    BREAKPOINTS = "breakpoints"
    """By itself, and where the request says so."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known about one model at one provider; None is not known."""

    name: str
    provider: str = ""
    window: int | None = None
    """Tokens of prompt and reply together."""
    max_input: int | None = None
    """Where the prompt has a limit of its own, however short the reply."""
    max_output: int | None = None
    prices: Prices = field(default_factory=Prices)
    tiers: tuple[Tier, ...] = ()
    """From the shortest prompts to the longest."""
    caching: Caching | None = None
    cache_minimum: int | None = None
    """A prompt's beginning shorter than this is not kept."""
    open_weights: bool = False
    """Anyone may serve it, at a price of their own."""
    regional: Decimal | None = None
    """So many times the price where Amazon is asked to stay in one part of the world."""
    aliases: tuple[str, ...] = ()
    source: str = ""
    dated: str = ""
    """The day of the source, as 2026-11-16."""
    note: str = ""
    own: tuple[str, ...] = ()
    """The fields that the person set."""
    own_dated: str = ""

    def room(self, reserved_output: int = 0) -> Window | None:
        """The window when so many tokens are kept for the reply."""
        if self.window is None:
            return None
        most = self.window if self.max_input is None else min(self.window, self.max_input + reserved_output)
        return Window(most, reserved_output)

    def prices_for(self, prompt: int) -> Prices:
        """The prices of a call with a prompt this long."""
        return next((tier.prices for tier in reversed(self.tiers) if prompt > tier.above), self.prices)

    @property
    def priced(self) -> str:
        """The day of the prices."""
        return self.own_dated if self.has_own_prices else self.dated

    @property
    def has_own_prices(self) -> bool:
        return not set(PRICES).isdisjoint(self.own)


def cost(usage: Usage, facts: ModelFacts) -> Cost | None:
    """What a call cost; None when a price that it needs is not known.

    >>> sonnet = ModelFacts("sonnet", prices=Prices(Decimal(3), Decimal(15), Decimal("0.3")), dated="2026-11-16")
    >>> cost(Usage(input=1_000, cache_read=200_000, output=2_000), sonnet)
    Cost(usd=Decimal('0.093'), priced='2026-11-16')
    >>> cost(Usage(input=1_000, cache_write=5_000), sonnet) is None
    True
    """
    dollars = facts.prices_for(usage.prompt).of(usage.billed)
    return None if dollars is None else Cost(dollars, facts.priced)


class AmbiguousName(ValueError):
    """Two models claim the same name."""


class Catalog:
    """Models by name."""

    def __init__(self, models: Iterable[ModelFacts]) -> None:
        self.models = tuple(models)
        self._by_name: dict[str, ModelFacts] = {}
        for facts in self.models:
            for name in map(spelled, (facts.name, *facts.aliases)):
                other = self._by_name.setdefault(name, facts)
                if other is not facts:
                    raise AmbiguousName(f"{name} is a name of both {other.name} and {facts.name}")

    def named(self, name: str) -> ModelFacts | None:
        """The model that bears exactly this name or has it as an alias."""
        return self._by_name.get(spelled(name))

    def find(self, model: str, provider: str | None = None) -> ModelFacts | None:
        """The model that is meant: `claude-sonnet-4-5-20250929`, `anthropic/claude-opus-4.5`,
        `us.anthropic.claude-haiku-4-5-20251001-v1:0`. Never one that only begins alike."""
        asked = take_apart(model, provider)
        found = next((facts for name in asked.spellings if (facts := self._by_name.get(name))), None)
        return found and _served(found, asked.host, asked.region)

    def near(self, model: str, count: int = 5) -> list[str]:
        """Names that look like one that was not found."""
        sought = take_apart(model).spellings[-1]
        within = [name for name in self._by_name if len(sought) > 2 and sought in name]
        close = get_close_matches(sought, self._by_name, n=4 * count)
        return list(dict.fromkeys(self._by_name[name].name for name in [*within, *close]))[:count]


def _served(facts: ModelFacts, host: str, region: str) -> ModelFacts:
    """The facts as this host serves them: a list price is the maker's own, not that of others who run its weights."""
    if facts.has_own_prices:
        return facts
    if region == "us-gov" or (facts.open_weights and host not in ("", facts.provider)):
        return replace(facts, prices=Prices(), tiers=(), note=f"what {host} charges for it is not known")
    if facts.regional and region not in ("", "global"):
        dearer = facts.regional
        tiers = tuple(Tier(tier.above, tier.prices.times(dearer)) for tier in facts.tiers)
        return replace(facts, prices=facts.prices.times(dearer), tiers=tiers)
    return facts

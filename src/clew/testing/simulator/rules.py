"""What was the simulator told to be?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clew.testing.simulator.accounts import Prices
from clew.testing.simulator.faults import Fault
from clew.testing.simulator.limits import Limits
from clew.testing.simulator.providers import Provider, provider_named


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for every request."""

    limits: Limits
    provider: str | None
    models: tuple[str, ...]
    key: str | None
    tokens_per_minute: int | None
    strict: bool
    faults: Mapping[int, Fault | Sequence[Fault]]
    prices: Prices | None

    def provider_for(self, dialect: str) -> Provider:
        """The provider that was chosen, or the one whose dialect this is."""
        return provider_named(self.provider or ("anthropic" if dialect == "anthropic" else "openai"))

    def faults_of(self, number: int) -> tuple[Fault, ...]:
        found = self.faults.get(number, ())
        return tuple(found) if isinstance(found, Sequence) else (found,)

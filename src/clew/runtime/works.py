"""What conversations work with, and how one is set up with it: its window, its tools, its engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.core.cache import is_cached, place_cache_points
from clew.core.cache_marks import in_parts
from clew.core.ports import Setup
from clew.facts.exchange import Prompt
from clew.facts.model import Model, Policy, ResultLimits
from clew.runtime.providers import Who
from clew.runtime.recalling import Recall
from clew.runtime.scales import Scale
from clew.runtime.seat import Seat
from clew.runtime.transport import Transport
from clew.runtime.windows import window_of
from clew.store.store import Store
from clew.wire.catalog import Catalog

RESERVED = 8_000
"""Tokens kept for a reply where the model's own cap is not known or larger."""
CACHED_FROM = 1_024
"""Tokens from which a provider caches, where the catalog does not say."""


@dataclass(frozen=True, slots=True)
class Works:
    """What a conversation works with; the same for all of them."""

    store: Store
    transport: Transport
    catalog: Catalog
    policy: Policy = field(default_factory=Policy)
    limits: ResultLimits = field(default_factory=ResultLimits)
    cache_ttl: str | None = "5m"
    """None: no cache points are placed."""
    recall: Recall = field(default_factory=Recall)
    """What has left the window, brought back when it is spoken of."""

    def set_up(
        self,
        who: Who,
        seat: Seat,
        scale: Scale,
        *,
        system: str,
        tools: Sequence[Mapping[str, Any]],
        context_length: int | None,
    ) -> Setup:
        """For talking to `who`; `context_length` is the person's own word for the window."""
        facts = self.catalog.find(who.model, who.endpoint.provider)
        window = window_of(
            who.model,
            who.endpoint.base_url,
            provider=who.endpoint.provider,
            stated=context_length,
            reserved_output=min(RESERVED, facts.max_output) if facts and facts.max_output else RESERVED,
            catalog=self.catalog,
            store=self.store,
        )
        return Setup(
            model=Model(who.model, window),
            engine=seat.engine,
            count=scale.message,
            tools=tuple(tools),
            tools_tokens=sum(scale.text(str(tool)) for tool in tools),
            system_tokens=scale.text(system),
            policy=self.policy,
            limits=self.limits.within(window),
            ahead=seat.works_ahead,
        )

    def marked(self, prompt: Prompt, provider: str, scale: Scale) -> Prompt:
        """The prompt with its cache points, where the provider wants to be told."""
        if self.cache_ttl is None or not is_cached(prompt.model, provider):
            return prompt
        facts = self.catalog.find(prompt.model, provider)
        minimum = facts.cache_minimum if facts and facts.cache_minimum else CACHED_FROM
        return place_cache_points(in_parts(prompt), provider, ttl=self.cache_ttl, minimum=minimum, count=scale.text)

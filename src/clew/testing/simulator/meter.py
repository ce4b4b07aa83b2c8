"""What is a request charged for, and has its key enough left in this minute?"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from clew.facts.exchange import Reply
from clew.facts.usage import Usage
from clew.testing.simulator.accounts import Bill, Prices
from clew.testing.simulator.cache import Billed
from clew.testing.simulator.caches import Cache, new_cache, rules_of
from clew.testing.simulator.clock import Clock
from clew.testing.simulator.hearing import Complaint, Heard
from clew.testing.simulator.limits import Ask, Limits, numbers
from clew.testing.simulator.quota import Quota
from clew.testing.simulator.replying import thought_tokens
from clew.testing.simulator.weighing import Weigher


class Meter:
    """The caches and quotas of all keys, and the bill."""

    def __init__(
        self, weigher: Weigher, clock: Clock, limits: Limits, *, per_minute: int | None, prices: Prices | None
    ) -> None:
        self.bill = Bill(prices=prices)
        self._weigher = weigher
        self._clock = clock
        self._limits = limits
        self._per_minute = per_minute
        self._caches: dict[tuple[str, str], Cache] = {}
        self._quotas: dict[str, Quota] = {}

    def over_quota(self, heard: Heard, ask: Ask) -> Complaint | None:
        """The refusal when this request is more than its key has left in this minute."""
        quota, now, provider = self._quota(heard), self._clock.now(), heard.provider
        asked = _counted(heard, ask)
        if quota is None or quota.wait(asked, now) is None:
            return None
        if not provider.quota_counts_cached:
            # What would be read, without the traces that reading leaves.
            asked -= copy.deepcopy(self._cache(heard)).bill(heard.billed, now).read
        wait = quota.wait(asked, now)
        if wait is None:
            return None
        told = {"quota": quota.tokens, "spent": quota.spent(now), "asked": asked, "wait": wait}
        holes = {**numbers(ask, self._limits), **told}
        if asked > quota.tokens and provider.burst is not None:
            return Complaint(provider.burst, holes)
        return Complaint(provider.quota, holes, wait)

    def charge(self, heard: Heard, ask: Ask, reply: Reply) -> Usage:
        """What this exchange used, put on the bill. Raises BadCacheControl where the provider refuses its markers."""
        billed = self._cache(heard).bill(heard.billed, self._clock.now())
        if quota := self._quota(heard):
            read = 0 if heard.provider.quota_counts_cached else billed.read
            quota.take(_counted(heard, ask) - read, self._clock.now())
        if billed.prompt > self._limits.window:  # a provider that cuts the prompt reads no more than its window
            billed = Billed(fresh=self._limits.window)
        output = self._weigher.message(reply.message)
        self.bill += Bill(1, billed.fresh, billed.read, billed.write_5m, billed.write_1h, output)
        thought = min(output, thought_tokens(reply, self._weigher))
        usage = Usage(billed.fresh, output, billed.read, billed.write_5m + billed.write_1h, thought)
        return replace(usage, raw=_own_usage(heard, usage, billed))

    def headers(self, heard: Heard) -> dict[str, str]:
        """What every answer says about the quota."""
        quota = self._quota(heard)
        if quota is None:
            return {}
        left = max(0, quota.tokens - quota.spent(self._clock.now()))
        if heard.dialect == "anthropic":
            kind = "anthropic-ratelimit-input-tokens"
            return {f"{kind}-limit": str(quota.tokens), f"{kind}-remaining": str(left)}
        return {"x-ratelimit-limit-tokens": str(quota.tokens), "x-ratelimit-remaining-tokens": str(left)}

    def _quota(self, heard: Heard) -> Quota | None:
        if self._per_minute is None:
            return None
        return self._quotas.setdefault(heard.key, Quota(self._per_minute))

    def _cache(self, heard: Heard) -> Cache:
        where = (heard.key, rules_of(heard.prompt, heard.dialect))
        if where not in self._caches:
            self._caches[where] = new_cache(where[1], self._weigher)
        return self._caches[where]


def _counted(heard: Heard, ask: Ask) -> int:
    """The tokens that a quota is asked for."""
    return ask.weight.whole + ((ask.output or 0) if heard.provider.quota_counts_output else 0)


def _own_usage(heard: Heard, usage: Usage, billed: Billed) -> dict[str, Any] | None:
    """The usage object where this provider's has more in it than its dialect tells."""
    if heard.dialect == "anthropic":
        split = {"ephemeral_5m_input_tokens": billed.write_5m, "ephemeral_1h_input_tokens": billed.write_1h}
        return {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation": split,
            "output_tokens": usage.output,
            "service_tier": "standard",
            **({"output_tokens_details": {"thinking_tokens": usage.reasoning}} if usage.reasoning else {}),
        }
    if heard.provider.name == "deepseek":
        return {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.output,
            "total_tokens": usage.total,
            "prompt_cache_hit_tokens": usage.cache_read,
            "prompt_cache_miss_tokens": usage.prompt - usage.cache_read,
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        }
    return None

"""What did the provider's cache do for this conversation, and is it still warm?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from rich.console import Console
from rich.text import Text

from clew.core.cache import is_cached
from clew.facts.usage import Usage
from clew.runtime.conversation import Conversation
from clew.screen.amounts import money
from clew.screen.layout import facts, say
from clew.screen.moments import age, clock
from clew.store.calls import Made, calls_of, last_call
from clew.wire.catalog import Catalog

KEPT = {"5m": 300, "1h": 3_600}
"""Seconds for which a provider keeps what is marked, from each use on."""
BARS = 8
"""Calls that are drawn."""
BAR = 24
"""Columns of the longest of them."""


@dataclass(frozen=True, slots=True)
class Warmth:
    """Whether the next prompt would find its beginning in the cache."""

    used: float
    """When it was last written or read."""
    kept: int | None
    """For so many seconds from then on; None: the provider does not say."""

    def told(self, now: float) -> str:
        if self.kept is None:
            return "automatic"
        left = self.used + self.kept - now
        return f"warm for {lasting(left)}" if left > 0 else "cold"


def warmth(conversation: Conversation) -> Warmth | None:
    """None: nothing is known to be cached."""
    store, who = conversation.works.store, conversation.who
    last = last_call(store, store.conversation(conversation.session.id).id)
    if last is None:
        return None
    at, usage = last
    ttl = conversation.works.cache_ttl
    if ttl and is_cached(who.model, who.endpoint.provider):
        return Warmth(at, KEPT.get(ttl)) if usage.cache_read + usage.cache_write else None
    return Warmth(at, None) if usage.cache_read else None


def show(console: Console, conversation: Conversation) -> None:
    """How much was read from it, what that saved, whether it is warm, and the last calls one by one."""
    store = conversation.works.store
    own = store.conversation(conversation.session.id).id
    made = calls_of(store, own)
    prompt = sum(one.usage.prompt for one in made)
    if not prompt:
        say(console, "nothing was sent yet")
        return
    read = sum(one.usage.cache_read for one in made)
    rows = [("read", f"{read:,} of {prompt:,} prompt tokens ({read / prompt:.0%})")]
    rows += [("saved", _saved(made, conversation.works.catalog)), ("now", _now(conversation))]
    console.print(facts(rows))
    turns = [one for one in made if one.conversation == own and one.purpose == "turn" and one.usage.prompt]
    say(console, "")
    for line in bars([one.usage for one in turns[-BARS:]], [clock(one.at) for one in turns[-BARS:]]):
        say(console, line)
    say(console, Text("█ read from the cache  ▓ written to it  ░ neither", style="dim"))


def bars(calls: Sequence[Usage], names: Sequence[str]) -> list[str]:
    """One line for each call: its prompt as a bar in three parts."""
    most = max((used.prompt for used in calls), default=1)
    wide = max((len(f"{used.prompt:,}") for used in calls), default=1)
    lines = []
    for name, used in zip(names, calls, strict=True):
        read = round(BAR * used.cache_read / most)
        written = round(BAR * (used.cache_read + used.cache_write) / most) - read
        fresh = max(1, round(BAR * used.prompt / most)) - read - written
        lines.append(f"{name}  {used.prompt:>{wide},}  {'█' * read}{'▓' * written}{'░' * fresh}")
    return lines


def saved(made: Sequence[Made], catalog: Catalog) -> tuple[Decimal, int]:
    """Dollars that the cache took off the bill, writing it included, and how many calls have no price to tell."""
    total, unknown = Decimal(0), 0
    for one in made:
        known = catalog.find(one.model, one.provider)
        used = one.usage
        uncached = replace(used, input=used.prompt, cache_read=0, cache_write=0)
        without = known.prices_for(used.prompt).of(uncached) if known else None
        if one.cost is None or without is None:
            unknown += bool(used.prompt)
        else:
            total += without - one.cost
    return total, unknown


def _saved(made: Sequence[Made], catalog: Catalog) -> str:
    total, unknown = saved(made, catalog)
    sent = sum(bool(one.usage.prompt) for one in made)
    if unknown == sent:
        return "unknown: no price is known"
    told = money(total) if total >= 0 else f"−{money(-total)}: writing cost more than reading saved so far"
    return f"{told}; no price for {unknown:,} of {sent:,} calls" if unknown else told


def _now(conversation: Conversation) -> str:
    found = warmth(conversation)
    if found is None:
        return "nothing is known to be kept"
    told = "the provider keeps it by itself" if found.kept is None else found.told(time.time())
    return f"{told} (last used {age(found.used)})"


def lasting(seconds: float) -> str:
    """A short time: `48 s`, `4 min`."""
    return f"{int(seconds)} s" if seconds < 60 else f"{int(seconds // 60)} min"

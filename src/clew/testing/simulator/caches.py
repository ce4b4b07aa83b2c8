"""Which cache rules hold for a request, and how is it read by them?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any, Protocol

from clew.facts.exchange import Prompt
from clew.facts.messages import SYSTEM_ROLES
from clew.testing.simulator.cache import Billed, PromptCache
from clew.testing.simulator.cache_blocks import Block, anthropic_blocks, openai_blocks
from clew.testing.simulator.openai_cache import AutomaticCache, BreakpointCache
from clew.testing.simulator.weighing import Weigher
from clew.wire.anthropic import ANTHROPIC

_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?")
BREAKPOINTS_SINCE = (5, 6)


class Cache(Protocol):
    """The cache of one key."""

    def bill(self, body: Mapping[str, Any], now: float) -> Billed: ...


_CACHES: dict[str, Callable[[Callable[[Mapping[str, Any]], int]], Cache]] = {
    "anthropic": PromptCache,
    "breakpoints": BreakpointCache,
    "automatic": AutomaticCache,
}


def rules_of(prompt: Prompt, dialect: str) -> str:
    """Claude caches by Anthropic's rules in every dialect; for the others it depends on the model."""
    if dialect == "anthropic" or "claude" in prompt.model.lower():
        return "anthropic"
    version = _GPT.search(prompt.model)
    marked = version is not None and (int(version[1]), int(version[2] or 0)) >= BREAKPOINTS_SINCE
    return "breakpoints" if marked else "automatic"


def as_billed(prompt: Prompt, body: Mapping[str, Any], dialect: str) -> Mapping[str, Any]:
    """The body as the cache reads it: what asks for Claude in another dialect, as Anthropic is asked."""
    if dialect == "anthropic" or rules_of(prompt, dialect) != "anthropic":
        return body
    made = ANTHROPIC.encode(prompt)
    leading = takewhile(lambda message: message.get("role") in SYSTEM_ROLES, body.get("messages", ()))
    system = [part for message in leading for part in _parts(message.get("content"))]
    return {**made, "system": system} if system else made  # with its markers, which only the dialect's own body has


def blocks_of(prompt: Prompt, body: Mapping[str, Any], dialect: str) -> list[Block]:
    """What a request is made of; `body` is as billed."""
    return anthropic_blocks(body) if rules_of(prompt, dialect) == "anthropic" else openai_blocks(body)


def new_cache(rules: str, weigher: Weigher) -> Cache:
    """An empty one."""
    return _CACHES[rules](weigher.block)


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())

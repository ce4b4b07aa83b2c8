"""What clew's own engines have in common: a window shared out, a scale, and the moment at which room is due."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from clew.engines.plugin import ContextEngine
from clew.facts.budget import Budget, share_out
from clew.facts.messages import read_messages
from clew.facts.model import Policy, Window
from clew.runtime.scales import Scale

REST = 60.0
"""Seconds for which a summariser that failed is left alone, unless a person asks; rules write summaries meanwhile."""

Summariser: TypeAlias = Callable[[str], str | Awaitable[str]]
Count: TypeAlias = Callable[[str], int]
Messages: TypeAlias = Sequence[Mapping[str, Any]]


class OwnEngine(ContextEngine):
    """An engine that weighs by clew's scale and works within clew's budgets."""

    def __init__(self, context_length: int, policy: Policy, summarise: Summariser | None, count: Count | None) -> None:
        super().__init__()
        self.policy = policy
        self.threshold_percent = policy.threshold
        self.scale = Scale(count)
        self.summarise = summarise
        self._rests_until = 0.0
        self.update_model("", context_length)

    @property
    def budget(self) -> Budget:
        return share_out(self._window, self.policy)

    def update_model(self, model: str, context_length: int, *, max_tokens: int = 0, **kwargs: Any) -> None:
        """Recompute every budget for another window; `max_tokens` is the output cap that is really sent."""
        super().update_model(model, context_length, **kwargs)
        self._window = Window(context_length, max_tokens)
        self.threshold_tokens = self.budget.trigger

    def update_from_response(self, usage: Mapping[str, Any]) -> None:
        """Take the prompt's weight from the report: completion and reasoning never count against the window."""
        self.last_prompt_tokens = usage.get("prompt_tokens") or 0
        self.last_completion_tokens = usage.get("completion_tokens") or 0
        self.last_total_tokens = usage.get("total_tokens") or self.last_prompt_tokens + self.last_completion_tokens

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        weight = self.last_prompt_tokens if prompt_tokens is None else prompt_tokens
        return weight >= self.threshold_tokens

    def should_compress_preflight(self, messages: Messages) -> bool:
        """Whether what is about to be sent is too heavy by our own count: a resumed session, a smaller model."""
        return self.scale.messages(read_messages(messages)) >= self.threshold_tokens

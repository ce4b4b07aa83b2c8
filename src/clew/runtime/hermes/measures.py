"""How heavy is this, and how large is that model's window? In the words of Hermes' model metadata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from clew.runtime.models import catalog
from clew.runtime.plugins.host import Host
from clew.tokens import default, estimate_tokens

UNKNOWN_WINDOW = 128_000
"""Tokens assumed of a model that nobody knows: what most of them have at least."""


class Measures:
    """`agent.model_metadata` of one host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def functions(self) -> dict[str, Callable[..., Any]]:
        return {
            "estimate_tokens_rough": self.text,
            "estimate_messages_tokens_rough": self.messages,
            "estimate_request_tokens_rough": self.request,
            "get_model_context_length": self.window,
        }

    def text(self, text: str | None) -> int:
        return default().count(text) if text else 0

    def messages(self, messages: Sequence[dict[str, Any]]) -> int:
        return estimate_tokens(messages)

    def request(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        system_prompt: str = "",
        tools: Sequence[dict[str, Any]] | None = None,
        **_: Any,
    ) -> int:
        return estimate_tokens(messages, system=system_prompt or None, tools=tools)

    def window(self, model: str = "", *_: Any, config_context_length: int | None = None, **__: Any) -> int:
        told = config_context_length or self._host.config.get("model.context_length")
        facts = None if told or not model else catalog().find(model)
        return int(told or (facts.window if facts else 0) or UNKNOWN_WINDOW)

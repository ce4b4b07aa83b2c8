"""The class that engines for Hermes subclass: clew's own, with the members that Hermes added to it."""

from __future__ import annotations

import re
from typing import Any

from clew.engines import plugin


class ContextEngine(plugin.ContextEngine):
    """`agent.context_engine.ContextEngine`: an engine overrides what it wants, calls the rest through super()."""

    threshold_percent: float = 0.75
    protect_first_n: int = 3
    protect_last_n: int = 6
    emit_automatic_compaction_status: bool = True

    def should_compress_info(self, prompt_tokens: int | None = None) -> tuple[bool, str | None]:
        return self.should_compress(prompt_tokens), None

    def prune_tool_results_only(
        self,
        messages: list[dict[str, Any]],
        current_tokens: int | None = None,  # noqa: ARG002
    ) -> tuple[list[dict[str, Any]], int]:
        return messages, 0

    def select_context(self, request_messages: list[dict[str, Any]], **kwargs: Any) -> list[dict[str, Any]] | None:  # noqa: ARG002
        return None

    def on_turn_complete(
        self, messages: list[dict[str, Any]], usage: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        """After a turn. Nothing by itself."""

    def should_defer_preflight_to_real_usage(self, rough_tokens: int) -> bool:  # noqa: ARG002
        return False

    def get_automatic_compaction_status_message(
        self,
        *,
        phase: str,  # noqa: ARG002
        default_message: str,
        **context: Any,  # noqa: ARG002
    ) -> str | None:
        return default_message if self.emit_automatic_compaction_status else None


def automatic_compaction_status_message(engine: Any, *, phase: str, default_message: str, **context: Any) -> str | None:
    """What the engine wants shown while it compacts; None for nothing."""
    asked = getattr(engine, "get_automatic_compaction_status_message", None)
    if not callable(asked):
        return default_message
    said: str | None = asked(phase=phase, default_message=default_message, **context)
    return said or None


def sanitize_memory_context(text: Any) -> str:
    """Text of a memory provider without the tags that would end the block it is put into."""
    return (
        re.sub(r"</?\s*memory[-_]context\s*>", "", text, flags=re.IGNORECASE).strip() if isinstance(text, str) else ""
    )

"""The class a context engine subclasses."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any


class ContextEngine(ABC):
    """Decides when a conversation is compacted and how. Subclass it, name it in the config, and clew asks it.

    >>> class KeepTheLastTen(ContextEngine):
    ...     @property
    ...     def name(self): return "last-ten"
    ...     def update_from_response(self, usage): self.last_prompt_tokens = usage.get("prompt_tokens", 0)
    ...     def should_compress(self, prompt_tokens=None): return (prompt_tokens or 0) > 1000
    ...     def compress(self, messages, current_tokens=None, focus_topic=None): return messages[-10:]
    >>> KeepTheLastTen().get_status()["compression_count"]
    0
    """

    last_prompt_tokens: int = 0
    last_completion_tokens: int = 0
    last_total_tokens: int = 0
    threshold_tokens: int = 0
    """Prompt tokens at which compaction fires."""
    context_length: int = 0
    """The model's whole window."""
    compression_count: int = 0
    """How often `compress` has made room."""
    threshold_percent: float = 0.50
    works_ahead: bool = False
    """True: `compress` may run beside the conversation, on a copy, while that goes on; what is said meanwhile comes
    behind what it returns."""

    def __init__(self, context_length: int = 0) -> None:
        if context_length:
            self.context_length = context_length
            self.threshold_tokens = int(context_length * self.threshold_percent)

    @property
    @abstractmethod
    def name(self) -> str:
        """The word that selects this engine: `context.engine` in the config."""

    @abstractmethod
    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Take note of what the provider reported after a call."""

    @abstractmethod
    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Whether this turn should compact."""

    @abstractmethod
    def compress(
        self, messages: list[dict[str, Any]], current_tokens: int | None = None, focus_topic: str | None = None
    ) -> list[dict[str, Any]]:
        """A valid OpenAI-format history to go on with; `focus_topic` is what the user wants kept in detail."""

    # What follows has defaults; override what you need.

    def on_session_start(self, session_id: str, **kwargs: Any) -> None:  # noqa: B027
        """A conversation begins, or goes on in a new session after a compaction."""

    def on_session_end(self, session_id: str, messages: list[dict[str, Any]]) -> None:  # noqa: B027
        """A conversation really ends: exit, reset, expiry. Not called at a compaction."""

    def on_session_reset(self) -> None:
        """`/new` or `/reset`: forget what belongs to the session."""
        self.last_prompt_tokens = self.last_completion_tokens = self.last_total_tokens = 0
        self.compression_count = 0

    def update_model(self, model: str, context_length: int, **kwargs: Any) -> None:  # noqa: ARG002
        """The model changed, and with it the window."""
        self.context_length = context_length
        self.threshold_tokens = int(context_length * self.threshold_percent)

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Tools this engine offers the model."""
        return []

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:  # noqa: ARG002
        """Answer a call of one of those tools, as JSON."""
        return json.dumps({"error": f"the engine {self.name} has no tool named {name}"})

    def should_compress_preflight(self, messages: list[dict[str, Any]]) -> bool:  # noqa: ARG002
        """Whether to compact before the call although the threshold is not reached."""
        return False

    def has_content_to_compress(self, messages: list[dict[str, Any]]) -> bool:
        """Whether compacting could change anything."""
        return bool(messages)

    def get_status(self) -> dict[str, Any]:
        """What hosts show."""
        used = max(self.last_prompt_tokens, 0)
        return {
            "last_prompt_tokens": used,
            "threshold_tokens": self.threshold_tokens,
            "context_length": self.context_length,
            "usage_percent": min(100.0, 100 * used / self.context_length) if self.context_length else 0.0,
            "compression_count": self.compression_count,
        }

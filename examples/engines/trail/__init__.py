"""An engine that needs no model: the newest turns word for word, and a trail of requests and files for the rest."""

from __future__ import annotations

import json
from typing import Any

from clew import ContextEngine

from .trail import Trail, read_trail

KEPT = 12
"""Messages that stay as they are."""


class TrailEngine(ContextEngine):
    """Compacts at half the window."""

    threshold_percent = 0.50

    def __init__(self, context_length: int = 0) -> None:
        super().__init__(context_length)
        self.trail = Trail()

    @property
    def name(self) -> str:
        return "trail"

    def update_from_response(self, usage: dict[str, Any]) -> None:
        self.last_prompt_tokens = usage.get("prompt_tokens", 0)
        self.last_completion_tokens = usage.get("completion_tokens", 0)
        self.last_total_tokens = usage.get("total_tokens", 0)

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        weight = self.last_prompt_tokens if prompt_tokens is None else prompt_tokens
        return bool(self.threshold_tokens) and weight >= self.threshold_tokens

    def compress(
        self,
        messages: list[dict[str, Any]],
        current_tokens: int | None = None,  # noqa: ARG002
        focus_topic: str | None = None,
    ) -> list[dict[str, Any]]:
        """The trail in one message, the newest request, and what came last."""
        cut = start_of_tail(messages)
        if cut == 0:
            return list(messages)
        self.trail = read_trail(messages[:cut], self.trail)
        self.compression_count += 1
        note = {"role": "user", "content": self.trail.told(focus_topic)}
        following = [*newest_request(messages, cut), *messages[cut:]]
        read = {"role": "assistant", "content": "I have read the record and go on from there."}
        return [note, *([read] if following[0]["role"] == "user" else []), *following]

    def on_session_reset(self) -> None:
        super().on_session_reset()
        self.trail = Trail()

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        described = "The files that were touched in the part of this conversation that left the window."
        return [{"name": "trail_files", "description": described, "parameters": {"type": "object", "properties": {}}}]

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        if name != "trail_files":
            return super().handle_tool_call(name, args, **kwargs)
        return json.dumps({"files": list(self.trail.files)})


def start_of_tail(messages: list[dict[str, Any]]) -> int:
    """Where the newest messages begin: never at a tool's result, whose call would be missing."""
    cut = max(0, len(messages) - KEPT)
    while cut and messages[cut]["role"] == "tool":
        cut -= 1
    return cut


def newest_request(messages: list[dict[str, Any]], cut: int) -> list[dict[str, Any]]:
    """What the person asked last, when it would have left: it is what all of this is for."""
    asked = [place for place, said in enumerate(messages) if said["role"] == "user"]
    return [messages[asked[-1]]] if asked and asked[-1] < cut else []

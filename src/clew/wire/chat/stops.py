"""Why did the model stop, in the four words that every dialect knows?"""

from __future__ import annotations

from typing import Any

STOPS = {
    # OpenAI's own, and the one that came before tool calls
    "stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter",
    "function_call": "tool_calls",
    # words of those who speak chat besides: Mistral, z.ai, DeepSeek, and what gateways pass on of Gemini and Anthropic
    "max_tokens": "length", "model_length": "length", "model_context_window_exceeded": "length",
    "insufficient_system_resource": "length",
    "tool_use": "tool_calls", "tool_call": "tool_calls",
    "safety": "content_filter", "recitation": "content_filter", "sensitive": "content_filter",
    "refusal": "content_filter",
}  # fmt: skip
"""A reason, in small letters → the nearest of the four. All others mean that it simply stopped, as far as is known."""


def read_stop(reason: Any, *, called: bool) -> str:
    """The reason in one of the four words. A model that called tools and stopped waits for their results: OpenAI says
    "stop" where the call was forced, others say nothing at all."""
    stop = STOPS.get(reason.lower(), "stop") if isinstance(reason, str) else "stop"
    return "tool_calls" if called and stop == "stop" else stop

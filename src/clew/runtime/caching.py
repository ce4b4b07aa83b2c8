"""Cache points for whatever a caller has in hand: a prompt, a request's body, or its messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from clew.core import cache
from clew.facts.exchange import Prompt
from clew.wire.anthropic import ANTHROPIC
from clew.wire.chat import CHAT
from clew.wire.dialect import Dialect


@overload
def place_cache_points(
    prompt: Prompt, provider: str = ..., *, ttl: str = ..., minimum: int = ..., count: Callable[[str], int] | None = ...
) -> Prompt: ...
@overload
def place_cache_points(
    prompt: Mapping[str, Any],
    provider: str = ...,
    *,
    ttl: str = ...,
    minimum: int = ...,
    count: Callable[[str], int] | None = ...,
) -> dict[str, Any]: ...
@overload
def place_cache_points(
    prompt: Sequence[Mapping[str, Any]],
    provider: str = ...,
    *,
    ttl: str = ...,
    minimum: int = ...,
    count: Callable[[str], int] | None = ...,
) -> list[dict[str, Any]]: ...
def place_cache_points(
    prompt: Any,
    provider: str = "anthropic",
    *,
    ttl: str = "5m",
    minimum: int = cache.LEAST,
    count: Callable[[str], int] | None = None,
) -> Any:
    """What was handed in with its cache points, where the provider wants to be told; nothing is changed in place.

    Takes a body for Anthropic Messages or Chat Completions, a list of chat messages, or a `Prompt`, and gives back the
    same kind. One that carries marks already comes back as it is. A prefix lighter than `minimum` tokens gets none.

    >>> body = {"system": "Rules. " * 900, "messages": [{"role": "user", "content": "Hi"}]}
    >>> placed = place_cache_points(body, "anthropic")
    >>> placed["system"][0]["cache_control"], placed["messages"][0]["content"][0]["cache_control"]
    ({'type': 'ephemeral'}, {'type': 'ephemeral'})
    >>> place_cache_points(body, "deepseek") == body  # which caches by itself
    True
    """

    def placed(one: Prompt) -> Prompt:
        return cache.place_cache_points(one, provider, ttl=ttl, minimum=minimum, count=count)

    if isinstance(prompt, Prompt):
        return placed(prompt)
    if isinstance(prompt, Mapping):
        return _in_body(prompt, CHAT if _is_chat(prompt) else ANTHROPIC, placed)
    return _in_body({"messages": [*prompt]}, CHAT, placed)["messages"]


def _in_body(body: Mapping[str, Any], dialect: Dialect, placed: Callable[[Prompt], Prompt]) -> dict[str, Any]:
    before = dialect.decode(body)
    after = placed(before)
    if after is before:
        return dict(body)
    encoded = dialect.encode(after)
    return {key: value for key, value in encoded.items() if key in body or key == "system"}


def _is_chat(body: Mapping[str, Any]) -> bool:
    """Whether a body is chat's: only there the system prompt, calls and results are messages."""
    tools = body.get("tools") or ()
    return any(isinstance(tool, Mapping) and "function" in tool for tool in tools) or any(
        isinstance(said, Mapping) and (said.get("role") in ("system", "developer", "tool") or "tool_calls" in said)
        for said in body.get("messages") or ()
    )

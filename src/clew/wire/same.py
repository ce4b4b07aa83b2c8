"""What makes two messages one, however a client spells back what it was told? For fingerprints alone, never sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clew.facts.messages import TEXT_PARTS

UNSAID = frozenset(
    {
        "anthropic", "chat", "responses",  # how one dialect laid it out
        "cache_control", "prompt_cache_breakpoint",  # marks that clients move to their newest messages
        "reasoning", "reasoning_content", "reasoning_details", "annotations", "citations", "logprobs",
        "index", "status",
    }
)  # fmt: skip
"""Fields that say nothing, or that most clients do not send back: thoughts above all."""
THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
PLACE = "tool_use"
"""The part that only marks where a call stood."""


def same(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as far as it counts for being the same as another.

    Two spellings that providers and their clients use for one thing come to one: a text and a single part of text,
    null and nothing, arguments with or without spaces, a reply with or without its thoughts.

    >>> said = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "refusal": None, "annotations": []}
    >>> same(said) == same({"role": "assistant", "content": "Done."})
    True
    """
    role, content = message.get("role"), message.get("content")
    if len(message) == 2 and type(content) is str and role != "assistant":  # as most are
        return {"role": role, "content": content}
    said = {
        name: value
        for name, value in message.items()
        if name not in UNSAID and name not in ("content", "tool_calls") and not _is_hollow(value)
    }
    if role == "tool":
        said.pop("name", None)  # the call says it too
    spoken = _content(content, ends_open=role == "assistant")
    calls = message.get("tool_calls")
    return {
        **said,
        **({"content": spoken} if spoken else {}),
        **({"tool_calls": [_call(call) for call in calls]} if calls and isinstance(calls, list) else {}),
    }


def _content(content: Any, *, ends_open: bool) -> Any:
    """A text where that is all; else the parts that count. White space at the end of a reply is what clients trim."""
    if not isinstance(content, list):
        return content.rstrip() if ends_open and isinstance(content, str) else content
    parts = [_part(part) for part in content if not _is_aside(part)]
    if not parts or not all(isinstance(part, str) for part in parts[-1:]):
        return parts
    last = parts[-1].rstrip() if ends_open else parts[-1]
    parts = [*parts[:-1], *([last] if last or not ends_open else [])]
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts


def _is_aside(part: Any) -> bool:
    return isinstance(part, Mapping) and (
        part.get("type") in THOUGHTS or (part.get("type") == PLACE and len(part) == 2)
    )


def _part(part: Any) -> Any:
    """The text of a part that is text; any other without what says nothing."""
    if isinstance(part, Mapping) and part.get("type", "text") in TEXT_PARTS and isinstance(part.get("text"), str):
        return part["text"]
    return _bare(part)


def _call(call: Any) -> Any:
    bare = _bare(call)
    function = bare.get("function") if isinstance(bare, dict) else None
    if not isinstance(function, dict):
        return bare
    arguments = function.get("arguments")
    read = _read(arguments) if isinstance(arguments, str) else arguments
    return {**bare, "type": "function", "function": {**function, "arguments": read}}


def _read(arguments: str) -> Any:
    """What arguments say, where they are JSON; a number is one number with and without its .0."""
    try:
        return _plain_numbers(json.loads(arguments)) if arguments.strip() else {}
    except (ValueError, RecursionError):
        return arguments


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _plain_numbers(inner) for name, inner in value.items()}
    return [_plain_numbers(inner) for inner in value] if isinstance(value, list) else value


def _bare(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = ((name, inner) for name, inner in value.items() if name not in UNSAID and not _is_hollow(inner))
        return {name: _bare(inner) for name, inner in kept}
    return [_bare(inner) for inner in value] if isinstance(value, list) else value


def _is_hollow(value: Any) -> bool:
    return value is None or value == [] or value == {}

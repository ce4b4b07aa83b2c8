"""How does a prompt spell that its cache may end here?

Three spellings are in use. Anthropic's blocks carry `cache_control`: texts, tools, calls and results. OpenRouter reads
that marker only inside the parts of a content. OpenAI's is named `prompt_cache_breakpoint` and stands on no reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from clew.facts.exchange import Prompt
from clew.facts.messages import TEXT_PARTS, Message

TOOLS, SYSTEM = -2, -1
"""Places before the messages, which are counted from 0: providers read tools, then the system prompt, then messages."""

THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
PICTURES = frozenset({"image", "image_url", "input_image", "file", "document", "input_file"})
TTLS = ("5m", "1h")
MARKS = ("cache_control", "prompt_cache_breakpoint")
KEPT = ("cache_control", "prompt_cache_options")
"""Fields beside the messages with which a client asks for caching of its own kind."""


class Style(Enum):
    """Where a provider reads markers."""

    BLOCKS = "blocks"
    """On every block of the prompt: Anthropic's own way."""
    PARTS = "parts"
    """Inside text parts and nowhere else. On a tool message itself OpenRouter hangs without a word (seen 2026-03)."""
    BREAKPOINTS = "breakpoints"
    """On the parts of what a model is told, not on what it said: OpenAI from GPT-5.6."""


def marker_of(ttl: str) -> dict[str, str]:
    """Anthropic's marker for how long an entry is to live after its last use."""
    if ttl not in TTLS:
        raise ValueError(f"cache_ttl is {ttl!r}; Anthropic keeps a prompt for '5m' or '1h' after its last use")
    return {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}


def is_marked(prompt: Prompt) -> bool:
    """Whether someone has marked this prompt already."""
    beside = [*prompt.tools, *(part for own in prompt.foreign.values() for part in _spelled_system(own))]
    return (
        any(key in own for own in prompt.foreign.values() for key in KEPT)
        or _any_marked(beside)
        or any(_is_marked_message(message) for message in prompt.messages)
    )


def can_carry(message: Message, style: Style) -> bool:
    """Whether the provider would read a marker somewhere on this message."""
    if message.is_system:  # in mid-conversation it may be moved or merged: no place to rely on
        return False
    if style is Style.BLOCKS and (message.is_result or message.calls):
        return True
    if style is Style.BREAKPOINTS and message.role == "assistant":
        return False
    content = message.raw.get("content")
    return bool(content.strip()) if isinstance(content, str) else _last_part(content, style) is not None


def in_parts(prompt: Prompt) -> Prompt:
    """Every text of a person or the model as a part, where a marker may come and go without changing another byte."""
    return replace(prompt, messages=tuple(_in_parts(message) for message in prompt.messages))


def _in_parts(message: Message) -> Message:
    content = message.raw.get("content")
    if message.role not in ("user", "assistant") or not isinstance(content, str) or not content.strip():
        return message
    return message._replace(raw={**message.raw, "content": [{"type": "text", "text": content}]})


def with_marks(prompt: Prompt, places: Iterable[int], style: Style, marker: Mapping[str, str]) -> Prompt:
    """The prompt with a marker at the end of each place; everything else is as it was, and shared with it."""
    messages = list(prompt.messages)
    for place in places:
        if place == TOOLS:
            prompt = replace(prompt, tools=_marked_tools(prompt.tools, marker))
        elif place == SYSTEM:
            prompt = replace(prompt, foreign=_marked_system(prompt, style, marker))
        else:
            messages[place] = _marked(messages[place], style, marker)
    return replace(prompt, messages=tuple(messages))


def markable_tool(tools: Sequence[Mapping[str, Any]]) -> int | None:
    """The last tool that stands in the prompt from the start: one that is loaded later cannot carry a marker."""
    return next((n for n in reversed(range(len(tools))) if not _comes_later(tools[n])), None)


# --- marking ---


def _marked(message: Message, style: Style, marker: Mapping[str, str]) -> Message:
    if style is Style.BLOCKS and message.is_result:
        return message._replace(raw={**message.raw, "cache_control": dict(marker)})
    if style is Style.BLOCKS and message.calls:
        *others, last = message.calls
        return message.calling([*others, last._replace(raw={**last.raw, "cache_control": dict(marker)})])
    content = message.raw.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    place = _last_part(parts, style)
    assert place is not None, "asked `can_carry` first"
    parts[place] = {**parts[place], **_mark(style, marker)}
    return message._replace(raw={**message.raw, "content": parts})


def _mark(style: Style, marker: Mapping[str, str]) -> dict[str, Any]:
    return (
        {"prompt_cache_breakpoint": {"mode": "explicit"}}
        if style is Style.BREAKPOINTS
        else {"cache_control": dict(marker)}
    )


def _marked_tools(tools: Sequence[Mapping[str, Any]], marker: Mapping[str, str]) -> tuple[Mapping[str, Any], ...]:
    place = markable_tool(tools)
    return tuple({**tool, "cache_control": dict(marker)} if n == place else tool for n, tool in enumerate(tools))


def _marked_system(prompt: Prompt, style: Style, marker: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """The system prompt in the provider's own spelling, marked: as the client spelled it, if it did."""
    dialect = "anthropic" if style is Style.BLOCKS else "chat"
    own = prompt.foreign.get(dialect, {})
    spelled = _spelled_parts(own) or [{"type": "text", "text": prompt.system}]
    spelled[-1] = {**spelled[-1], **_mark(style, marker)}
    if style is not Style.BLOCKS:
        before = own.get("system") or [{"role": "system"}]
        spelled = [*before[:-1], {**before[-1], "content": spelled}]
    return {**prompt.foreign, dialect: {**own, "system": spelled}}


# --- looking ---


def _comes_later(tool: Mapping[str, Any]) -> bool:
    own = tool.get("anthropic")
    return bool(tool.get("defer_loading") or (isinstance(own, Mapping) and own.get("defer_loading")))


def _spelled_system(own: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a client's own spelling of the system prompt is made of: blocks, or messages and their parts."""
    system = own.get("system")
    blocks = [part for part in system if isinstance(part, Mapping)] if isinstance(system, list) else []
    return blocks + [part for block in blocks for part in _parts(block.get("content"))]


def _spelled_parts(own: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parts at the end of that spelling, on the last of which a marker can stand."""
    system = own.get("system")
    if not isinstance(system, list) or not system or not isinstance(system[-1], Mapping):
        return []
    if "role" not in system[-1]:
        return list(system)
    content = system[-1].get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(_parts(content))


def _is_marked_message(message: Message) -> bool:
    raw = message.raw
    return (
        _any_marked((raw,))
        or _any_marked(_parts(raw.get("content")))
        or any(key in call.raw for call in message.calls for key in MARKS)
    )


def _any_marked(values: Iterable[Mapping[str, Any]]) -> bool:
    return any(key in value for value in values for key in MARKS)


def _last_part(content: Any, style: Style) -> int | None:
    """The last part that can carry a marker: no thoughts, no empty text, no mere place of a call."""
    parts = content if isinstance(content, list) else ()
    return next((n for n in reversed(range(len(parts))) if _carries(parts[n], style)), None)


def _carries(part: Any, style: Style) -> bool:
    if not isinstance(part, Mapping):
        return False
    kind = part.get("type")
    if kind in TEXT_PARTS:
        text = part.get("text")
        return isinstance(text, str) and bool(text.strip())
    if style is Style.BLOCKS:
        return kind not in THOUGHTS and kind != "tool_use"
    return style is Style.BREAKPOINTS and kind in PICTURES


def _parts(content: Any) -> list[Mapping[str, Any]]:
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []

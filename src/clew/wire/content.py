"""In what order did a message say and call things? Chat keeps text and calls apart; other dialects mix them.

A message's content is a text, or a list of parts. Parts of a kind that chat has not (thinking, reasoning, documents,
a provider's own blocks) stand in that list in their place, whole. Calls stand in `tool_calls`, behind the content; only
where something was said after a call does a part `{"type": "tool_use", "id": …}` mark the place of each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from clew.facts.messages import Message, ToolCall, read_message

Item: TypeAlias = ToolCall | Mapping[str, Any]
"""A call, or a part of the content."""

PLACE = "tool_use"
"""The type of the part that marks where a call stood."""


def composed(items: Sequence[Item], **fields: Any) -> Message:
    """The assistant's message that said and called these things in this order."""
    calls = [item for item in items if isinstance(item, ToolCall)]
    said_after = any(isinstance(a, ToolCall) and not isinstance(b, ToolCall) for a, b in pairwise(items))
    parts = [
        {"type": PLACE, "id": item.id} if isinstance(item, ToolCall) else dict(item)
        for item in items
        if said_after or not isinstance(item, ToolCall)
    ]
    raw: dict[str, Any] = {"role": "assistant", "content": as_content(parts), **fields}
    if calls:
        raw["tool_calls"] = [dict(call.raw) for call in calls]
    return read_message(raw)


def items_of(message: Message) -> list[Item]:
    """What a message said and called, in order: the inverse of `composed`."""
    content = message.raw.get("content")
    parts: Sequence[Any] = content if isinstance(content, list) else [plain(message.text)] if message.text else ()
    calls = list(message.calls)
    items: list[Item] = []
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == PLACE:
            placed = next((call for call in calls if call.id == part.get("id")), None)
            if placed is not None:  # a call that has since been taken away has no place any more
                calls.remove(placed)
                items.append(placed)
        else:
            items.append(part if isinstance(part, Mapping) else plain(str(part)))
    return [*items, *calls]


def plain(text: str) -> dict[str, Any]:
    """A part that is text and nothing more."""
    return {"type": "text", "text": text}


def as_content(parts: list[dict[str, Any]]) -> Any:
    """These parts as a message's content: a single plain text is its text; nothing is None."""
    if not parts:
        return None
    only = parts[0]
    return only["text"] if len(parts) == 1 and only == plain(only.get("text", "")) and only["text"] else parts

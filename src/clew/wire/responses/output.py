"""How do a reply's items stand in a response's output, where each has an id and a status?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.facts.messages import Message, ToolCall
from clew.wire.content import Item, composed, items_of
from clew.wire.responses.kinds import RESPONSES, is_message, kind_of
from clew.wire.responses.parts import words_in
from clew.wire.responses.said import spell_said

THOUGHTS_BESIDE = ("reasoning_content", "reasoning")
"""Where those who speak chat put a model's thinking: beside the content."""
_PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}


def output_of(message: Message, reply: str) -> list[dict[str, Any]]:
    """The output's items of the reply with this id."""
    return [dressed(item, reply, place) for place, item in enumerate(spell_said(_thinking_aloud(message)))]


def dressed(item: Mapping[str, Any], reply: str, place: int) -> dict[str, Any]:
    """An item in its place of a reply's output. Ids are derived, so that the same reply is always spelled the same."""
    kind = "message" if is_message(item) else kind_of(item)
    own = {"type": kind, "id": item_id(kind, reply, place), "status": "completed"}
    match item:
        case {"role": "assistant", "content": str() | list() as content} if len(item) == 2:
            parts = [{"type": "output_text", "text": content}] if isinstance(content, str) else content
            return {**own, "role": "assistant", "content": [_with_notes(part) for part in parts]}
        case {"type": "function_call" | "custom_tool_call"} if "id" not in item:
            return {**own, **item}
        case {"type": "reasoning"} if "id" not in item:
            return {"id": own["id"], **item}
    return dict(item)


def undressed(item: Mapping[str, Any], reply: str, place: int) -> Mapping[str, Any]:
    """The item without what `dressed` would give it."""
    kind = kind_of(item)
    if item.get("id") != item_id(kind, reply, place):
        return item
    bare = {name: value for name, value in item.items() if name not in ("id", "status")}
    if kind == "message":
        bare = {"role": item.get("role"), "content": _without_notes(item.get("content"))}
    return bare if dressed(bare, reply, place) == item else item


def item_id(kind: str, reply: str, place: int) -> str:
    return f"{_PREFIXES.get(kind, 'item')}_{reply}_{place}"


def thought(text: str) -> dict[str, Any]:
    """What another provider's model thought, as far as it can be told here."""
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def _thinking_aloud(message: Message) -> Message:
    """The message with its thoughts among its items: the client sees them, though no provider takes them back."""
    raw = message.raw
    beside = next((raw[field] for field in THOUGHTS_BESIDE if isinstance(raw.get(field), str) and raw[field]), "")
    said: list[Item] = [thought(beside)] if beside else []
    for each in items_of(message):
        if isinstance(each, ToolCall) or kind_of(each) != "thinking":
            said.append(each)
        elif text := words_in(each.get("thinking")):
            said.append(thought(text))
    if isinstance(refusal := raw.get("refusal"), str) and refusal:
        said.append({"type": "refusal", "refusal": refusal})
    return composed(said, **{name: raw[name] for name in (RESPONSES,) if name in raw})


def _with_notes(part: Any) -> Any:
    return {**part, "annotations": [], "logprobs": []} if kind_of(part) == "output_text" else part


def _without_notes(content: Any) -> Any:
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        return content
    bare = [{name: part[name] for name in part if name not in ("annotations", "logprobs")} for part in content]
    is_text = len(bare) == 1 and set(bare[0]) == {"type", "text"}
    return bare[0]["text"] if is_text else bare

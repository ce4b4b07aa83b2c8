"""What OpenAI's responses endpoint refuses, of its own items and of chat messages turned into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from clew.wire.legal.anthropic import has_chat_marks
from clew.wire.legal.chat import PARTS_ELSEWHERE, chat_call_ids, judge_emptiness, judge_shape, says_something
from clew.wire.legal.values import NOT_JSON, Problems, named, parse, word

_ANSWERED_BY = {
    "function_call": ("function_call_output",),
    "custom_tool_call": ("custom_tool_call_output",),
    "local_shell_call": ("local_shell_call_output", "function_call_output"),
    "shell_call": ("shell_call_output",),
    "apply_patch_call": ("apply_patch_call_output",),
    "computer_call": ("computer_call_output",),
}
_OUTPUTS = {kind for kinds in _ANSWERED_BY.values() for kind in kinds}
_ITEM_PARTS = {
    "user": ("input_text", "input_image", "input_file", "input_audio"),
    "system": ("input_text", "input_image", "input_file", "input_audio"),
    "developer": ("input_text", "input_image", "input_file", "input_audio"),
    "assistant": ("output_text", "refusal"),
}
_Item = tuple[int, Any]
"""The message an item came in, and the item."""


def judge_responses(messages: Sequence[Any]) -> Problems:
    if not messages:
        yield "there is no item"
    typed = any(word(message, "type") for message in messages)  # items have a type, chat messages have none
    if not typed and any(has_chat_marks(message, ("text", "image_url")) for message in messages):
        for place, message in enumerate(messages, start=1):
            wrong = (*judge_shape(message, PARTS_ELSEWHERE), *judge_emptiness(message))
            yield from (f"message {place}: {what}" for what in wrong)
        items = [item for place, message in enumerate(messages, start=1) for item in _items_of(place, message)]
    else:
        items = list(enumerate(messages, start=1))
        for place, item in items:
            yield from (f"message {place}: {what}" for what in _judge_item(item))
    yield from _judge_item_pairs(items)
    yield from _judge_reasoning(items)


def _items_of(place: int, message: Any) -> list[_Item]:
    """A chat message as the items it becomes, as far as pairs are concerned."""
    if word(message, "role") == "tool":
        return [(place, {"type": "function_call_output", "call_id": word(message, "tool_call_id")})]
    items: list[_Item] = []
    if isinstance(message, Mapping) and says_something(message.get("content")):
        items.append((place, {"type": "message", "role": word(message, "role")}))
    return items + [(place, {"type": "function_call", "call_id": call_id}) for call_id in chat_call_ids(message)]


def _judge_item(item: Any) -> Problems:
    if not isinstance(item, Mapping):
        yield f"not an item but {type(item).__name__}"
        return
    kind = item.get("type", "message" if "role" in item else None)
    if not isinstance(kind, str):
        yield f"an item of type {named(kind)}"
        return
    if kind == "message":
        yield from _judge_message_item(item)
    if (kind in _ANSWERED_BY or kind in _OUTPUTS) and not word(item, "call_id"):
        yield f"a {kind} without a call_id"
    if kind in ("function_call", "custom_tool_call") and not word(item, "name"):
        yield f"a {kind} that names no tool"
    if kind == "function_call":
        arguments = item.get("arguments")
        if not isinstance(arguments, str):
            yield f"the arguments of a call are {type(arguments).__name__}, not text"
        elif parse(arguments) is NOT_JSON:
            yield "the arguments of a call are not JSON"
    if kind == "custom_tool_call" and not isinstance(item.get("input"), str):
        yield f"the input of a call is {type(item.get('input')).__name__}, not text"
    if kind in ("function_call_output", "custom_tool_call_output") and not isinstance(item.get("output"), str | list):
        yield f"the output of a call is {type(item.get('output')).__name__}, neither text nor a list"


def _judge_message_item(item: Mapping[str, Any]) -> Problems:
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str) or role not in _ITEM_PARTS:
        yield f"unknown role {named(role)}"
        return
    if isinstance(content, list | tuple):
        for number, part in enumerate(content, start=1):
            if word(part, "type") not in _ITEM_PARTS[role]:
                yield f"part {number} is of type {named(word(part, 'type'))}, which {role} messages cannot have"
        says_something = any(not word(part, "type").endswith("_text") or word(part, "text") for part in content)
    elif isinstance(content, str):
        says_something = bool(content)
    else:
        yield f"content is {type(content).__name__}, neither text nor a list of parts"
        return
    if role == "user" and not says_something:
        yield "the user's content is empty"


def _judge_item_pairs(items: list[_Item]) -> Problems:
    """Each call has one output, somewhere after it; calls with nothing said after them may be in flight."""
    open_calls: dict[str, _Item] = {}
    made: dict[str, str] = {}
    last_said = max((at for at, (_, item) in enumerate(items) if _is_said(item)), default=-1)
    called_at: dict[str, int] = {}
    for at, (place, item) in enumerate(items):
        kind, call_id = word(item, "type"), word(item, "call_id")
        if not call_id:
            continue
        if kind in _ANSWERED_BY:
            if call_id in open_calls:
                yield f"message {place}: two calls have the id {named(call_id)}"
            open_calls[call_id], made[call_id], called_at[call_id] = (place, item), kind, at
        elif kind in _OUTPUTS:
            if call_id not in made:
                yield f"message {place}: output for call {named(call_id)} that no earlier item made"
            elif kind not in _ANSWERED_BY[made[call_id]]:
                yield f"message {place}: a {kind} for call {named(call_id)}, which is a {made[call_id]}"
            elif call_id not in open_calls:
                yield f"message {place}: a second output for call {named(call_id)}"
            open_calls.pop(call_id, None)
    for call_id, (place, _) in open_calls.items():
        if called_at[call_id] < last_said:
            yield f"message {place}: call {named(call_id)} has no output"


def _is_said(item: Any) -> bool:
    return word(item, "type") == "message" or (not word(item, "type") and bool(word(item, "role")))


def _judge_reasoning(items: list[_Item]) -> Problems:
    """What a thought led to must follow: "… of type 'reasoning' was provided without its required following item"."""
    for (place, item), (_, after) in pairwise([*items, (0, None)]):
        if word(item, "type") != "reasoning":
            continue
        kind = word(after, "type")
        led_to = kind == "reasoning" or kind.endswith("_call") or word(after, "role") == "assistant"
        if not led_to:
            yield f"message {place}: reasoning that is not followed by what it led to"

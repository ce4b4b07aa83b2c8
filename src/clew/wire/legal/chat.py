"""What OpenAI's chat endpoint refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clew.wire.legal.values import NOT_JSON, Problems, named, parse, word

SYSTEM = ("system", "developer")
_PARTS = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    # "For tool messages, only type text is supported": images in results are refused.
    "tool": ("text",),
}


PARTS_ELSEWHERE = {**_PARTS, "tool": ("text", "image_url", "file")}
"""Anthropic and Responses take pictures and files in results."""


def judge_openai(messages: Sequence[Any]) -> Problems:
    yield from _judge_beginning(messages)
    for place, message in enumerate(messages, start=1):
        yield from (f"message {place}: {what}" for what in (*judge_shape(message), *judge_emptiness(message)))
    yield from _judge_chat_pairs(messages)


def _judge_beginning(messages: Sequence[Any]) -> Problems:
    roles = [word(message, "role") for message in messages]
    if "user" not in roles:
        yield "there is no user message"
        return
    spoken = [(place, role) for place, role in enumerate(roles, start=1) if role not in SYSTEM]
    place, role = spoken[0]
    if role != "user":
        yield f"message {place}: the first message after the system's is not the user's but {named(role)}"


def judge_shape(message: Any, parts: Mapping[str, Sequence[str]] = _PARTS) -> Problems:
    """The role, and the fields and types that belong to it."""
    if not isinstance(message, Mapping):
        yield f"not a message but {type(message).__name__}"
        return
    role, content = message.get("role"), message.get("content")
    match role:
        case "system" | "developer" | "user":
            yield from _judge_parts(role, content, parts)
        case "assistant":
            if content is not None:
                yield from _judge_parts(role, content, parts)
            yield from _judge_chat_calls(message)
        case "tool":
            yield from _judge_parts(role, content, parts)
            if not word(message, "tool_call_id"):
                yield "a tool result without a tool_call_id"
        case "function":
            if not word(message, "name"):
                yield "a function result without a name"
            if content is not None and not isinstance(content, str):
                yield f"the content of a function result is {type(content).__name__}, not text"
        case _:
            yield f"unknown role {named(role)}"
    if role != "assistant" and message.get("tool_calls"):
        yield f"tool_calls in a message of role {named(role)}"


def _judge_parts(role: str, content: Any, parts: Mapping[str, Sequence[str]]) -> Problems:
    if isinstance(content, str):
        return
    if not isinstance(content, list | tuple):
        yield f"content is {type(content).__name__}, neither text nor a list of parts"
        return
    for number, part in enumerate(content, start=1):
        kind = word(part, "type")
        if kind not in parts[role]:
            yield f"part {number} is of type {named(kind)}, which {role} messages cannot have"
        elif kind == "text" and not isinstance(part.get("text"), str):
            yield f"part {number} is a text part without text"


def judge_emptiness(message: Any) -> Problems:
    role = word(message, "role")
    content = message.get("content") if role else None
    if role == "user" and not says_something(content):
        yield "the user's content is empty"
    elif role == "assistant" and not says_something(content) and not _acts(message):
        yield "the assistant has neither content nor tool calls"
    elif isinstance(content, list | tuple) and not content:
        yield "content is an empty list"


def says_something(content: Any) -> bool:
    if isinstance(content, list | tuple):
        return any(word(part, "type") != "text" or word(part, "text") for part in content)
    return bool(content)


def _acts(message: Mapping[str, Any]) -> bool:
    return any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio"))


def _judge_chat_calls(message: Mapping[str, Any]) -> Problems:
    calls = message.get("tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list | tuple) or not calls:
        yield (
            "tool_calls is an empty list" if calls in ([], ()) else f"tool_calls is {type(calls).__name__}, not a list"
        )
        return
    seen: set[str] = set()
    for number, call in enumerate(calls, start=1):
        call_id = word(call, "id")
        if not call_id:
            yield f"call {number} has no id"
        elif call_id in seen:
            yield f"two calls have the id {named(call_id)}"
        seen.add(call_id)
        yield from _judge_chat_call(number, call)


def _judge_chat_call(number: int, call: Any) -> Problems:
    if not isinstance(call, Mapping):
        yield f"call {number} is not an object"
        return
    kind = call.get("type")
    if kind == "custom":  # free text for input, nothing to parse
        if not word(call.get("custom"), "name"):
            yield f"call {number} names no tool"
        return
    if kind != "function":
        yield f"call {number} is of type {named(kind)}, not function"
    function = call.get("function")
    if not word(function, "name"):
        yield f"call {number} names no function"
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    if not isinstance(arguments, str):
        yield f"the arguments of call {number} are {type(arguments).__name__}, not text"
    elif parse(arguments) is NOT_JSON:
        yield f"the arguments of call {number} are not JSON"


def _judge_chat_pairs(messages: Sequence[Any]) -> Problems:
    """Every result stands in the run of results right after its call; every call has one, unless it is in flight."""
    made: set[str] = set()
    waiting: dict[str, bool] = {}  # the calls of the run we are in → answered
    asked_at = 0
    for place, message in enumerate(messages, start=1):
        if word(message, "role") == "tool":
            call_id = word(message, "tool_call_id")
            if not call_id:
                continue  # reported as a message
            if call_id not in made:
                yield f"message {place}: tool result for call {named(call_id)} that no earlier assistant message made"
            elif call_id not in waiting:
                yield f"message {place}: tool result for call {named(call_id)} stands apart from its call"
            elif waiting[call_id]:
                yield f"message {place}: a second tool result for call {named(call_id)}"
            if call_id in waiting:
                waiting[call_id] = True
            continue
        yield from _unanswered(waiting, asked_at, place)
        waiting, asked_at = dict.fromkeys(chat_call_ids(message), False), place
        made |= waiting.keys()


def _unanswered(waiting: Mapping[str, bool], asked_at: int, place: int) -> Problems:
    for call_id, answered in waiting.items():
        if not answered:
            yield f"message {asked_at}: call {named(call_id)} has no result before message {place}"


def chat_call_ids(message: Any) -> list[str]:
    calls = message.get("tool_calls") if word(message, "role") == "assistant" else None
    return [word(call, "id") for call in calls if word(call, "id")] if isinstance(calls, list | tuple) else []

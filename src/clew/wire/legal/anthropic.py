"""What Anthropic's messages endpoint refuses, of its own form and of chat messages turned into it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clew.wire.legal.chat import PARTS_ELSEWHERE, SYSTEM, judge_shape
from clew.wire.legal.values import NOT_JSON, Problems, named, parse, word


@dataclass(frozen=True)
class _Block:
    """What matters of a content block, and the message it came in."""

    place: int
    kind: str
    call_id: str = ""
    text: str = ""


_Turn = tuple[str, list[_Block]]
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")


def judge_anthropic(messages: Sequence[Any]) -> Problems:
    read: list[tuple[int, str, list[_Block]]] = []
    as_chat = any(_is_chat_only(message) for message in messages)
    begun = False
    for place, message in enumerate(messages, start=1):
        if as_chat and word(message, "role") in SYSTEM:
            if begun:
                yield f"message {place}: a system message after the conversation has begun"
            continue
        begun = True
        is_last = place == len(messages)
        found = _from_chat(place, message) if as_chat else _from_native(place, message)
        for what in found.problems:
            yield f"message {place}: {what}"
        if found.role and not found.blocks and not (is_last and found.role == "assistant"):
            # "all messages must have non-empty content except for the optional final assistant message"
            yield f"message {place}: the content is empty"
        if found.role:
            read.append((place, found.role, found.blocks))
    turns = _merged(read)
    if not turns:
        yield "there is no message"
    elif turns[0][0] != "user":
        yield f"message {read[0][0]}: the first message is not the user's but {named(turns[0][0])}"
    yield from _judge_turns(turns)
    yield from _judge_ending(turns)


@dataclass(frozen=True)
class _Found:
    role: str
    blocks: list[_Block]
    problems: list[str]


def _is_chat_only(message: Any) -> bool:
    """Whether a message is chat's and could not be Anthropic's."""
    return word(message, "role") in SYSTEM or has_chat_marks(message, ("image_url",))


def has_chat_marks(message: Any, part_kinds: Sequence[str]) -> bool:
    if not isinstance(message, Mapping):
        return False
    content = message.get("content")
    parts = content if isinstance(content, list | tuple) else ()
    return (
        word(message, "role") in ("tool", "function")
        or message.get("tool_calls") is not None
        or any(word(part, "type") in part_kinds for part in parts)
    )


def _from_chat(place: int, message: Any) -> _Found:
    if not isinstance(message, Mapping):
        return _Found("", [], [f"not a message but {type(message).__name__}"])
    problems = list(judge_shape(message, PARTS_ELSEWHERE))
    role = word(message, "role")
    if role == "tool":
        return _Found("user", [_Block(place, "tool_result", word(message, "tool_call_id"))], problems)
    if role not in ("user", "assistant"):
        known = [f"a message of role {role} has no counterpart"] if role == "function" else []
        return _Found("", [], problems + known)
    blocks = _chat_blocks(place, message.get("content"))
    calls = message.get("tool_calls") if role == "assistant" else None
    for number, call in enumerate(calls if isinstance(calls, list | tuple) else (), start=1):
        arguments = word(call.get("function"), "arguments") if isinstance(call, Mapping) else ""
        if parse(arguments) is not NOT_JSON and not isinstance(parse(arguments), dict):
            problems.append(f"the arguments of call {number} are not a JSON object")
        blocks.append(_Block(place, "tool_use", word(call, "id")))
    return _Found(role, blocks, problems)


def _chat_blocks(place: int, content: Any) -> list[_Block]:
    """Blank texts leave no block: a message of which nothing remains is reported as empty."""
    if isinstance(content, str):
        return [_Block(place, "text", text=content)] if content.strip() else []
    parts = content if isinstance(content, list | tuple) else ()
    return [
        _Block(place, word(part, "type") or "?", text=word(part, "text"))
        for part in parts
        if word(part, "type") != "text" or word(part, "text").strip()
    ]


def _from_native(place: int, message: Any) -> _Found:
    if not isinstance(message, Mapping):
        return _Found("", [], [f"not a message but {type(message).__name__}"])
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant"):
        return _Found("", [], [f"unknown role {named(role)}"])
    if isinstance(content, str):
        blank = ["the text is blank"] if content and not content.strip() else []
        return _Found(role, [_Block(place, "text", text=content)] if content else [], blank)
    if not isinstance(content, list | tuple):
        return _Found(role, [_Block(place, "?")], [f"content is {type(content).__name__}, neither text nor blocks"])
    problems = [
        f"block {number} {what}" for number, block in enumerate(content, start=1) for what in _judge_block(role, block)
    ]
    blocks = [
        _Block(
            place,
            word(block, "type") or "?",
            word(block, "id") or word(block, "tool_use_id"),
            word(block, "text"),
        )
        for block in content
    ]
    return _Found(role, blocks, problems)


def _judge_block(role: str, block: Any) -> Problems:
    match word(block, "type"):
        case "":
            yield "has no type"
        case "text":
            if not word(block, "text").strip():
                yield "is a text without anything but blanks in it"
        case "tool_use":
            if role != "assistant":
                yield "is a tool_use, which only the assistant makes"
            if not _CALL_ID.fullmatch(word(block, "id")):
                yield f"is a tool_use with the id {named(block.get('id'))}; letters, digits, _ and - are allowed"
            if not word(block, "name"):
                yield "is a tool_use that names no tool"
            if not isinstance(block.get("input"), Mapping):
                yield f"is a tool_use whose input is {type(block.get('input')).__name__}, not an object"
        case "tool_result":
            if role != "user":
                yield "is a tool_result, which only the user's messages carry"
            yield from _judge_result(block)
        case "thinking" | "redacted_thinking" if role != "assistant":
            yield "is thinking, which only the assistant does"


def _judge_result(block: Mapping[str, Any]) -> Problems:
    content = block.get("content")
    if content is not None and not isinstance(content, str | list | tuple):
        yield f"is a tool_result whose content is {type(content).__name__}"
    if block.get("is_error") is True and not content:
        yield "is a tool_result that tells of an error but is empty"
    for part in content if isinstance(content, list | tuple) else ():
        if word(part, "type") == "text" and not word(part, "text").strip():
            yield "is a tool_result with a blank text in it"


def _merged(read: list[tuple[int, str, list[_Block]]]) -> list[_Turn]:
    """Consecutive messages of one role are one turn to the API."""
    turns: list[_Turn] = []
    for _, role, blocks in read:
        if turns and turns[-1][0] == role:
            turns[-1] = (role, turns[-1][1] + blocks)
        else:
            turns.append((role, blocks))
    return turns


def _judge_turns(turns: list[_Turn]) -> Problems:
    before: list[_Block] = []
    for number, (role, blocks) in enumerate(turns, start=1):
        if role == "assistant":
            before = [block for block in blocks if block.kind == "tool_use"]
            yield from _judge_unique(before)
            continue
        yield from _judge_answers(before, blocks, is_last=number == len(turns))
        before = []


def _judge_unique(calls: list[_Block]) -> Problems:
    seen: set[str] = set()
    for call in calls:
        if call.call_id in seen and call.call_id:
            yield f"message {call.place}: two calls of one turn have the id {named(call.call_id)}"
        seen.add(call.call_id)


def _judge_answers(calls: list[_Block], blocks: list[_Block], *, is_last: bool) -> Problems:
    made = {call.call_id for call in calls}
    answered: set[str] = set()
    said_something = False
    for block in blocks:
        if block.kind != "tool_result":
            said_something = True
            continue
        if said_something and made:
            yield f"message {block.place}: tool result for call {named(block.call_id)} comes after other content"
        if block.call_id not in made:
            yield (
                f"message {block.place}: tool result for call {named(block.call_id)} "
                "that the assistant's message before did not make"
            )
        elif block.call_id in answered:
            yield f"message {block.place}: a second tool result for call {named(block.call_id)}"
        answered.add(block.call_id)
    in_flight = is_last and not said_something
    for call in calls:
        if call.call_id not in answered and not in_flight:
            yield f"message {call.place}: call {named(call.call_id)} has no result in the message after it"


def _judge_ending(turns: list[_Turn]) -> Problems:
    """A last turn of the assistant is a beginning the model goes on from; the API is particular about its end."""
    if not turns or turns[-1][0] != "assistant" or not turns[-1][1]:
        return
    blocks = turns[-1][1]
    last = blocks[-1]
    for call in blocks:
        if call.kind == "tool_use" and any(block.place > call.place and block.kind != "tool_use" for block in blocks):
            yield f"message {call.place}: call {named(call.call_id)} has no result before the assistant goes on"
    if last.kind == "text" and last.text.strip() and last.text != last.text.rstrip():
        yield f"message {last.place}: the last message is the assistant's and ends in blanks"
    if last.kind in ("thinking", "redacted_thinking"):
        yield f"message {last.place}: the last message is the assistant's and ends in thinking"

"""Would a provider take these messages as they stand?

A judge, not a repairer: it shares no code with what puts histories right, so that either can catch the other out.
Messages are counted from 1, as a person reading them would. Every history may end with calls still in flight.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Problems = Iterator[str]


def validate_messages(messages: Sequence[Mapping[str, Any]], dialect: str = "openai") -> list[str]:
    """What is wrong with these messages for a provider that speaks `dialect`, in sentences; empty when nothing is.

    "openai" takes chat messages. "anthropic" and "responses" take their own form or chat messages, which are judged as
    what they become. Anything at all may be passed: what is not a message is reported, not raised.

    >>> validate_messages([{"role": "assistant", "content": "Hello"}])
    ['there is no user message']
    """
    judge = DIALECTS.get(dialect)
    if judge is None:
        raise ValueError(f"unknown dialect {dialect!r}; choose one of {', '.join(DIALECTS)}")
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        return [f"not a list of messages but {type(messages).__name__}"]
    return list(judge(messages))


# ── OpenAI chat ──────────────────────────────────────────────────────────────────────────────────────────────────

_SYSTEM = ("system", "developer")
_PARTS = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    # "For tool messages, only type text is supported": images in results are refused.
    "tool": ("text",),
}


_PARTS_ELSEWHERE = {**_PARTS, "tool": ("text", "image_url", "file")}
"""Anthropic and Responses take pictures and files in results."""


def _judge_openai(messages: Sequence[Any]) -> Problems:
    yield from _judge_beginning(messages)
    for place, message in enumerate(messages, start=1):
        yield from (f"message {place}: {what}" for what in (*_judge_shape(message), *_judge_emptiness(message)))
    yield from _judge_chat_pairs(messages)


def _judge_beginning(messages: Sequence[Any]) -> Problems:
    roles = [_word(message, "role") for message in messages]
    if "user" not in roles:
        yield "there is no user message"
        return
    spoken = [(place, role) for place, role in enumerate(roles, start=1) if role not in _SYSTEM]
    place, role = spoken[0]
    if role != "user":
        yield f"message {place}: the first message after the system's is not the user's but {_named(role)}"


def _judge_shape(message: Any, parts: Mapping[str, Sequence[str]] = _PARTS) -> Problems:
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
            if not _word(message, "tool_call_id"):
                yield "a tool result without a tool_call_id"
        case "function":
            if not _word(message, "name"):
                yield "a function result without a name"
            if content is not None and not isinstance(content, str):
                yield f"the content of a function result is {type(content).__name__}, not text"
        case _:
            yield f"unknown role {_named(role)}"
    if role != "assistant" and message.get("tool_calls"):
        yield f"tool_calls in a message of role {_named(role)}"


def _judge_parts(role: str, content: Any, parts: Mapping[str, Sequence[str]]) -> Problems:
    if isinstance(content, str):
        return
    if not isinstance(content, list | tuple):
        yield f"content is {type(content).__name__}, neither text nor a list of parts"
        return
    for number, part in enumerate(content, start=1):
        kind = _word(part, "type")
        if kind not in parts[role]:
            yield f"part {number} is of type {_named(kind)}, which {role} messages cannot have"
        elif kind == "text" and not isinstance(part.get("text"), str):
            yield f"part {number} is a text part without text"


def _judge_emptiness(message: Any) -> Problems:
    role = _word(message, "role")
    content = message.get("content") if role else None
    if role == "user" and not _says_something(content):
        yield "the user's content is empty"
    elif role == "assistant" and not _says_something(content) and not _acts(message):
        yield "the assistant has neither content nor tool calls"
    elif isinstance(content, list | tuple) and not content:
        yield "content is an empty list"


def _says_something(content: Any) -> bool:
    if isinstance(content, list | tuple):
        return any(_word(part, "type") != "text" or _word(part, "text") for part in content)
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
        call_id = _word(call, "id")
        if not call_id:
            yield f"call {number} has no id"
        elif call_id in seen:
            yield f"two calls have the id {_named(call_id)}"
        seen.add(call_id)
        yield from _judge_chat_call(number, call)


def _judge_chat_call(number: int, call: Any) -> Problems:
    if not isinstance(call, Mapping):
        yield f"call {number} is not an object"
        return
    kind = call.get("type")
    if kind == "custom":  # free text for input, nothing to parse
        if not _word(call.get("custom"), "name"):
            yield f"call {number} names no tool"
        return
    if kind != "function":
        yield f"call {number} is of type {_named(kind)}, not function"
    function = call.get("function")
    if not _word(function, "name"):
        yield f"call {number} names no function"
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    if not isinstance(arguments, str):
        yield f"the arguments of call {number} are {type(arguments).__name__}, not text"
    elif _parse(arguments) is _NOT_JSON:
        yield f"the arguments of call {number} are not JSON"


def _judge_chat_pairs(messages: Sequence[Any]) -> Problems:
    """Every result stands in the run of results right after its call; every call has one, unless it is in flight."""
    made: set[str] = set()
    waiting: dict[str, bool] = {}  # the calls of the run we are in → answered
    asked_at = 0
    for place, message in enumerate(messages, start=1):
        if _word(message, "role") == "tool":
            call_id = _word(message, "tool_call_id")
            if not call_id:
                continue  # reported as a message
            if call_id not in made:
                yield f"message {place}: tool result for call {_named(call_id)} that no earlier assistant message made"
            elif call_id not in waiting:
                yield f"message {place}: tool result for call {_named(call_id)} stands apart from its call"
            elif waiting[call_id]:
                yield f"message {place}: a second tool result for call {_named(call_id)}"
            if call_id in waiting:
                waiting[call_id] = True
            continue
        yield from _unanswered(waiting, asked_at, place)
        waiting, asked_at = dict.fromkeys(_chat_call_ids(message), False), place
        made |= waiting.keys()


def _unanswered(waiting: Mapping[str, bool], asked_at: int, place: int) -> Problems:
    for call_id, answered in waiting.items():
        if not answered:
            yield f"message {asked_at}: call {_named(call_id)} has no result before message {place}"


def _chat_call_ids(message: Any) -> list[str]:
    calls = message.get("tool_calls") if _word(message, "role") == "assistant" else None
    return [_word(call, "id") for call in calls if _word(call, "id")] if isinstance(calls, list | tuple) else []


# ── Anthropic messages ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Block:
    """What matters of a content block, and the message it came in."""

    place: int
    kind: str
    call_id: str = ""
    text: str = ""


_Turn = tuple[str, list[_Block]]
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")


def _judge_anthropic(messages: Sequence[Any]) -> Problems:
    read: list[tuple[int, str, list[_Block]]] = []
    as_chat = any(_is_chat_only(message) for message in messages)
    begun = False
    for place, message in enumerate(messages, start=1):
        if as_chat and _word(message, "role") in _SYSTEM:
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
        yield f"message {read[0][0]}: the first message is not the user's but {_named(turns[0][0])}"
    yield from _judge_turns(turns)
    yield from _judge_ending(turns)


@dataclass(frozen=True)
class _Found:
    role: str
    blocks: list[_Block]
    problems: list[str]


def _is_chat_only(message: Any) -> bool:
    """Whether a message is chat's and could not be Anthropic's."""
    return _word(message, "role") in _SYSTEM or _has_chat_marks(message, ("image_url",))


def _has_chat_marks(message: Any, part_kinds: Sequence[str]) -> bool:
    if not isinstance(message, Mapping):
        return False
    content = message.get("content")
    parts = content if isinstance(content, list | tuple) else ()
    return (
        _word(message, "role") in ("tool", "function")
        or message.get("tool_calls") is not None
        or any(_word(part, "type") in part_kinds for part in parts)
    )


def _from_chat(place: int, message: Any) -> _Found:
    if not isinstance(message, Mapping):
        return _Found("", [], [f"not a message but {type(message).__name__}"])
    problems = list(_judge_shape(message, _PARTS_ELSEWHERE))
    role = _word(message, "role")
    if role == "tool":
        return _Found("user", [_Block(place, "tool_result", _word(message, "tool_call_id"))], problems)
    if role not in ("user", "assistant"):
        known = [f"a message of role {role} has no counterpart"] if role == "function" else []
        return _Found("", [], problems + known)
    blocks = _chat_blocks(place, message.get("content"))
    calls = message.get("tool_calls") if role == "assistant" else None
    for number, call in enumerate(calls if isinstance(calls, list | tuple) else (), start=1):
        arguments = _word(call.get("function"), "arguments") if isinstance(call, Mapping) else ""
        if _parse(arguments) is not _NOT_JSON and not isinstance(_parse(arguments), dict):
            problems.append(f"the arguments of call {number} are not a JSON object")
        blocks.append(_Block(place, "tool_use", _word(call, "id")))
    return _Found(role, blocks, problems)


def _chat_blocks(place: int, content: Any) -> list[_Block]:
    """Blank texts leave no block: a message of which nothing remains is reported as empty."""
    if isinstance(content, str):
        return [_Block(place, "text", text=content)] if content.strip() else []
    parts = content if isinstance(content, list | tuple) else ()
    return [
        _Block(place, _word(part, "type") or "?", text=_word(part, "text"))
        for part in parts
        if _word(part, "type") != "text" or _word(part, "text").strip()
    ]


def _from_native(place: int, message: Any) -> _Found:
    if not isinstance(message, Mapping):
        return _Found("", [], [f"not a message but {type(message).__name__}"])
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant"):
        return _Found("", [], [f"unknown role {_named(role)}"])
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
            _word(block, "type") or "?",
            _word(block, "id") or _word(block, "tool_use_id"),
            _word(block, "text"),
        )
        for block in content
    ]
    return _Found(role, blocks, problems)


def _judge_block(role: str, block: Any) -> Problems:
    match _word(block, "type"):
        case "":
            yield "has no type"
        case "text":
            if not _word(block, "text").strip():
                yield "is a text without anything but blanks in it"
        case "tool_use":
            if role != "assistant":
                yield "is a tool_use, which only the assistant makes"
            if not _CALL_ID.fullmatch(_word(block, "id")):
                yield f"is a tool_use with the id {_named(block.get('id'))}; letters, digits, _ and - are allowed"
            if not _word(block, "name"):
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
        if _word(part, "type") == "text" and not _word(part, "text").strip():
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
            yield f"message {call.place}: two calls of one turn have the id {_named(call.call_id)}"
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
            yield f"message {block.place}: tool result for call {_named(block.call_id)} comes after other content"
        if block.call_id not in made:
            yield (
                f"message {block.place}: tool result for call {_named(block.call_id)} "
                "that the assistant's message before did not make"
            )
        elif block.call_id in answered:
            yield f"message {block.place}: a second tool result for call {_named(block.call_id)}"
        answered.add(block.call_id)
    in_flight = is_last and not said_something
    for call in calls:
        if call.call_id not in answered and not in_flight:
            yield f"message {call.place}: call {_named(call.call_id)} has no result in the message after it"


def _judge_ending(turns: list[_Turn]) -> Problems:
    """A last turn of the assistant is a beginning the model goes on from; the API is particular about its end."""
    if not turns or turns[-1][0] != "assistant" or not turns[-1][1]:
        return
    blocks = turns[-1][1]
    last = blocks[-1]
    for call in blocks:
        if call.kind == "tool_use" and any(block.place > call.place and block.kind != "tool_use" for block in blocks):
            yield f"message {call.place}: call {_named(call.call_id)} has no result before the assistant goes on"
    if last.kind == "text" and last.text.strip() and last.text != last.text.rstrip():
        yield f"message {last.place}: the last message is the assistant's and ends in blanks"
    if last.kind in ("thinking", "redacted_thinking"):
        yield f"message {last.place}: the last message is the assistant's and ends in thinking"


# ── OpenAI Responses ─────────────────────────────────────────────────────────────────────────────────────────────

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


def _judge_responses(messages: Sequence[Any]) -> Problems:
    if not messages:
        yield "there is no item"
    typed = any(_word(message, "type") for message in messages)  # items have a type, chat messages have none
    if not typed and any(_has_chat_marks(message, ("text", "image_url")) for message in messages):
        for place, message in enumerate(messages, start=1):
            wrong = (*_judge_shape(message, _PARTS_ELSEWHERE), *_judge_emptiness(message))
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
    if _word(message, "role") == "tool":
        return [(place, {"type": "function_call_output", "call_id": _word(message, "tool_call_id")})]
    items: list[_Item] = []
    if isinstance(message, Mapping) and _says_something(message.get("content")):
        items.append((place, {"type": "message", "role": _word(message, "role")}))
    return items + [(place, {"type": "function_call", "call_id": call_id}) for call_id in _chat_call_ids(message)]


def _judge_item(item: Any) -> Problems:
    if not isinstance(item, Mapping):
        yield f"not an item but {type(item).__name__}"
        return
    kind = item.get("type", "message" if "role" in item else None)
    if not isinstance(kind, str):
        yield f"an item of type {_named(kind)}"
        return
    if kind == "message":
        yield from _judge_message_item(item)
    if (kind in _ANSWERED_BY or kind in _OUTPUTS) and not _word(item, "call_id"):
        yield f"a {kind} without a call_id"
    if kind in ("function_call", "custom_tool_call") and not _word(item, "name"):
        yield f"a {kind} that names no tool"
    if kind == "function_call":
        arguments = item.get("arguments")
        if not isinstance(arguments, str):
            yield f"the arguments of a call are {type(arguments).__name__}, not text"
        elif _parse(arguments) is _NOT_JSON:
            yield "the arguments of a call are not JSON"
    if kind == "custom_tool_call" and not isinstance(item.get("input"), str):
        yield f"the input of a call is {type(item.get('input')).__name__}, not text"
    if kind in ("function_call_output", "custom_tool_call_output") and not isinstance(item.get("output"), str | list):
        yield f"the output of a call is {type(item.get('output')).__name__}, neither text nor a list"


def _judge_message_item(item: Mapping[str, Any]) -> Problems:
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str) or role not in _ITEM_PARTS:
        yield f"unknown role {_named(role)}"
        return
    if isinstance(content, list | tuple):
        for number, part in enumerate(content, start=1):
            if _word(part, "type") not in _ITEM_PARTS[role]:
                yield f"part {number} is of type {_named(_word(part, 'type'))}, which {role} messages cannot have"
        says_something = any(not _word(part, "type").endswith("_text") or _word(part, "text") for part in content)
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
        kind, call_id = _word(item, "type"), _word(item, "call_id")
        if not call_id:
            continue
        if kind in _ANSWERED_BY:
            if call_id in open_calls:
                yield f"message {place}: two calls have the id {_named(call_id)}"
            open_calls[call_id], made[call_id], called_at[call_id] = (place, item), kind, at
        elif kind in _OUTPUTS:
            if call_id not in made:
                yield f"message {place}: output for call {_named(call_id)} that no earlier item made"
            elif kind not in _ANSWERED_BY[made[call_id]]:
                yield f"message {place}: a {kind} for call {_named(call_id)}, which is a {made[call_id]}"
            elif call_id not in open_calls:
                yield f"message {place}: a second output for call {_named(call_id)}"
            open_calls.pop(call_id, None)
    for call_id, (place, _) in open_calls.items():
        if called_at[call_id] < last_said:
            yield f"message {place}: call {_named(call_id)} has no output"


def _is_said(item: Any) -> bool:
    return _word(item, "type") == "message" or (not _word(item, "type") and bool(_word(item, "role")))


def _judge_reasoning(items: list[_Item]) -> Problems:
    """What a thought led to must follow: "… of type 'reasoning' was provided without its required following item"."""
    for (place, item), (_, after) in pairwise([*items, (0, None)]):
        if _word(item, "type") != "reasoning":
            continue
        kind = _word(after, "type")
        led_to = kind == "reasoning" or kind.endswith("_call") or _word(after, "role") == "assistant"
        if not led_to:
            yield f"message {place}: reasoning that is not followed by what it led to"


# ── Odd values ───────────────────────────────────────────────────────────────────────────────────────────────────

_NOT_JSON = object()


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is Python's, not JSON's")


def _word(holder: Any, key: str) -> str:
    value = holder.get(key) if isinstance(holder, Mapping) else None
    return value if isinstance(value, str) else ""


def _named(value: Any) -> str:
    """A name or id as it may stand in a sentence, however long or odd it is."""
    shown = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return shown if len(shown) <= 80 else shown[:77] + "…" + shown[-1]


DIALECTS: dict[str, Callable[[Sequence[Any]], Problems]] = {
    "openai": _judge_openai,
    "anthropic": _judge_anthropic,
    "responses": _judge_responses,
}

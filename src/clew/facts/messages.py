"""What one message says: a frozen reading of an OpenAI-format dict, which stays with it untouched."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

SYSTEM_ROLES = frozenset({"system", "developer"})
RESULT_ROLES = frozenset({"tool", "function"})
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})


class BadMessages(ValueError):
    """A history that cannot be read at all; the text names the place."""


class ToolCall(NamedTuple):
    """One call the model made, with its arguments as the text the model wrote."""

    id: str
    name: str
    arguments: str
    raw: Mapping[str, Any]


class Message(NamedTuple):
    """One message: what clew reads from it, and `raw`, the dict it came as, so that nothing unknown is ever lost.

    A named tuple, because one is made for every message of every history, three times as fast as a dataclass.
    """

    role: str
    text: str
    calls: tuple[ToolCall, ...]
    call_id: str
    name: str
    raw: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The message as its host spelled it, in a dict of the caller's own."""
        return dict(self.raw)

    def saying(self, text: str) -> Message:
        """The same message with other text; parts that are not text stay where they were."""
        content = self.raw.get("content")
        if isinstance(content, list) and any(not _is_text(part) for part in content):
            spoken: Any = [{"type": "text", "text": text}, *(part for part in content if not _is_text(part))]
        else:
            spoken = text
        return Message(self.role, text, self.calls, self.call_id, self.name, {**self.raw, "content": spoken})

    def calling(self, calls: Sequence[ToolCall]) -> Message:
        """The same message with other calls."""
        rest = {key: value for key, value in self.raw.items() if key != "tool_calls"}
        raw = {**rest, "tool_calls": [dict(call.raw) for call in calls]} if calls else rest
        return Message(self.role, self.text, tuple(calls), self.call_id, self.name, raw)

    @property
    def is_system(self) -> bool:
        return self.role in SYSTEM_ROLES

    @property
    def is_result(self) -> bool:
        return self.role in RESULT_ROLES


def read_message(raw: Any, place: int = 0) -> Message:
    """The reading of one OpenAI-format dict. Total over odd content; only what is no message at all is refused."""
    if type(raw) is not dict and not isinstance(raw, Mapping):  # the first is a hundred times cheaper
        raise BadMessages(f"message {place}: expected a dict with a role, got {type(raw).__name__}")
    role = raw.get("role")
    if not isinstance(role, str) or not role:
        raise BadMessages(f"message {place}: no role; every message needs one, such as 'user' or 'assistant'")
    content = raw.get("content")
    if len(raw) == 2 and isinstance(content, str):  # a role and a text, as most are
        return Message(role, content, (), "", "", raw)
    calls = raw.get("tool_calls")
    call_id = raw.get("tool_call_id")
    name = raw.get("name") or raw.get("tool_name")
    return Message(
        role,
        content if isinstance(content, str) else _text_of(content),
        tuple([_read_call(call) for call in calls]) if calls and isinstance(calls, list) else (),
        _word(call_id) if call_id is not None else "",
        _word(name) if name is not None else "",
        raw,
    )


def read_messages(raws: Iterable[Any]) -> tuple[Message, ...]:
    """The reading of a whole history; an unreadable message is named by its place, counted from 0."""
    return tuple([read_message(raw, place) for place, raw in enumerate(raws)])


def message(role: str, text: str) -> Message:
    """A new plain message."""
    return Message(role, text, (), "", "", {"role": role, "content": text})


def tool_result(call: ToolCall, text: str) -> Message:
    """A new result that answers `call`."""
    raw = {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": text}
    return Message("tool", text, (), call.id, call.name, raw)


def tool_call(call: ToolCall, arguments: str) -> ToolCall:
    """`call` with other arguments."""
    function, custom = call.raw.get("function"), call.raw.get("custom")
    if function is None and isinstance(custom, Mapping):
        return ToolCall(call.id, call.name, arguments, {**call.raw, "custom": {**custom, "input": arguments}})
    inner = {**function, "arguments": arguments} if isinstance(function, Mapping) else {"arguments": arguments}
    return ToolCall(call.id, call.name, arguments, {**call.raw, "function": inner})


def other_parts(message: Message) -> list[Any]:
    """The parts of a message that are not text: images, audio, files, whatever comes next."""
    content = message.raw.get("content")
    return [part for part in content if not _is_text(part)] if isinstance(content, list) else []


def _read_call(raw: Any) -> ToolCall:
    if type(raw) is not dict and not isinstance(raw, Mapping):
        raw = {"id": "", "type": "function", "function": {"name": "", "arguments": _json(raw)}}
    function = raw.get("function")
    if function is None and isinstance(raw.get("custom"), Mapping):  # a tool that takes free text
        function = {"name": raw["custom"].get("name"), "arguments": raw["custom"].get("input")}
    body: Mapping[str, Any] = function if type(function) is dict or isinstance(function, Mapping) else {}
    arguments = body.get("arguments")
    return ToolCall(
        _word(raw.get("id")),
        _word(body.get("name")),
        arguments if isinstance(arguments, str) else _json(arguments),
        raw,
    )


def _text_of(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, list):
        return "\n".join(
            part if isinstance(part, str) else str(part.get("text") or "") for part in content if _is_text(part)
        )
    return content if isinstance(content, str) else _json(content)


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, Mapping) and part.get("type", "text") in TEXT_PARTS)


def _json(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)

"""Which messages are the items of a request's input, and which items the messages of a prompt?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from clew.facts.messages import BadMessages, Message, read_message
from clew.wire.responses.calls import is_hosted, is_result, own_of, read_result, spell_result
from clew.wire.responses.kinds import (
    ANSWERS,
    OF_THE_CLIENT,
    RESPONSES,
    is_asked,
    is_item,
    is_message,
    item_in,
    kind_of,
    part_of,
    role_of,
)
from clew.wire.responses.parts import read_content, spell_content
from clew.wire.responses.said import read_said, spell_said

_ROLES = frozenset({"user", "system", "developer"})


def read_history(items: Sequence[Any]) -> tuple[Message, ...]:
    """The messages of a conversation. What the model made in one go is one message, up to the next it says."""
    history = _History()
    for place, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise BadMessages(f"input item {place}: expected an object, got {type(item).__name__}")
        history.add(item)
    return tuple(history.whole())


class _History:
    """The messages so far, and the items of the model's that are still being gathered."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._gathered: list[Mapping[str, Any]] = []
        self._made: dict[str, str] = {}  # id of a call → the kind of item that made it
        self._hosted: set[str] = set()

    def add(self, item: Mapping[str, Any]) -> None:
        if is_hosted(item):
            self._hosted.add(str(item.get("call_id")))
        if is_message(item) and role_of(item) in _ROLES and isinstance(item.get("content"), str | list):
            self._close(_read_message(item))
        elif is_result(item) and item["call_id"] not in self._hosted:
            self._close(read_result(item, self._made.get(item["call_id"], "function_call")))
        elif self._is_apart(item):
            self._close(read_message({"role": "developer", "content": [part_of(item)]}))
        else:
            if is_message(item) and any(map(is_message, self._gathered)) and not any(map(is_asked, self._gathered)):
                self._close_before_thoughts()
            if is_asked(item):
                self._made[item["call_id"]] = kind_of(item)
            self._gathered.append(item)

    def whole(self) -> list[Message]:
        self._close()
        return self._messages

    def _is_apart(self, item: Mapping[str, Any]) -> bool:
        """Whether no one said it: the client put it there. A compaction at the front stands for all before it."""
        if is_message(item):
            return role_of(item) != "assistant"
        kind = kind_of(item)
        return kind in OF_THE_CLIENT or not kind or (kind == "compaction" and not self._gathered)

    def _close(self, *following: Message) -> None:
        if self._gathered:
            self._messages.append(read_said(self._gathered))
            self._gathered = []
        self._messages += following

    def _close_before_thoughts(self) -> None:
        """A thought belongs to what follows it, as does what the provider looked up in between."""
        said = max(place for place, item in enumerate(self._gathered) if is_message(item))
        following = self._gathered[said + 1 :]
        self._gathered = self._gathered[: said + 1]
        self._close()
        self._gathered = following


def spell_history(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The input's items. Each message is spelled by itself and by the calls before it, so a longer history begins as
    the shorter one did."""
    spelled: list[dict[str, Any]] = []
    made: dict[str, str] = {}
    for message in messages:
        if message.role == "assistant":
            items = spell_said(message)
            made |= {item["call_id"]: item["type"] for item in items if kind_of(item) in ANSWERS and "call_id" in item}
        elif message.is_result and message.call_id:
            items = [spell_result(message, made.get(message.call_id, "function_call"))]
        else:
            items = _spell_message(message)
        spelled += items
    return [item for place, item in enumerate(spelled) if not _is_stranded(spelled, place)]


def _read_message(item: Mapping[str, Any]) -> Message:
    own = {name: value for name, value in item.items() if name not in ("role", "content")}
    raw = {"role": item["role"], "content": read_content(item["content"])}
    return read_message({**raw, **({RESPONSES: own} if own else {})})


def _spell_message(message: Message) -> list[dict[str, Any]]:
    """A message of any role but the assistant's; items that stand in its content are items again."""
    role = message.role if message.role in _ROLES else "user"
    content = message.raw.get("content")
    if not isinstance(content, list):
        return [{"role": role, "content": message.text, **own_of(message.raw)}]
    items = [item_in(part) for part in content if is_item(part)]
    said = [part for part in content if not is_item(part)]
    if items and not said:
        return items
    return [{"role": role, "content": spell_content(said), **own_of(message.raw)}, *items]


def _is_stranded(items: Sequence[Mapping[str, Any]], place: int) -> bool:
    """Whether a thought has lost what it led to. Refused by the provider: "Item 'rs_…' of type 'reasoning' was provided
    without its required following item"."""
    if kind_of(items[place]) != "reasoning":
        return False
    after = next((item for item in islice(items, place + 1, None) if kind_of(item) != "reasoning"), None)
    if after is None:
        return True
    return role_of(after) in _ROLES if is_message(after) else is_result(after)

"""Where in the bytes of a request does its conversation stand? Read without touching a byte of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import orjson

_value_at = json.JSONDecoder().raw_decode
_space = re.compile(r"[ \t\n\r]*").match


class Unreadable(ValueError):
    """Not a JSON object, or one that no provider would take: it is passed on all the same, for them to say so."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A request's body, taken apart."""

    fields: dict[str, Any]
    """Everything but the conversation."""
    items: list[Any]
    """What the conversation's list holds."""
    end: int = 0
    """Where its last item ends in the bytes. 0: there is no such list."""
    before: dict[str, Any] = field(default_factory=dict)
    """The fields that stand before it."""


def lay_out(body: bytes, name: str) -> Layout:
    """The whole body, whose conversation is the list called `name`."""
    text = _text(body)
    return _pairs(text, _behind(text, 0, "{"), name)


def lay_out_rest(body: bytes, start: int, before: dict[str, Any], name: str) -> Layout:
    """The same of a body that is known up to `start`, where an item ends; `before` are the fields it had till there.
    `items` are those behind it. Takes time for the new part alone."""
    text = _text(body[start:])
    at, end = _skip(text, 0), 0
    items: list[Any] = []
    while text[at : at + 1] == ",":
        item, at = _value(text, _skip(text, at + 1))
        items.append(item)
        end, at = at, _skip(text, at)
    rest = _pairs(text, _skip(text, _behind(text, at, "]")), name, comma_first=True)
    return Layout({**before, **rest.fields}, items, start + _in_bytes(text, end), before)


def items_between(body: bytes, start: int, end: int) -> list[Any]:
    """The items of a list from one place where an item ends to another. Unreadable when there are none such."""
    try:
        return orjson.loads(b"[%b]" % body[start + 1 : end]) if end > start else []
    except ValueError as wrong:
        raise Unreadable(str(wrong)) from None


def _pairs(text: str, at: int, name: str, *, comma_first: bool = False) -> Layout:
    """The fields of an object from `at` on, to the end of the text."""
    fields: dict[str, Any] = {}
    items: list[Any] = []
    before: dict[str, Any] = {}
    end = 0
    at = _skip(text, at)
    while text[at : at + 1] != "}":
        if fields or end or comma_first:
            at = _skip(text, _behind(text, at, ","))
        comma_first = False
        key, at = _value(text, at)
        if type(key) is not str:
            raise Unreadable("a name is expected")
        value, stop = _value(text, _skip(text, _behind(text, _skip(text, at), ":")))
        if key == name and type(value) is list and value:
            items, end = value, _in_bytes(text, len(text[: stop - 1].rstrip(" \t\n\r")))
            before = dict(fields)
        else:
            fields[key] = value
        at = _skip(text, stop)
    if _skip(text, at + 1) != len(text):
        raise Unreadable("something stands behind the object")
    return Layout(fields, items, end, before)


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as wrong:
        raise Unreadable(str(wrong)) from None


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _value_at(text, at)
    except (ValueError, RecursionError) as wrong:
        raise Unreadable(str(wrong)) from None


def _skip(text: str, at: int) -> int:
    return _space(text, at).end()  # type: ignore[union-attr]


def _behind(text: str, at: int, mark: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != mark:
        raise Unreadable(f"{mark} is expected at {at}")
    return at + 1


def _in_bytes(text: str, at: int) -> int:
    return at if text.isascii() else len(text[:at].encode())

"""What `clew sessions export` writes, as bytes: taken in again, or made fit to be given away."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any

from clew.cli.errors import Failed
from clew.cli.importing import Brought
from clew.cli.screen import spelled
from clew.core.redact import PLACEHOLDER, redact
from clew.store import portable
from clew.store.blobs import name_of
from clew.store.store import Store

Line = dict[str, Any]


def as_bytes(lines: Iterable[Line]) -> bytes:
    """JSON Lines."""
    return b"".join(spelled(line) + b"\n" for line in lines)


def is_export(data: bytes) -> bool:
    """Whether the first line says so."""
    try:
        return portable.is_export(json.loads(data.split(b"\n", 1)[0]))
    except (ValueError, RecursionError):
        return False


def restored(store: Store, name: str, data: bytes) -> Iterator[Brought]:
    """Take in every conversation of an export, each whole or not at all."""
    for lines in _conversations(name, data):
        messages = sum(1 for line in lines if "message" in line and not line.get("lent"))
        try:
            conversation, was_new = portable.restore(store, lines)
        except (KeyError, TypeError, IndexError, ValueError, AttributeError) as wrong:
            raise Failed(
                f"{name}: this export is damaged ({type(wrong).__name__}: {wrong}). The conversation was not taken in; "
                "export it again."
            ) from None
        yield Brought(name, conversation, portable.FORMAT, messages, messages if was_new else 0)


def redacted(lines: Iterable[Line]) -> Iterator[Line]:
    """The same conversation without credentials. Blobs get new names, and the messages point to these."""
    everything = list(lines)
    renamed: dict[str, str] = {}
    for line in everything:
        if "blob" in line:
            data = _without_credentials(base64.b64decode(line["base64"]))
            renamed[line["blob"]] = name_of(data)
            line["blob"], line["base64"] = name_of(data), base64.b64encode(data).decode()
    for line in everything:
        yield {key: _renamed(veiled(value, key), renamed) if key in _WORDS else value for key, value in line.items()}


_WORDS = frozenset({"message", "title", "cwd", "source", "system", "state", "call", "tags"})
"""What of a line holds anyone's words."""


def veiled(value: Any, key: str = "") -> Any:
    """A JSON value without credentials, also those that only the name beside them gives away."""
    match value:
        case str():
            clean = redact(value)
            if clean is value and key and redact(named := json.dumps({key: value}, ensure_ascii=False)) != named:
                return PLACEHOLDER
            return clean
        case dict():
            return {redact(inner): veiled(held, inner) for inner, held in value.items()}
        case list():
            return [veiled(held, key) for held in value]
        case _:
            return value


def _conversations(name: str, data: bytes) -> Iterator[list[Line]]:
    lines: list[Line] = []
    for number, text in enumerate(data.splitlines(), 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            raise Failed(
                f"{name}: line {number} of this export is damaged. The conversation was not taken in: one is taken "
                "whole or not at all. Export it again."
            ) from None
        if portable.is_export(line) and lines:
            yield lines
            lines = []
        lines.append(line)
    yield lines


def _without_credentials(data: bytes) -> bytes:
    try:
        return redact(data.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data  # a picture


def _renamed(value: Any, names: dict[str, str]) -> Any:
    match value:
        case str():
            for old, new in names.items():
                value = value.replace(f"blob:{old}", f"blob:{new}") if old != new else value
            return value
        case dict():
            return {key: _renamed(held, names) for key, held in value.items()}
        case list():
            return [_renamed(held, names) for held in value]
        case _:
            return value

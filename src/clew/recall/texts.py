"""What can be searched in one message: what it says, what it calls with what arguments, and its blobs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from clew.facts.messages import BadMessages, ToolCall, read_message
from clew.store.trouble import StoreError
from clew.store.values import Stored


class Section(NamedTuple):
    """A stretch of text that hangs together: no phrase runs from one into the next."""

    text: str
    blob: str = ""
    """The blob it was read from; empty for the message itself."""


def sections_of(stored: Stored) -> list[Section]:
    """The message's own text, without its blobs."""
    raw = stored.message
    content = raw.get("content")
    speaker = said_by(raw)
    if isinstance(content, str) and not raw.get("tool_calls"):  # as most are
        texts = [content, stored.tool, speaker]
    else:
        try:
            message = read_message(raw)
        except BadMessages:
            message = read_message({**raw, "role": stored.role or "unknown"})
        texts = [message.text, stored.tool, speaker, *map(call_text, message.calls)]
    return [Section(text) for text in texts if text]


def said_by(raw: dict[str, Any]) -> str:
    """The name of who speaks, where several share a role; a tool's is told already."""
    name = raw.get("name")
    return name if isinstance(name, str) and raw.get("role") != "tool" else ""


def blobs_of(stored: Stored, read_blob: Callable[[str], bytes]) -> Iterator[Section]:
    """The text of its blobs, each read when it is asked for. One that cannot be read must not hide all the others."""
    for name in stored.blobs:
        try:
            data = read_blob(name)
        except StoreError:
            continue
        yield Section(data.decode("utf-8", "replace"), name)


def tools_of(stored: Stored) -> set[str]:
    """The tools it has to do with: whose result it is, and those it calls."""
    calls = stored.message.get("tool_calls")
    called = [call.name for call in read_message({"role": "assistant", **stored.message}).calls] if calls else []
    return {name for name in (stored.tool, *called) if name}


def call_text(call: ToolCall) -> str:
    """`read_file`, then its arguments one below the other, decoded: a path as it is, not as JSON writes it."""
    return "\n".join([call.name, *argument_texts(call.arguments)])


def argument_texts(arguments: str) -> list[str]:
    """Keys, strings and numbers in the order they stand in; the raw text where it is no JSON."""
    try:
        todo: list[Any] = [json.loads(arguments)]
    except (ValueError, RecursionError):
        return [arguments]
    texts: list[str] = []
    while todo:
        match todo.pop():
            case str() as text:
                texts.append(text)
            case dict() as fields:
                for key, value in reversed(fields.items()):
                    todo += [value, key]
            case list() as items:
                todo += reversed(items)
            case bool() | None:
                pass
            case number:
                texts.append(str(number))
    return texts

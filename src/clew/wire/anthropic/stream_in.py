"""Which pieces of a reply do the events of Anthropic's stream bring?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

from clew.facts.exchange import Unavailable
from clew.facts.pieces import Argued, Begun, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.wire.anthropic.blocks import beside, input_of, part_of, spelled
from clew.wire.anthropic.reply import STANDARD, read_end, read_usage
from clew.wire.content import plain
from clew.wire.errors import classify_error
from clew.wire.sse import Event

_LIVE = frozenset({"text", "thinking"})
"""Blocks worth passing on while they grow; the others are given when they are whole."""


class _Told(Enum):
    NOT_YET = 0
    SAID = 1
    """As plain text of the reply."""
    PART = 2
    """As a part that grows."""


class StreamReader:
    """Reads one stream. `ended` tells whether the reply came to its end, or the connection to its own before that."""

    def __init__(self) -> None:
        self.ended = False
        self._fields: dict[str, Any] = {}  # of the reply, besides those that pieces tell
        self._usage: dict[str, Any] = {}
        self._calls = 0
        self._block: dict[str, Any] = {}  # the one that is open
        self._inputs: list[str] = []  # the text of its input, as far as it has come
        self._told = _Told.NOT_YET  # how it is passed on
        self._after_text = False  # whether the block before it was text, which `Said` would go on with

    def feed(self, event: Event) -> list[Piece]:
        if event.data.strip() == "[DONE]":  # not Anthropic's, but some who speak like it end so
            return []
        try:
            told = json.loads(event.data)
        except (ValueError, RecursionError):
            return [Broken(Unavailable(why=f"the stream holds an event that is not JSON: {event.data[:200]}"))]
        if not isinstance(told, Mapping):
            return []
        match told.get("type", event.name):
            case "message_start":
                return self._start(_object(told, "message"))
            case "content_block_start":
                return self._open(_object(told, "content_block"))
            case "content_block_delta":
                return self._grow(_object(told, "delta"))
            case "content_block_stop":
                return self._close()
            case "message_delta":
                return self._finish(told)
            case "message_stop":
                return [] if self.ended else self._end()
            case "error":
                return [Broken(classify_error(None, told))]
        return []

    def _start(self, message: Mapping[str, Any]) -> list[Piece]:
        self._fields = {key: value for key, value in message.items() if key not in STANDARD}
        begun = Begun(str(message.get("id") or ""), str(message.get("model") or ""))
        return [begun, *self._count(_object(message, "usage"))]

    def _count(self, usage: Mapping[str, Any]) -> list[Piece]:
        """The counts are cumulative: the newest of each holds."""
        self._usage |= {key: value for key, value in usage.items() if value is not None or key not in self._usage}
        return [Counted(read_usage(dict(self._usage)))] if usage else []

    def _open(self, block: Mapping[str, Any]) -> list[Piece]:
        kind = str(block.get("type"))
        self._block, self._inputs, self._told = dict(block), [], _Told.NOT_YET
        after_text, self._after_text = self._after_text, kind == "text"
        if kind == "tool_use":
            self._calls += 1
            call_id, name = str(block.get("id") or ""), str(block.get("name") or "")
            return [Called(self._calls - 1, call_id, name, beside(block))]
        if block == plain("") and not after_text:
            return []  # what comes first will tell: citations stand before the text they belong to
        if block == plain(str(block.get("text"))) and not after_text:
            return self._say(block["text"])
        return self._part() if kind in _LIVE else []

    def _say(self, text: str) -> list[Piece]:
        self._told = _Told.SAID
        return [Said(text)]

    def _part(self) -> list[Piece]:
        self._told = _Told.PART
        return [Part(dict(self._block))]

    def _grow(self, delta: Mapping[str, Any]) -> list[Piece]:
        if delta.get("type") == "input_json_delta":
            return self._argue(str(delta.get("partial_json") or ""))
        grown = {key: value for key, value in delta.items() if key != "type"}
        if "citation" in grown:
            grown["citations"] = [grown.pop("citation")]
        if str(self._block.get("type")) in _LIVE:
            return [piece for field, value in grown.items() for piece in self._live(field, value)]
        for field, value in grown.items():
            self._block[field] = _joined(self._block.get(field), value)
        return []

    def _argue(self, text: str) -> list[Piece]:
        if text:
            self._inputs.append(text)
        return [Argued(self._calls - 1, text)] if text and self._block.get("type") == "tool_use" else []

    def _live(self, field: str, value: Any) -> list[Piece]:
        if field == "text" and self._told is not _Told.PART:
            return self._say(value) if value else []
        # A part that opens behind said text holds what this text has grown: nobody is known to send that.
        opened = self._part() if self._told is not _Told.PART else []
        return opened + [Grown(field, each) for each in (value if isinstance(value, list) else [value]) if each]

    def _close(self) -> list[Piece]:
        block, self._block = self._block, {}
        if block.get("type") == "tool_use":
            # One whose input came whole at its start, or that has none.
            return [] if self._inputs else [Argued(self._calls - 1, spelled(block.get("input", {})))]
        if str(block.get("type")) in _LIVE:
            return [Said("")] if self._told is _Told.NOT_YET else []
        if self._inputs:
            block["input"] = input_of("".join(self._inputs))
        return [Part(part_of(block))] if block else []

    def _finish(self, told: Mapping[str, Any]) -> list[Piece]:
        self._fields |= _object(told, "delta")
        self._fields |= {key: value for key, value in told.items() if key not in ("type", "delta", "usage")}
        counted = self._count(_object(told, "usage"))
        return [*counted, *self._end()] if self._fields.get("stop_reason") else counted

    def _end(self) -> list[Piece]:
        self.ended = True
        return [Ended(*read_end(self._fields))]


def _object(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = holder.get(key)
    return found if isinstance(found, Mapping) else {}


def _joined(before: Any, value: Any) -> Any:
    if isinstance(value, str):
        return (before if isinstance(before, str) else "") + value
    return [*before, *value] if isinstance(before, list) and isinstance(value, list) else value

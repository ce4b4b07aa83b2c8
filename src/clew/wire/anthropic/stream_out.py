"""With which events would Anthropic have streamed these pieces?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from clew.facts.exchange import Prompt
from clew.facts.messages import TEXT_PARTS, ToolCall
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.facts.usage import Usage
from clew.wire.anthropic.blocks import block_of, input_of, spelled, use_of
from clew.wire.anthropic.failures import encode_failure
from clew.wire.anthropic.reply import THOUGHTS_BESIDE, frame, spell_end, spell_usage, thought_block
from clew.wire.content import plain
from clew.wire.sse import Event

_BESIDE_THE_DELTA = frozenset({"context_management"})
"""Fields of the reply that message_delta carries beside its delta, not in it."""


class StreamWriter:
    """Writes one stream. Blocks follow one another here, so what arrives in between waits for its turn."""

    def __init__(self, prompt: Prompt) -> None:
        self._begun = Begun(model=prompt.model)
        self._usage: Usage | None = None
        self._ended = Ended("stop")
        self._started = self._broken = False
        self._index = -1  # of the newest block
        self._open = ""  # what it is: "said", "thought", "part", "call"; nothing when it is closed
        self._held: dict[str, Any] | None = None  # a part that is passed on when it is whole
        self._call = _Call(Called(-1, "", ""))
        self._waiting: list[Piece] = []

    def feed(self, piece: Piece) -> list[Event]:
        match piece:
            case Begun(reply_id, model):
                self._begun = Begun(reply_id, model or self._begun.model)
            case Counted(usage):
                self._usage = usage
            case Ended():
                self._ended = piece
            case Broken(failure):
                self._broken = True
                return [_event(encode_failure(failure)[1])]
            case _ if self._must_wait(piece):
                self._waiting.append(piece)
            case _:
                return [*self._start(), *self._tell(piece)]
        return []

    def close(self) -> list[Event]:
        if self._broken:
            return []
        events = [*self._start()]
        for piece in _in_order(self._waiting):
            events += self._tell(piece)
        return [*events, *self._shut(), *self._finish()]

    def _must_wait(self, piece: Piece) -> bool:
        """Nothing may follow a call whose arguments are still coming; chat's providers mix those of several calls."""
        if self._open != "call" or (isinstance(piece, Argued) and piece.place == self._call.place):
            return False
        return bool(self._waiting) or not self._call.is_whole

    def _start(self) -> Iterator[Event]:
        if not self._started:
            self._started = True
            yield _event({"type": "message_start", "message": frame(self._begun.id, self._begun.model, self._usage)})

    def _tell(self, piece: Piece) -> Iterator[Event]:
        match piece:
            case Said(text):
                yield from self._say("said", plain(""), text)
            case Beside(field, str(text)) if field in THOUGHTS_BESIDE:
                if self._index < 0 or self._open == "thought":  # a thought after the answer came too late to be shown
                    yield from self._say("thought", thought_block(""), text)
            case Beside("refusal", str(text)):
                yield from self._say("said", plain(""), text)
            case Part(raw):
                yield from self._begin_part(raw)
            case Grown(field, value):
                yield from self._grow(field, value)
            case Called():
                yield from self._begin("call", use_of(ToolCall(piece.id, piece.name, "", piece.raw)))
                self._call = _Call(piece)
            case Argued(place, text) if self._open == "call" and place == self._call.place:
                if live := self._call.grow(text):
                    yield self._delta("input", live)

    def _say(self, what: str, block: Mapping[str, Any], text: str) -> Iterator[Event]:
        if self._open != what:
            yield from self._begin(what, block)
        if text:
            yield self._delta("thinking" if what == "thought" else "text", text)

    def _begin(self, what: str, block: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._shut()
        self._index += 1
        self._open = what
        yield _event({"type": "content_block_start", "index": self._index, "content_block": dict(block)})

    def _begin_part(self, part: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._shut()
        if str(part.get("type")) in {"thinking", *TEXT_PARTS}:
            yield from self._put(block_of(part) or {})
        else:
            self._held = dict(part)

    def _put(self, block: Mapping[str, Any]) -> Iterator[Event]:
        """Opens a block that is there already: its fields follow one by one, as they would have come."""
        fields = _GROWING.get(str(block.get("type")), ("input",) if block.get("input") else ())
        empty = {field: type(block[field])() for field in fields if block.get(field)}
        yield from self._begin("part", {**block, **empty})
        for field in empty:
            values = block[field] if isinstance(block[field], list) else [block[field]]
            yield from (self._delta(field, spelled(value) if field == "input" else value) for value in values)

    def _grow(self, field: str, value: Any) -> Iterator[Event]:
        if self._held is not None:
            before = self._held.get(field)
            self._held[field] = (before or "") + value if isinstance(value, str) else [*(before or ()), value]
        elif self._open == "part":
            yield self._delta(field, value)

    def _delta(self, field: str, value: Any) -> Event:
        name, key = _DELTAS.get(field, (f"{field}_delta", field))
        return _event({"type": "content_block_delta", "index": self._index, "delta": {"type": name, key: value}})

    def _shut(self) -> Iterator[Event]:
        """Ends the block that is open; a part that was waiting to be whole is one now."""
        if self._held is not None:
            block, self._held = block_of(self._held), None
            if block is not None:
                yield from self._put(block)
        if self._open == "call" and (late := self._call.late):
            yield self._delta("input", late)
        if self._open:
            self._open = ""
            yield _event({"type": "content_block_stop", "index": self._index})

    def _finish(self) -> Iterator[Event]:
        fields = spell_end(self._ended.stop, self._ended.foreign)
        besides = {key: value for key, value in fields.items() if key in _BESIDE_THE_DELTA}
        delta = {key: value for key, value in fields.items() if key not in besides}
        usage = spell_usage(self._usage or Usage())
        yield _event({"type": "message_delta", "delta": delta, "usage": usage, **besides})
        yield _event({"type": "message_stop"})


_GROWING = {"text": ("citations", "text"), "thinking": ("thinking", "signature")}
_DELTAS = {"citations": ("citations_delta", "citation"), "input": ("input_json_delta", "partial_json")}


class _Call:
    """A call as far as it has come. Arguments that are an object pass as they are; any others wait to be put in one."""

    def __init__(self, called: Called) -> None:
        self.place = called.place
        self._texts: list[str] = []
        self._is_free: bool | None = True if called.raw.get("type") == "custom" else None  # None: nothing has come yet

    def grow(self, text: str) -> str:
        """What of this can be passed on at once."""
        self._texts.append(text)
        if self._is_free is None and text.strip():
            self._is_free = not text.lstrip().startswith("{")
        return "" if self._is_free else text

    @property
    def late(self) -> str:
        """What is to be passed on when nothing more comes."""
        return spelled(input_of("".join(self._texts))) if self._is_free else ""

    @property
    def is_whole(self) -> bool:
        try:
            json.loads("".join(self._texts))
        except (ValueError, RecursionError):
            return False
        return not self._is_free


def _in_order(pieces: list[Piece]) -> Iterator[Piece]:
    """The pieces with the arguments of each call behind it."""
    arguments: dict[int, list[Piece]] = {}
    for piece in pieces:
        if isinstance(piece, Argued):
            arguments.setdefault(piece.place, []).append(piece)
    for piece in pieces:
        if not isinstance(piece, Argued):
            yield piece
        if isinstance(piece, Called):
            yield from arguments.get(piece.place, ())


def _event(told: Mapping[str, Any]) -> Event:
    return Event(json.dumps(told, ensure_ascii=False, separators=(",", ":")), str(told["type"]))

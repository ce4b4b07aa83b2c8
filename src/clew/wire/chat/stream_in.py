"""Which pieces of a reply do the chunks of chat's stream bring?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from clew.facts.exchange import Failure, Unavailable
from clew.facts.pieces import Begun, Beside, Broken, Counted, Ended, Grown, Part, Piece, Said
from clew.wire.chat.calling import Calling
from clew.wire.chat.merging import merged
from clew.wire.chat.parts import kind_of
from clew.wire.chat.reply import BODY, CHOICE, frames, stated_error
from clew.wire.chat.stops import read_stop
from clew.wire.errors import classify_error
from clew.wire.sse import Event
from clew.wire.usage import normalize_usage

DONE = "[DONE]"
_SPOKEN = ("refusal", "reasoning_content", "reasoning")
"""Fields beside the content that are told while they grow."""
_NOT_OF_THE_BODY = frozenset({"id", "object", "model", "choices", "usage", "obfuscation"})
_NOT_OF_THE_CHOICE = frozenset({"delta", "finish_reason", "usage"})


class ChunkReader:
    """Reads one stream. `ended` tells whether the reply came to its end, or the connection to its own before that."""

    def __init__(self) -> None:
        self.ended = False
        self._begun = False
        self._broken = False
        self._calling = Calling()
        self._thinking = False  # whether the newest part is a thought that goes on
        self._body = dict(BODY)
        self._choice = dict(CHOICE)
        self._message: dict[str, Any] = {}  # fields that are told when they are whole

    def feed(self, event: Event) -> list[Piece]:
        data = event.data.strip()
        if not data or self._broken:
            return []
        if data == DONE:
            return list(self._end(None))
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            return self._break(Unavailable(why=f"the stream holds a line that is not JSON: {data[:200]}"))
        error = stated_error(chunk) or (chunk if event.name == "error" else None)
        if error:
            return self._break(classify_error(None, {"error": error}))
        return list(self._read(chunk)) if isinstance(chunk, Mapping) else []

    def _break(self, failure: Failure) -> list[Piece]:
        self._broken = True
        return [Broken(failure)]

    def _read(self, chunk: Mapping[str, Any]) -> Iterator[Piece]:
        choice = _choice_in(chunk)
        if not self._begun and (chunk.get("id") or choice):  # Azure first tells what its filters thought, with no id
            self._begun = True
            yield Begun(str(chunk.get("id") or ""), str(chunk.get("model") or ""))
        self._body |= {name: value for name, value in chunk.items() if name not in _NOT_OF_THE_BODY}
        for name, value in choice.items():
            if name not in _NOT_OF_THE_CHOICE:
                self._choice[name] = merged(self._choice.get(name), value)
        yield from self._said(_object(choice, "delta"))
        if usage := _usage_in(chunk, choice):
            yield Counted(normalize_usage(usage, api="chat"))
        if choice.get("finish_reason"):  # some say "" until the end
            yield from self._end(choice["finish_reason"])

    def _said(self, delta: Mapping[str, Any]) -> Iterator[Piece]:
        for name, value in delta.items():
            if name == "content":
                yield from self._content(value)
            elif name == "tool_calls":
                yield from self._calling.feed(value)
            elif name in _SPOKEN and isinstance(value, str):
                yield from [Beside(name, value)] if value else []
            elif name != "role" and value is not None:
                self._message[name] = merged(self._message.get(name), value)

    def _content(self, content: Any) -> Iterator[Piece]:
        """Text; or parts, as Mistral's models that think send them."""
        for part in content if isinstance(content, list) else [content] if content else []:
            if kind_of(part) == "text":
                text = part.get("text") if isinstance(part, Mapping) else part
                yield from [Said(text)] if text and isinstance(text, str) else []
                self._thinking = False
            elif kind_of(part) == "thinking" and isinstance(part.get("thinking"), list):
                if not self._thinking:
                    yield Part({**part, "thinking": []})
                yield from (Grown("thinking", thought) for thought in part["thinking"] if isinstance(thought, Mapping))
                self._thinking = True
            elif isinstance(part, Mapping):
                yield Part(part)
                self._thinking = False

    def _end(self, reason: Any) -> Iterator[Piece]:
        if self.ended:
            return
        self.ended = True
        yield from self._calling.close()
        yield from (Beside(name, value) for name, value in self._message.items() if value != [])
        stop = read_stop(reason, called=bool(self._calling))
        around = self._choice if reason == stop else {**self._choice, "finish_reason": reason}
        yield Ended(stop, frames(body=self._body, choice=around))


def _choice_in(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first of the alternatives that were asked for."""
    choices = chunk.get("choices")
    found = [choice for choice in choices if isinstance(choice, Mapping)] if isinstance(choices, list) else []
    return next((choice for choice in found if choice.get("index") in (0, None)), {})


def _usage_in(chunk: Mapping[str, Any], choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """Groq tells it in a field of its own, Moonshot in the choice; a running sum is told again and again."""
    places = (chunk, _object(chunk, "x_groq"), choice)
    return next((found for place in places if (found := _object(place, "usage"))), {})


def _object(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = holder.get(name)
    return found if isinstance(found, Mapping) else {}

"""Which pieces of a reply do the events of a stream bring?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from clew.facts.exchange import Failure, Unavailable
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.wire.errors import classify_error
from clew.wire.responses.calls import read_call
from clew.wire.responses.kinds import RESPONSES, is_asked, is_message, kind_of, part_of
from clew.wire.responses.output import undressed
from clew.wire.responses.reply import decode_reply, error_in, items_in, settled
from clew.wire.responses.said import SAYS, is_spoken
from clew.wire.responses.thoughts import Thoughts
from clew.wire.sse import Event

DONE = "[DONE]"
"""Not of this API, but some who speak it end with it."""
_TEXTS = {
    "response.output_text.delta": {"type": "text", "text": ""},
    "response.refusal.delta": {"type": "refusal", "refusal": ""},
}
"""Event → the part of a message that it makes longer."""
_ARGUMENTS = ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta")
_LIVE = frozenset({"function_call", "custom_tool_call"})
"""Calls that are told from their first sign on, as their arguments arrive bit by bit."""


class StreamReader:
    """Reads one stream. `ended` tells whether the reply came to its end, or the connection to its own before that.

    Texts and arguments are passed on as they come, all else when it is whole; what came without events of its own is
    told at the end, from the whole response.
    """

    def __init__(self) -> None:
        self.ended = False
        self._broken = False
        self._begun = Begun()
        self._whole: dict[int, Mapping[str, Any]] = {}  # place in the output → the item, once it is done
        self._calls: dict[int, int] = {}  # place in the output → number of the call
        self._thoughts = Thoughts()
        self._told: dict[tuple[int, int], int] = {}  # item and part → characters of it that were passed on
        self._newest: tuple[int, int] | None = None  # the text that `Said` goes on with

    def feed(self, event: Event) -> list[Piece]:
        data = event.data.strip()
        if not data or data == DONE or self.ended or self._broken:
            return []
        try:
            told = json.loads(data)
        except (ValueError, RecursionError):
            return self._break(Unavailable(why=f"the stream holds an event that is not JSON: {data[:200]}"))
        if not isinstance(told, Mapping):
            return []
        kind = kind_of(told) or event.name
        if error := _error_in(kind, told):
            return self._break(classify_error(None, error))
        return list(self._read(kind, told))

    def _break(self, failure: Failure) -> list[Piece]:
        self._broken = True
        return [Broken(failure)]

    def _read(self, kind: str, told: Mapping[str, Any]) -> Iterator[Piece]:
        response, item, place = _object(told, "response"), _object(told, "item"), _number(told, "output_index")
        self._thoughts.feed(kind, told, place)
        for before, thought in self._thoughts.before(place).items():
            yield from self._complete(before, thought)
        match kind:
            case "response.created" | "response.queued" | "response.in_progress":
                yield from self._begin(response)
            case "response.output_item.added" if kind_of(item) in _LIVE:
                yield from self._call(place, item)
            case "response.output_item.done":
                yield from self._complete(place, item)
            case "response.completed" | "response.incomplete":
                yield from self._end(response)
            case _ if isinstance(delta := told.get("delta"), str) and delta:
                if kind in _TEXTS:
                    yield from self._say((place, _number(told, "content_index")), _TEXTS[kind], delta)
                elif kind in _ARGUMENTS and place in self._calls:
                    yield self._argue(place, delta)

    def _begin(self, response: Mapping[str, Any]) -> Iterator[Piece]:
        begun = Begun(str(response.get("id") or ""), str(response.get("model") or ""))
        if begun != self._begun:
            self._begun, self._newest = begun, None
            yield begun

    def _say(self, where: tuple[int, int], part: Mapping[str, Any], text: str) -> Iterator[Piece]:
        """More of a text. One that follows another directly opens as a part of its own, or they would become one."""
        field = "refusal" if "refusal" in part else "text"
        is_new = where not in self._told
        self._told[where] = self._told.get(where, 0) + len(text)
        if is_new and field == "text" and text and self._newest is None:
            self._newest = where
        elif is_new:
            yield Part(part)
        if text:
            yield Said(text) if self._newest == where else Grown(field, text)

    def _call(self, place: int, item: Mapping[str, Any]) -> Iterator[Piece]:
        if place in self._calls or not is_asked(item):
            return
        call = read_call(undressed(settled(item), self._begun.id, place))
        self._calls[place] = len(self._calls)
        self._newest = None
        own = {name: value for name, value in call.raw.items() if name not in ("id", "function", "custom")}
        yield Called(self._calls[place], call.id, call.name, own)

    def _argue(self, place: int, text: str) -> Argued:
        self._told[place, 0] = self._told.get((place, 0), 0) + len(text)
        return Argued(self._calls[place], text)

    def _complete(self, place: int, item: Mapping[str, Any]) -> Iterator[Piece]:
        """Whatever has not been passed on of an item that is whole."""
        if place in self._whole:
            return
        self._whole[place] = item
        self._thoughts.done(place)
        if is_message(item) and is_spoken(item.get("content")):
            yield from self._complete_message(place, item["content"])
        elif is_asked(item):
            yield from self._call(place, item)
            if rest := read_call(item).arguments[self._told.get((place, 0), 0) :]:
                yield self._argue(place, rest)
        else:
            self._newest = None
            yield Part(part_of(undressed(item, self._begun.id, place)))

    def _complete_message(self, place: int, content: Any) -> Iterator[Piece]:
        parts = [{"type": "output_text", "text": content}] if isinstance(content, str) else content
        for number, part in enumerate(parts):
            field = SAYS[kind_of(part)]
            rest = part[field][self._told.get((place, number), 0) :]
            if rest or (place, number) not in self._told:
                yield from self._say((place, number), {"type": field, field: ""}, rest)

    def _end(self, response: Mapping[str, Any]) -> Iterator[Piece]:
        """Some leave the output out of the whole response, as it has been told: the items stand for it then."""
        self.ended = True
        yield from self._begin(response)
        output = items_in(response) or [self._whole[place] for place in sorted(self._whole)]
        for place, item in enumerate(output):
            yield from self._complete(place, item)
        reply = decode_reply({**response, "output": output})
        if entries := reply.message.raw.get(RESPONSES):
            yield Beside(RESPONSES, entries)
        if reply.usage:
            yield Counted(reply.usage)
        yield Ended(reply.stop, reply.foreign)


def _error_in(kind: str, told: Mapping[str, Any]) -> dict[str, Any] | None:
    """The error an event tells, as the body of a failed request would hold it. Errors come flat or nested."""
    if kind == "response.failed":
        return error_in({**_object(told, "response"), "status": "failed"})
    if kind != "error" and not told.get("error"):
        return None
    flat = {name: value for name, value in told.items() if name not in ("type", "sequence_number")}
    return {"error": told.get("error") or flat}


def _object(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    held = holder.get(name)
    return held if isinstance(held, Mapping) else {}


def _number(holder: Mapping[str, Any], name: str) -> int:
    held = holder.get(name)
    return held if isinstance(held, int) else 0

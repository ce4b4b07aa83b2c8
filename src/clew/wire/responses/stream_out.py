"""With which events would this API have streamed these pieces?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, assert_never

from clew.facts.exchange import Failure, Prompt
from clew.facts.messages import TEXT_PARTS
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.facts.usage import Usage
from clew.wire.responses.failures import told_on_the_way
from clew.wire.responses.kinds import RESPONSES, is_item, item_in, kind_of
from clew.wire.responses.output import THOUGHTS_BESIDE
from clew.wire.responses.parts import told, words_in
from clew.wire.responses.reply import filled, frame
from clew.wire.responses.request import CREATED
from clew.wire.responses.telling import Asking, Item, Spoken, Thought, Told, Whole
from clew.wire.sse import Event

_LIVE_PARTS = {**dict.fromkeys(TEXT_PARTS, "text"), "refusal": "refusal", "thinking": "thinking"}
"""Parts that are told as they grow → the field that does."""


class StreamWriter:
    """Writes one stream. Items follow one another, but for calls whose arguments come mixed: those stay open."""

    def __init__(self, prompt: Prompt) -> None:
        self._created = prompt.foreign.get(RESPONSES, {}).get(CREATED, 0)
        self._begun = Begun(model=prompt.model)
        self._started = self._broken = False
        self._number = 0  # of the next event
        self._items: list[Item] = []
        self._open: list[Item] = []  # of those, the ones that are not done
        self._calls: dict[int, Asking] = {}
        self._part: dict[str, Any] = {}  # the newest, as far as it is still to grow
        self._entries: Sequence[Any] = ()
        self._usage: Usage | None = None
        self._ended: Ended | None = None

    def feed(self, piece: Piece) -> list[Event]:
        match piece:
            case Begun(reply_id, model):
                self._begun = Begun(reply_id, model or self._begun.model) if not self._started else self._begun
                return self._sent(self._start())
            case Counted(usage):
                self._usage = usage
            case Ended():
                self._ended = piece
            case Broken(failure):
                return self._sent(self._break(failure))
            case Beside(field, value) if field == RESPONSES:
                self._entries = value
            case _:
                return self._sent(chain(self._start(), self._tell(piece)))
        return []

    def close(self) -> list[Event]:
        """The end; a reply that did not come to its own has none."""
        if self._broken or self._ended is None:
            return []
        return self._sent(chain(self._start(), self._settle(), self._finish(self._ended)))

    def _start(self) -> Told:
        if not self._started:
            self._started = True
            begun = self._frame("in_progress")
            yield {"type": "response.created", "response": begun}
            yield {"type": "response.in_progress", "response": begun}

    def _tell(self, piece: Said | Part | Grown | Beside | Called | Argued) -> Told:
        match piece:
            case Said(text):
                yield from self._settle()
                yield from self._speak("output_text", text)
            case Beside("refusal", text):
                yield from self._settle()
                yield from self._speak("refusal", text)
            case Beside(field, text):
                if field in THOUGHTS_BESIDE:
                    yield from self._settle()
                    yield from self._think(text)
            case Part(raw):
                yield from self._settle()
                yield from self._begin_part(raw)
            case Grown(field, value):
                yield from self._grow(field, value)
            case Called(place):
                yield from self._settle()
                self._calls[place] = Asking(piece, self._begun.id, len(self._items))
                yield from self._begin(self._calls[place])
            case Argued(place, text):
                if (call := self._calls.get(place)) in self._open and call:
                    yield from call.argue(text)
            case _:
                assert_never(piece)

    def _begin_part(self, part: Mapping[str, Any]) -> Told:
        """Texts, refusals and thoughts are told as they grow; all else waits until it is whole."""
        self._part = dict(part)
        field = _LIVE_PARTS.get(kind_of(part))
        if field == "thinking":
            yield from self._think(words_in(part.get(field)))
        elif field:
            yield from self._speak(_kind(field), words_in(part.get(field)), afresh=True)

    def _grow(self, field: str, value: Any) -> Told:
        live = _LIVE_PARTS.get(kind_of(self._part))
        if live is None:
            grown = self._part.get(field)
            self._part[field] = (grown or "") + value if isinstance(value, str) else [*(grown or ()), value]
        elif field == "thinking":
            yield from self._think(words_in(value))
        elif field == live:
            yield from self._speak(_kind(field), words_in(value))

    def _settle(self) -> Told:
        """The newest part is whole."""
        part, self._part = self._part, {}
        if not part or kind_of(part) == "redacted_thinking":
            return
        if kind_of(part) == "thinking":
            yield from self._shut([each for each in self._open if isinstance(each, Thought)])
        elif kind_of(part) in _LIVE_PARTS:
            yield from self._end_text()
        elif is_item(part):
            yield from self._begin(Whole(item_in(part), self._begun.id, len(self._items)))
        else:
            yield from self._speak("output_text", told(part), afresh=True)
            yield from self._end_text()

    def _speak(self, kind: str, text: str, *, afresh: bool = False) -> Told:
        spoken = self._newest()
        if not isinstance(spoken, Spoken):
            spoken = Spoken(self._begun.id, len(self._items))
            yield from self._begin(spoken)
        if afresh or spoken.speaks != kind:
            yield from spoken.begin(kind)
        if text:
            yield from spoken.say(text)

    def _end_text(self) -> Told:
        """What is said next is a text of its own."""
        spoken = self._newest()
        yield from spoken.end() if isinstance(spoken, Spoken) else ()

    def _think(self, text: str) -> Told:
        if not text:
            return
        thought = self._newest()
        if not isinstance(thought, Thought):
            thought = Thought(self._begun.id, len(self._items))
            yield from self._begin(thought)
        yield from thought.say(text)

    def _newest(self) -> Item | None:
        """The newest item, if it is still open."""
        return self._items[-1] if self._items and self._items[-1] in self._open else None

    def _begin(self, item: Item) -> Told:
        yield from self._shut([each for each in self._open if not isinstance(each, Asking) or each.is_whole])
        self._items.append(item)
        self._open.append(item)
        yield from item.open()

    def _shut(self, items: Sequence[Item]) -> Told:
        for item in tuple(items):
            self._open.remove(item)
            yield from item.close()

    def _break(self, failure: Failure) -> Told:
        self._broken = True
        error = told_on_the_way(failure)
        if not self._started:
            yield {"type": "error", **error, "param": None}
        else:
            yield {"type": "response.failed", "response": {**self._frame("failed"), "error": error}}

    def _finish(self, ended: Ended) -> Told:
        yield from self._shut(self._open)
        plain = {**frame(self._begun.id, self._begun.model, ended.stop, self._usage), "created_at": self._created}
        output = noted([item.item for item in self._items], self._entries)
        response = filled(plain, output, ended.foreign.get(RESPONSES, {}))
        is_cut = response.get("status") == "incomplete"
        yield {"type": "response.incomplete" if is_cut else "response.completed", "response": response}

    def _frame(self, status: str) -> dict[str, Any]:
        plain = frame(self._begun.id, self._begun.model, "stop", None)
        done = [each.item for each in self._items if each not in self._open]
        return {**plain, "created_at": self._created, "status": status, "output": done}

    def _sent(self, events: Iterable[Mapping[str, Any]]) -> list[Event]:
        sent = []
        for event in events:
            numbered = {**event, "sequence_number": self._number}
            sent.append(Event(json.dumps(numbered, ensure_ascii=False), event["type"]))
            self._number += 1
        return sent


def noted(output: Sequence[Mapping[str, Any]], entries: Sequence[Any]) -> list[dict[str, Any]]:
    """The output with what was noted about its messages elsewhere: citations, phases. Ids stay as they were told."""
    waiting: Iterator[Any] = iter(entries)
    return [_with_notes(item, next(waiting, None)) if kind_of(item) == "message" else dict(item) for item in output]


def _with_notes(item: Mapping[str, Any], entry: Any) -> dict[str, Any]:
    rests = entry.get("content") if isinstance(entry, Mapping) else None
    if not isinstance(rests, list) or len(rests) != len(item["content"]):
        return dict(item)
    notes = {name: value for name, value in entry.items() if name not in ("id", "type", "role", "status")}
    return {**item, **notes, "content": [{**part, **rest} for part, rest in zip(item["content"], rests, strict=True)]}


def _kind(field: str) -> str:
    return "output_text" if field == "text" else "refusal"

"""Which chunks of chat's stream tell a reply, piece by piece?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from clew.facts.exchange import Prompt
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.facts.usage import Usage
from clew.wire.chat.counts import spell_usage
from clew.wire.chat.failures import encode_failure
from clew.wire.chat.fields import asks_for_usage
from clew.wire.chat.parts import OTHERS, kind_of, without_others
from clew.wire.chat.reply import BODY, CHOICE, finish_reason
from clew.wire.chat.said import is_told, said_by
from clew.wire.chat.stream_in import DONE
from clew.wire.sse import Event


class ChunkWriter:
    """Writes one stream, as OpenAI does."""

    def __init__(self, prompt: Prompt) -> None:
        created = prompt.foreign.get("chat", {}).get("created", BODY["created"])
        self._head = {"id": "", "object": "chat.completion.chunk", "created": created, "model": prompt.model}
        self._tells_usage = asks_for_usage(prompt)
        self._usage: Usage | None = None
        self._role = {"role": "assistant"}  # told once, in the first delta
        self._kind = ""  # of the newest part
        self._customs: dict[int, bool] = {}  # the place of each call → whether its tool is a custom one
        self._ended = False

    def feed(self, piece: Piece) -> list[Event]:
        match piece:
            case Begun(reply_id, model):
                self._head |= {"id": reply_id, "model": model or self._head["model"]}
                return self._delta(content=None)
            case Said(text):
                return self._delta(content=text)
            case Beside(field, value):
                return self._delta(**{field: value}) if field not in OTHERS else []
            case Part(raw):
                self._kind = kind_of(raw)
                return self._part(raw)
            case Grown(field, value):
                return self._part({"type": self._kind, field: value if isinstance(value, str) else [value]})
            case Called():
                return self._call(piece)
            case Argued(place, text):
                told = {"custom": {"input": text}} if self._customs.get(place) else {"function": {"arguments": text}}
                return self._delta(tool_calls=[{"index": place, **told}])
            case Ended():
                return self._end(piece)
            case Counted(usage):
                self._usage = usage
                return []
            case Broken(failure):
                self._ended = False  # whatever it said before, it did not come to its end
                return [_event(encode_failure(failure)[1])]
        assert_never(piece)

    def close(self) -> list[Event]:
        """The usage, if it was asked for, and the end; a reply that did not come to its own has none."""
        if not self._ended:
            return []
        counted = self._usage if self._tells_usage else None
        told = [_event({**self._head, "choices": [], "usage": spell_usage(counted)})] if counted else []
        return [*told, Event(DONE)]

    def _delta(self, **delta: Any) -> list[Event]:
        choice = {**CHOICE, "delta": {**self._role, **delta}, "finish_reason": None}
        self._role = {}
        return [self._chunk(choice)]

    def _chunk(self, choice: Mapping[str, Any]) -> Event:
        return _event({**self._head, "choices": [choice], **({"usage": None} if self._tells_usage else {})})

    def _part(self, part: Mapping[str, Any]) -> list[Event]:
        """Texts, thoughts and refusals go into fields; a part of chat's own kind is told as it is."""
        if not is_told(part):
            return self._delta(content=[without_others(part)])
        field, text = said_by(part)
        return self._delta(**{field: text}) if text else []

    def _call(self, call: Called) -> list[Event]:
        self._customs[call.place] = call.raw.get("type") == "custom"
        kind, field = ("custom", "input") if self._customs[call.place] else ("function", "arguments")
        made = {"index": call.place, "id": call.id, "type": kind, kind: {"name": call.name, field: ""}}
        return self._delta(tool_calls=[{**without_others(call.raw), **made}])

    def _end(self, end: Ended) -> list[Event]:
        own = end.foreign.get("chat", {})
        self._head |= {name: value for name, value in own.get("body", {}).items() if name not in ("object", "usage")}
        self._ended = True
        reason = finish_reason(end.stop, own, called=bool(self._customs))
        return [self._chunk({**own.get("choice", CHOICE), "delta": self._role, "finish_reason": reason})]


def _event(value: Mapping[str, Any]) -> Event:
    return Event(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

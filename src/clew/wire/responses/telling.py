"""With which events is one item of the output told, from its first sign to its end?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from clew.facts.messages import ToolCall
from clew.facts.pieces import Called
from clew.wire.responses.calls import spell_call
from clew.wire.responses.kinds import kind_of
from clew.wire.responses.output import dressed, thought
from clew.wire.responses.said import SAYS

Told: TypeAlias = Iterator[dict[str, Any]]
"""Events without the numbers they get when they are sent."""


class Item:
    """An item under way; `item` is what is known of it."""

    def __init__(self, item: Mapping[str, Any], reply: str, place: int) -> None:
        self.item = dressed(item, reply, place)
        self._at = {"output_index": place, "item_id": self.item.get("id", "")}
        self._place = place

    def open(self) -> Told:
        yield self._added(self.item)

    def close(self) -> Told:
        yield {"type": "response.output_item.done", "output_index": self._place, "item": self.item}

    def _added(self, item: Mapping[str, Any]) -> dict[str, Any]:
        first = {**item, "status": "in_progress"} if "status" in item else dict(item)
        return {"type": "response.output_item.added", "output_index": self._place, "item": first}


class Spoken(Item):
    """A message: texts and refusals, one after the other."""

    def __init__(self, reply: str, place: int) -> None:
        super().__init__({"role": "assistant", "content": []}, reply, place)
        self.speaks = ""
        """The kind of the part that is being told; empty where none is."""

    def begin(self, kind: str) -> Told:
        yield from self.end()
        self.speaks = kind
        notes: dict[str, Any] = {"annotations": [], "logprobs": []} if kind == "output_text" else {}
        part = {"type": kind, SAYS[kind]: "", **notes}
        self.item["content"].append(part)
        yield {"type": "response.content_part.added", **self._here(), "part": dict(part)}

    def say(self, text: str) -> Told:
        kind = self.speaks
        self.item["content"][-1][SAYS[kind]] += text
        yield {"type": f"response.{kind}.delta", **self._here(), "delta": text, **_notes(kind)}

    def end(self) -> Told:
        if not self.speaks:
            return
        kind, self.speaks, part = self.speaks, "", self.item["content"][-1]
        yield {"type": f"response.{kind}.done", **self._here(), SAYS[kind]: part[SAYS[kind]], **_notes(kind)}
        yield {"type": "response.content_part.done", **self._here(), "part": dict(part)}

    def close(self) -> Told:
        yield from self.end()
        yield from super().close()

    def _here(self) -> dict[str, Any]:
        return {**self._at, "content_index": len(self.item["content"]) - 1}


class Thought(Item):
    """A thought of another provider's model, told as a summary."""

    def __init__(self, reply: str, place: int) -> None:
        super().__init__({**thought(""), "summary": []}, reply, place)

    def open(self) -> Told:
        yield from super().open()
        self.item["summary"] = [{"type": "summary_text", "text": ""}]
        yield from _summary_added(self._at, 0)

    def say(self, text: str) -> Told:
        self.item["summary"][0]["text"] += text
        yield {"type": "response.reasoning_summary_text.delta", **self._at, "summary_index": 0, "delta": text}

    def close(self) -> Told:
        yield from _summary_done(self._at, 0, self.item["summary"][0])
        yield from super().close()


class Whole(Item):
    """An item that is told when nothing of it is missing."""

    def open(self) -> Told:
        yield from ()

    def close(self) -> Told:
        summary = self.item.get("summary") if kind_of(self.item) == "reasoning" else None
        parts = [part for part in summary if isinstance(part, Mapping)] if isinstance(summary, list) else []
        yield self._added({**self.item, "summary": []} if parts else self.item)
        for number, part in enumerate(parts):
            yield from _summary_added(self._at, number)
            delta = {"summary_index": number, "delta": part.get("text", "")}
            yield {"type": "response.reasoning_summary_text.delta", **self._at, **delta}
            yield from _summary_done(self._at, number, part)
        yield from super().close()


class Asking(Item):
    """A call. Those of a function or a custom tool are told as their arguments come, those of a built-in tool whole."""

    def __init__(self, called: Called, reply: str, place: int) -> None:
        self._called, self._reply = called, reply
        self._arguments: list[str] = []
        super().__init__(self._spelled(), reply, place)

    @property
    def _field(self) -> str:
        return "input" if kind_of(self.item) == "custom_tool_call" else "arguments"

    @property
    def _is_live(self) -> bool:
        return kind_of(self.item) in _DELTAS and not kind_of(self._called.raw.get("responses"))

    @property
    def is_whole(self) -> bool:
        """Whether nothing can follow, as far as can be seen: providers mix the arguments of several calls."""
        try:
            return isinstance(json.loads("".join(self._arguments)), dict)
        except (ValueError, RecursionError):
            return False

    def open(self) -> Told:
        if self._is_live:
            yield self._added({**self.item, self._field: ""})

    def argue(self, text: str) -> Told:
        self._arguments.append(text)
        if self._is_live and text:
            yield {"type": _DELTAS[kind_of(self.item)] + ".delta", **self._at, "delta": text}

    def close(self) -> Told:
        self.item = dressed(self._spelled(), self._reply, self._place)
        if self._is_live:
            whole = {self._field: self.item[self._field], "name": self._called.name}
            yield {"type": _DELTAS[kind_of(self.item)] + ".done", **self._at, **whole}
        else:
            yield self._added(self.item)
        yield from super().close()

    def _spelled(self) -> dict[str, Any]:
        called, arguments = self._called, "".join(self._arguments)
        custom = {"custom": {"name": called.name, "input": arguments}} if called.raw.get("type") == "custom" else {}
        return spell_call(ToolCall(called.id, called.name, arguments, {**called.raw, **custom}))


_DELTAS = {
    "function_call": "response.function_call_arguments",
    "custom_tool_call": "response.custom_tool_call_input",
}


def _notes(kind: str) -> dict[str, Any]:
    return {"logprobs": []} if kind == "output_text" else {}


def _summary_added(at: Mapping[str, Any], number: int) -> Told:
    part = {"type": "summary_text", "text": ""}
    yield {"type": "response.reasoning_summary_part.added", **at, "summary_index": number, "part": part}


def _summary_done(at: Mapping[str, Any], number: int, part: Mapping[str, Any]) -> Told:
    here = {**at, "summary_index": number}
    yield {"type": "response.reasoning_summary_text.done", **here, "text": part.get("text", "")}
    yield {"type": "response.reasoning_summary_part.done", **here, "part": dict(part)}

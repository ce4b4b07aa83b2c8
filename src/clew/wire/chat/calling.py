"""Which call does a fragment in a stream belong to? Providers disagree on what a fragment says of that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.facts.pieces import Argued, Called, Piece
from clew.wire.chat.calls import NO_ARGUMENTS, arguments_in, invented_id


@dataclass
class _Call:
    """One call, as far as it has come."""

    place: int
    index: Any
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)
    told: bool = False


class Calling:
    """Reads the fragments of a reply's calls."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, fragments: Any) -> Iterator[Piece]:
        for fragment in fragments if isinstance(fragments, list) else ():
            if isinstance(fragment, Mapping):
                yield from self._take(fragment)

    def close(self) -> Iterator[Piece]:
        """What is missing when the reply ends: calls that never got a name, and the arguments of those without any."""
        for call in self._calls:
            if not call.told:
                yield from _tell(call)
            if not call.arguments and call.more.get("type") != "custom":
                yield Argued(call.place, NO_ARGUMENTS)

    def _take(self, fragment: Mapping[str, Any]) -> Iterator[Piece]:
        call_id, name, text = _read(fragment)
        if not (call_id or name or text):
            return
        call = self._call_for(fragment.get("index"), call_id, name)
        call.id, call.name = call.id or call_id, call.name or name
        call.more |= {key: value for key, value in fragment.items() if key not in _READ and value is not None}
        if fragment.get("type") == "custom":
            call.more["type"] = "custom"
        if text:
            call.arguments.append(text)
        if call.told:
            yield from [Argued(call.place, text)] if text else []
        elif call.name:  # some send the id first and the name behind it
            yield from _tell(call)

    def _call_for(self, index: Any, call_id: str, name: str) -> _Call:
        """The call that a fragment goes on with, or a new one. Most count their calls by index; some leave it out, and
        some say 0 for all, so that only a new id and a name tell that another call begins."""
        if index is None and call_id:
            known = next((call for call in self._calls if call.id == call_id), None)
        else:
            known = next((call for call in reversed(self._calls) if index is None or call.index == index), None)
        if known is None or (name and known.name and _is_another(known, call_id)):
            known = _Call(len(self._calls), index)
            self._calls.append(known)
        return known


_READ = frozenset({"index", "id", "type", "function", "custom"})


def _read(fragment: Mapping[str, Any]) -> tuple[str, str, str]:
    """The id, the name and the arguments that a fragment has."""
    held = fragment.get("custom" if fragment.get("type") == "custom" or "function" not in fragment else "function")
    made: Mapping[str, Any] = held if isinstance(held, Mapping) else {}
    text = arguments_in(made.get("arguments", made.get("input")))
    return str(fragment.get("id") or ""), str(made.get("name") or ""), text


def _is_another(known: _Call, call_id: str) -> bool:
    """Whether a fragment that names a tool begins another call, rather than naming this one's once more."""
    if call_id and known.id:
        return call_id != known.id
    return not call_id and _is_whole("".join(known.arguments))


def _is_whole(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _tell(call: _Call) -> Iterator[Piece]:
    call.told = True
    yield Called(call.place, call.id or invented_id(call.place), call.name, dict(call.more))
    if call.arguments:
        yield Argued(call.place, "".join(call.arguments))

"""What is the same message, the same history, the next history? Pure arithmetic over hashes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import blake2b
from typing import Any

SIZE = 16
"""Bytes of a hash. 128 bits: no two of a thousand billion messages meet by chance."""

_UNSAID = "cache_control"  # a client moves this mark to its newest messages; it says nothing
_SPELL = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_SORTED = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def spelled(message: Mapping[str, Any]) -> bytes:
    """The message as bytes, in the order its keys came in."""
    return _SPELL.encode(message).encode("utf-8", "surrogatepass")


def read_back(body: bytes) -> Any:
    """What `spelled` spelled."""
    return json.loads(body.decode("utf-8", "surrogatepass"))


def digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=SIZE).digest()


def fingerprint(message: Mapping[str, Any]) -> bytes:
    """The same for two messages that say the same, whatever the order of their keys and wherever cache marks stand."""
    if len(message) == 2:  # a role and a text, as most are: no need to spell it out
        role, content = message.get("role"), message.get("content")
        if type(role) is str and type(content) is str:
            return digest(f"{role}\0{content}".encode("utf-8", "surrogatepass"))
    text = _SORTED.encode(message)
    if _UNSAID in text:
        text = _SORTED.encode(_without_marks(message))
    return digest(text.encode("utf-8", "surrogatepass"))


def link(chain: bytes, print_: bytes) -> bytes:
    """The running hash behind one more message. It starts from nothing: `b""`."""
    return digest(chain + print_)


def links(chain: bytes, prints: Iterable[bytes]) -> list[bytes]:
    """The running hash behind each of several more."""
    found = []
    for print_ in prints:
        chain = link(chain, print_)
        found.append(chain)
    return found


@dataclass(frozen=True, slots=True)
class Keep:
    """Message `new` of the list is message `old` of what is known."""

    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Revise:
    """Message `new` of the list stands where `old` stood: it was edited."""

    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Message `old` is no longer there."""

    old: int


@dataclass(frozen=True, slots=True)
class Insert:
    """Message `new` was not there before."""

    new: int


Step = Keep | Revise | Drop | Insert


def line_up(known: Sequence[bytes], handed: Sequence[bytes], same_role: Sequence[Sequence[str]]) -> list[Step]:
    """How a list that was handed back differs from what is known, as steps in the order of the list.

    `same_role` has the roles of both: an edit changes what someone said, not who said it.
    """
    steps: list[Step] = []
    for tag, i, j, k, l in SequenceMatcher(None, known, handed, autojunk=False).get_opcodes():  # noqa: E741
        if tag == "equal":
            steps += [Keep(old, new) for old, new in zip(range(i, j), range(k, l), strict=True)]
            continue
        old, new = list(range(i, j)), list(range(k, l))
        while old and new and same_role[0][old[0]] == same_role[1][new[0]]:
            steps.append(Revise(old.pop(0), new.pop(0)))
        steps += [Drop(place) for place in old]
        steps += [Insert(place) for place in new]
    return steps


def pointers(known: Sequence[bytes], wanted: Sequence[bytes]) -> list[int | None]:
    """For each wanted message its place among the known ones, in order; None for one that is new."""
    found: list[int | None] = []
    start = 0
    places: dict[bytes, list[int]] = {}
    for place, print_ in enumerate(known):
        places.setdefault(print_, []).append(place)
    for print_ in wanted:
        here = next((place for place in places.get(print_, ()) if place >= start), None)
        if here is not None:
            start = here + 1
        found.append(here)
    return found


def _without_marks(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_marks(inner) for key, inner in value.items() if key != _UNSAID}
    if isinstance(value, list):
        return [_without_marks(inner) for inner in value]
    return value

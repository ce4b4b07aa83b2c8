"""Which conversations were lately heard? Their bytes are kept, so that the next request is known by a look."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from clew.facts.usage import Usage

TAIL = 64
"""Bytes before a boundary that are looked at first: they tell most conversations apart."""
BOUNDARIES = 6
"""Ends of earlier requests that are remembered of one conversation: a client that moves a mark, or edits what it said
last, is known by one of them."""

Scope = tuple[str, str, str]
"""Whose, in which dialect, and under which name its client calls it; a talk is known in its scope alone."""


class Boundary(NamedTuple):
    """Where the list of a request ended."""

    end: int
    """In the bytes."""
    tail: bytes
    """The last of them."""
    items: int
    """How many items stand before it."""


@dataclass(eq=False)
class Talk:
    """A conversation as its client last sent it."""

    conversation: str
    scope: Scope
    body: bytes = b""
    """The last that was answered. It is looked at in place: a copy of half a megabyte costs more than all the rest."""
    rest: bytes = b""
    """What stands in it behind the list."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Everything but the conversation."""
    before: dict[str, Any] = field(default_factory=dict)
    """Of these, what stood before it."""
    ends: tuple[Boundary, ...] = ()
    """The newest last."""
    reply: str = ""
    """The provider's id of the last reply."""
    usage: Usage | None = None
    """What the provider last reported."""

    @property
    def items(self) -> int:
        """How many the list had."""
        return self.ends[-1].items if self.ends else 0

    @property
    def weight(self) -> int:
        """Bytes it takes up, about."""
        return len(self.body) + len(self.rest) + 2_000

    def advance(self, body: bytes, end: int, items: int, fields: dict[str, Any], *, shared: int) -> None:
        """The client has sent this body, which is as before up to `shared`: the talk stands there now."""
        known = [known for known in self.ends if known.end <= min(shared, end - 1)]
        self.body, self.rest, self.fields = body, body[end:], fields
        self.ends = (*known[1 - BOUNDARIES :], Boundary(end, body[max(end - TAIL, 0) : end], items))


class Talks:
    """The conversations lately heard; the least recently used give way."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._weight = 0
        self._rows: dict[Scope, _Row] = {}
        self._kept: OrderedDict[tuple[str, str], tuple[Talk, bytes, int]] = OrderedDict()
        """By owner and conversation: the talk, the body it is filed under, its weight; the newest last."""

    @property
    def weight(self) -> int:
        """Bytes they take up."""
        return self._weight

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, scope: Scope, body: bytes) -> tuple[Talk, Boundary] | None:
        """The talk that shares the longest known beginning with a body, and where that ends."""
        row = self._rows.get(scope)
        best: tuple[Talk, Boundary] | None = None
        for talk in row.around(body) if row else ():
            found = shared(talk, body)
            if found and (best is None or _rank(talk, found, body) > _rank(*best, body)):
                best = talk, found
        return best

    def named(self, owner: str, conversation: str) -> Talk | None:
        """A conversation that is asked for by its id."""
        kept = self._kept.get((owner, conversation))
        return kept[0] if kept else None

    def keep(self, talk: Talk) -> None:
        """Remember a talk as it now is, as the newest."""
        name = talk.scope[0], talk.conversation
        if name in self._kept:
            self._drop(name)
        self._kept[name] = talk, talk.body, talk.weight
        self._weight += talk.weight
        self._rows.setdefault(talk.scope, _Row()).add(talk)
        while self._weight > self._most and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _drop(self, name: tuple[str, str]) -> None:
        talk, body, weight = self._kept.pop(name)
        self._weight -= weight
        row = self._rows[talk.scope]
        row.remove(talk, body)
        if not row.talks:
            del self._rows[talk.scope]


class _Row:
    """The talks of one scope in the order of their bytes: whichever begins most like a body stands beside it."""

    NEAR = 2

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.talks: list[Talk] = []

    def around(self, body: bytes) -> list[Talk]:
        place = bisect_right(self.bodies, body)
        return self.talks[max(place - self.NEAR, 0) : place + self.NEAR]

    def add(self, talk: Talk) -> None:
        place = bisect_right(self.bodies, talk.body)
        self.bodies.insert(place, talk.body)
        self.talks.insert(place, talk)

    def remove(self, talk: Talk, body: bytes) -> None:
        place = self.talks.index(talk, bisect_left(self.bodies, body))
        del self.bodies[place], self.talks[place]


def shared(talk: Talk, body: bytes) -> Boundary | None:
    """The last boundary of a talk up to which a body is the same."""
    for boundary in reversed(talk.ends):
        looks_alike = body.startswith(boundary.tail, boundary.end - len(boundary.tail))
        if looks_alike and body.startswith(memoryview(talk.body)[: boundary.end]):
            return boundary
    return None


def _rank(talk: Talk, boundary: Boundary, body: bytes) -> tuple[int, bool]:
    return boundary.end, body.endswith(talk.rest)

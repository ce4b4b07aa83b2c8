"""How does a list that a client sends stand to the one that is known? It goes on, or was edited, forked, compacted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Continues:
    """It begins with all that is known."""


@dataclass(frozen=True, slots=True)
class Again:
    """It is what is known, or a beginning of it: asked once more."""


@dataclass(frozen=True, slots=True)
class Edited:
    """What is known was changed in places, and goes on after them."""


@dataclass(frozen=True, slots=True)
class Forked:
    """It leaves what is known behind so many messages, and says something else from there on."""

    at: int


@dataclass(frozen=True, slots=True)
class Compacted:
    """The client made something shorter of what is known; behind `kept` messages it says something new."""

    kept: int


@dataclass(frozen=True, slots=True)
class Strange:
    """They have nothing in common."""


Relation: TypeAlias = Continues | Again | Edited | Forked | Compacted | Strange


def relate(known: Sequence[bytes], handed: Sequence[bytes]) -> Relation:
    """By the prints of both.

    An edit leaves something known behind the place where it was made, a fork does not; a compaction leaves less than
    half of what there was, and it was the last message that stayed.

    >>> a, b, c, d, x, y = (bytes([n]) for n in range(6))
    >>> relate([a, b], [a, b, c]), relate([a, b, c], [a, x, c, d]), relate([a, b, c], [a, b, x])
    (Continues(), Edited(), Forked(at=2))
    >>> relate([a, b, c, d], [x, d, y])
    Compacted(kept=2)
    """
    shared = next(
        (place for place, (old, new) in enumerate(zip(known, handed, strict=False)) if old != new),
        min(len(known), len(handed)),
    )
    if shared == len(known):
        return Continues() if len(handed) > shared else Again()
    if shared == len(handed):
        return Again()
    left = set(handed[shared:])
    survived = sum(print_ in left for print_ in known[shared:])
    if not survived:
        return Forked(shared) if shared else Strange()
    if 2 * (shared + survived) < len(known) + 1 and known[-1] in left:
        return Compacted(len(handed) - handed[::-1].index(known[-1]))
    return Edited()

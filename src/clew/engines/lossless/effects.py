"""What the lossless engine asks for besides a summary: rows of the log, nodes, and to publish one."""

from __future__ import annotations

from dataclasses import dataclass

from clew.core.effects import Effect
from clew.facts.node import Draft, Node, Row


@dataclass(frozen=True, slots=True)
class Rows(Effect[tuple[Row, ...]]):
    """The messages between two places, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Sources(Effect[tuple[Node, ...]]):
    """What a node over nodes was made from, oldest first."""

    id: str


@dataclass(frozen=True, slots=True)
class Ailing(Effect[tuple[Node, ...]]):
    """Nodes whose text is to be written again, the deepest first."""

    limit: int
    degraded: bool
    """Also those that are only degraded: there is someone who can write a better text."""


@dataclass(frozen=True, slots=True)
class Publish(Effect[Node]):
    """Make this node part of the conversation, in one transaction that checks what it covers."""

    draft: Draft

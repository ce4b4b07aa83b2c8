"""What the engine looks at: the messages handed in, each with its place in the log, and the nodes there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.core.speaker import is_clews_own
from clew.facts.messages import Message
from clew.facts.node import Node


@dataclass(frozen=True, slots=True)
class Shown:
    """One message that was handed in."""

    message: Message
    place: int | None
    """Where it stands in the log. None: clew wrote it, or it stands for another in part."""
    id: str | None = None
    """What the model may call it; None where it has no place."""

    @property
    def is_own(self) -> bool:
        """Whether clew wrote it: it is made anew, and covers nothing."""
        return self.place is None and is_clews_own(self.message)


@dataclass(frozen=True, slots=True)
class Seen:
    """Where a pass begins."""

    shown: tuple[Shown, ...]
    nodes: tuple[Node, ...] = ()
    """Those that no other stands for, oldest first."""

    @property
    def frontier(self) -> int:
        """The last place that nodes cover; -1: none."""
        return frontier_of(self.nodes)

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(one.message for one in self.shown)


def frontier_of(nodes: Sequence[Node]) -> int:
    return nodes[-1].last if nodes else -1

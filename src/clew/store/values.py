"""What the store hands out: frozen values, nothing of the database in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from clew.facts.session import Origin

Mark = tuple[int, int]
"""A moment in the log: everything committed up to it has been seen. (0, 0) is before the first message."""
START: Mark = (0, 0)


class Stored(NamedTuple):
    """One message of the log, in its place."""

    seq: int
    """Its number in the whole store; never used twice."""
    conversation: str
    place: int
    """Where it stands in its conversation, from 0."""
    at: float
    """When it was written, in seconds since 1970."""
    role: str
    tool: str
    """The tool whose result it is; empty for anything else."""
    derived: bool
    """Whether clew wrote it (a summary, a shortened copy), not someone in the conversation."""
    standing: bool
    """Whether it is part of the conversation as it now reads: not edited since, not taken back, not derived."""
    message: dict[str, Any]
    """As it came, unknown fields and all."""
    blobs: tuple[str, ...] = ()
    """Big output it points to, stored outside."""


class Feed(Protocol):
    """The log as its index reads it: in the order of commits, so that what was seen once is never missed."""

    def after(self, mark: Mark, limit: int) -> Sequence[tuple[Mark, Stored]]:
        """The next messages behind a mark, each with the mark that stands behind it."""

    def behind(self, mark: Mark) -> int:
        """How many messages there are behind a mark."""

    def fetch(self, seqs: Sequence[int]) -> Mapping[int, Stored]:
        """These messages, whichever of them there are."""

    def read_blob(self, name: str) -> bytes:
        """All of a blob."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a person calls a conversation, however many sessions it took."""

    id: str
    title: str
    cwd: str
    model: str
    tags: tuple[str, ...]
    source: str
    """Where it came from: the door it was had through, or the file it was imported from."""
    origin: Origin
    parent: str | None
    """The session it was branched or delegated from."""
    created: float
    tip: str
    """The session in which it goes on."""
    messages: int
    sessions: int
    active: float
    """When something was last said in it."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One stretch of a conversation between two compactions."""

    id: str
    conversation: str
    parent: str | None
    origin: Origin
    number: int
    """How many sessions of the conversation stand before it."""
    system: str
    opened: float
    ended: float | None
    end_reason: str | None
    state: Mapping[str, Any]
    """What the turn has to know again after a restart: the last measure, fruitless compactions."""

"""What a summary node is: a stretch of a conversation, the text that stands for it, and what it was made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from clew.facts.messages import Message

RULES = "rules"
"""Who made a text that no model wrote."""


class Row(NamedTuple):
    """One message of the log, in its place."""

    place: int
    """Where it stands in the whole conversation, counted from 0; what a branch shares with another comes first."""
    hash: bytes
    """Of what it says."""
    at: float
    message: Message

    @property
    def id(self) -> str:
        return row_id(self.place, self.hash)


def row_id(place: int, print_: bytes) -> str:
    """How a message is named to the model: its place, and a little of its hash, by which it is known if it moved."""
    return f"m{place}-{print_.hex()[:4]}"


def made_from(prints: Iterable[bytes]) -> bytes:
    """What a leaf was made from: its messages' hashes, in their order. An edit of any of them makes it another."""
    return sha256(b"".join(prints)).digest()[:16]


@dataclass(frozen=True, slots=True)
class Draft:
    """A node that is to be published: a leaf over messages, or, with `sources`, one over other nodes."""

    first: int
    last: int
    """The places it covers, both included."""
    rows: int
    """How many messages that are: places of messages that were taken back stay empty."""
    text: str
    tokens: int
    made_by: str = RULES
    degraded: bool = False
    """No model wrote it although one should have, or it stands on a text like that: it is written again later."""
    prints: bytes = b""
    """Of a leaf: `made_from` its messages."""
    sources: tuple[str, ...] = ()
    """Of a node over nodes: their ids, oldest first."""
    replaces: str | None = None
    """The node whose text this is a better one for."""


@dataclass(frozen=True, slots=True)
class Node:
    """A published node. Its text never changes; a better one is another node that replaces it."""

    id: str
    depth: int
    """0 is a leaf."""
    first: int
    last: int
    rows: int
    text: str
    tokens: int
    made_by: str
    degraded: bool
    stale: bool
    """Messages it covers were edited since it was written."""
    created: float
    archived: float | None = None
    parent: str | None = None
    """The node that stands for it now; None: it stands for itself."""
    replaced_by: str | None = None

"""What can go wrong on the way to a provider and back?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clew.facts.exchange import Failure, Unavailable

At: TypeAlias = Literal["start", "headers", "middle"]
"""Before anything was sent, right after the headers, or half way through the reply."""


OVERLOADED = Unavailable(why="Overloaded", status=529)


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is torn down (TCP RST)."""

    at: At = "start"


@dataclass(frozen=True, slots=True)
class HangUp:
    """The connection is closed before the reply is whole (TCP FIN)."""

    at: At = "middle"


@dataclass(frozen=True, slots=True)
class Stall:
    """Nothing comes for a while; then all is well."""

    seconds: float
    at: At = "middle"


@dataclass(frozen=True, slots=True)
class Drip:
    """The reply comes slowly: a pause before every chunk of it."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Status:
    """An error of the provider, or of what stands before it: 500, 502, 503, 529."""

    code: int
    html: bool = False
    """The page of a proxy instead of the provider's JSON."""
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """JSON that breaks off; in a stream, one event of it."""


@dataclass(frozen=True, slots=True)
class HalfStream:
    """The reply stops half way, and the response ends as if that were all."""


@dataclass(frozen=True, slots=True)
class BrokenStream:
    """The stream says half way that it has failed."""

    failure: Failure = OVERLOADED


@dataclass(frozen=True, slots=True)
class Empty:
    """Status 200 and nothing behind it."""


@dataclass(frozen=True, slots=True)
class ContentType:
    """The reply is called something else than it is."""

    value: str = "text/plain"


@dataclass(frozen=True, slots=True)
class KeepAlives:
    """Comments and pings between the events, doubled and where none are due."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """The bytes come cut in pieces of this size, whatever they say: 1, or more than there are."""

    size: int


Fault: TypeAlias = (
    Reset
    | HangUp
    | Stall
    | Drip
    | Status
    | Malformed
    | HalfStream
    | BrokenStream
    | Empty
    | ContentType
    | KeepAlives
    | Chunks
)

HARMLESS = (Stall, Drip, KeepAlives, Chunks)
"""After these the reply has arrived whole. After any other it is still to be said, and a second try is told it."""

"""What a dialect is: both directions of requests, replies, streams and errors, in one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from clew.facts.exchange import Failure, Prompt, Reply
from clew.facts.pieces import Piece
from clew.wire.sse import Event


class Reader(Protocol):
    """Reads a provider's stream, one event after another."""

    @property
    def ended(self) -> bool:
        """Whether the reply has come to its end; a stream that stops before that broke off."""
        ...

    def feed(self, event: Event) -> list[Piece]: ...


class Writer(Protocol):
    """Writes a stream as the provider would, one piece after another."""

    def feed(self, piece: Piece) -> list[Event]: ...

    def close(self) -> list[Event]:
        """The events with which the stream ends."""
        ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of provider spells an exchange."""

    name: str
    path: str
    """Where requests go, behind the base URL, which ends in /v1."""
    encode: Callable[[Prompt], dict[str, Any]]
    decode: Callable[[Mapping[str, Any]], Prompt]
    encode_reply: Callable[[Reply], dict[str, Any]]
    decode_reply: Callable[[Mapping[str, Any]], Reply]
    reader: Callable[[], Reader]
    writer: Callable[[Prompt], Writer]
    """For the prompt that is being answered: what the stream tells depends on what was asked for."""
    encode_failure: Callable[[Failure], tuple[int, dict[str, Any]]]
    """The status and the body with which the provider would say it."""

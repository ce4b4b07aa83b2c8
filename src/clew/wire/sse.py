"""Server-sent events: bytes in, events out, however the bytes are cut."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream."""

    data: str
    name: str = ""
    """Empty: the stream did not name it."""

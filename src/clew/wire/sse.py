"""Server-sent events: bytes in, events out, however the bytes are cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARK = b"\xef\xbb\xbf"
"""The byte order mark that may stand before everything else."""
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream."""

    data: str
    name: str = ""
    """Empty: the stream did not name it."""


class EventReader:
    """Reads a stream's bytes as they arrive.

    >>> reader = EventReader()
    >>> reader.feed(b"event: ping\\nda"), reader.feed(b"ta: {}\\n\\n")
    ([], [Event(data='{}', name='ping')])
    """

    def __init__(self) -> None:
        self._opened: list[bytes] = []  # what has come of the line that is not yet ended
        self._first = True
        self._after_return = False  # a line feed that comes now belongs to the line before
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that these bytes complete."""
        if self._after_return:
            self._after_return = not chunk
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return []
        self._after_return = chunk.endswith(b"\r")
        return [event for line in self._lines(chunk) for event in self._take(line)]

    def close(self) -> list[Event]:
        """The last event, when the stream ended without the blank line behind it."""
        line = b"".join(self._opened)
        self._opened.clear()
        return [event for end in (line, b"") for event in self._take(end)]

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that end in this chunk; what is left over waits for the next."""
        lines = chunk.splitlines()
        rest = b"" if chunk.endswith((b"\r", b"\n")) else lines.pop()
        if lines:
            lines[0] = b"".join((*self._opened, lines[0]))
            self._opened.clear()
        if rest:
            self._opened.append(rest)
        yield from lines

    def _take(self, line: bytes) -> Iterator[Event]:
        if self._first:
            self._first, line = False, line.removeprefix(_MARK)
        if not line:
            if self._data:
                yield Event("\n".join(self._data), self._name)
            self._name, self._data = "", []
            return
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(_text(value))
        elif field == b"event":
            self._name = _text(value)


def spell(event: Event) -> bytes:
    """The bytes that say this event."""
    lines = [f"event: {event.name}"] if event.name else []
    lines += [f"data: {line}" for line in _LINE_END.split(event.data)]
    # What UTF-8 cannot carry is half of a surrogate pair; in JSON, which data is, its escape says the same.
    return "\n".join((*lines, "", "")).encode("utf-8", "backslashreplace")


def _text(value: bytes) -> str:
    return value.removeprefix(b" ").decode("utf-8", "replace")

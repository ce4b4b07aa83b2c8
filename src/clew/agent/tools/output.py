"""How is output of any length kept in little room? Its beginning, its end, and how much lay between."""

from __future__ import annotations

HEAD = 15_000
TAIL = 15_000
"""Bytes kept of the beginning and of the end; errors mostly stand at the end."""


class Kept:
    """Output as it comes in; `str` of it is what the model sees."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self._length = 0

    def add(self, data: bytes) -> None:
        self._length += len(data)
        room = HEAD - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-TAIL:]

    def __str__(self) -> str:
        left_out = self._length - len(self._head) - len(self._tail)
        if not left_out:
            return _plain(self._head + self._tail)
        return (
            f"{_plain(self._head)}\n[… {left_out:,} bytes left out here; run it again with | head, | tail or | grep, "
            f"or send it to a file and read that …]\n{_plain(self._tail)}"
        )


def _plain(data: bytes) -> str:
    return data.decode("utf-8", "replace")

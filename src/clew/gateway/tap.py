"""What passed by, kept for whoever reads it later: bounded, and never in the way."""

from __future__ import annotations

MOST = 8 * 1024 * 1024
"""Bytes of one answer that are kept whole. Of a longer one only the end is, where its usage stands."""
END = 64 * 1024


class Tap:
    """The bytes of one answer."""

    __slots__ = ("_chunks", "_size", "is_whole")

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self.is_whole = True
        """Whether nothing was dropped."""

    def take(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size > (MOST if self.is_whole else 4 * END):
            self.is_whole = False
            end = b"".join(self._chunks)[-END:]
            self._chunks, self._size = [end], len(end)

    def __len__(self) -> int:
        return self._size

    def read(self) -> bytes:
        return b"".join(self._chunks)

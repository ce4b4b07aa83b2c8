"""Who is let in before a request is whole? uvicorn's protocol, with bounds on the size and the slowness of its head."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

DOOR = "clew.door"
"""Where the application finds the connection of a request, in the state of its scope."""
MOST_HEAD = 64 * 1024
"""Bytes of a request's line and headers."""
SLOWEST_HEAD = 20.0
"""Seconds that a client has for them."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Door(HttpToolsProtocol):
    """One connection. The application finds it in the scope, to be told when the client leaves, and to hang up."""

    _in_head = True
    _size = 0
    _patience: asyncio.TimerHandle | None = None
    when_gone: Callable[[], object] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.app_state = {**self.app_state, DOOR: self}
        self._patience = self.loop.call_later(SLOWEST_HEAD, self._refuse, _TOO_SLOW)
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._calm()
        super().connection_lost(exc)
        if self.when_gone is not None:
            self.when_gone()

    def watch(self, when_gone: Callable[[], object] | None) -> None:
        """Have this called when the client leaves. Reading goes on for it: a body that was large has paused it."""
        self.when_gone = when_gone
        self.flow.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._size += len(data)
        super().data_received(data)
        if self._in_head and self._size > MOST_HEAD:
            self._refuse(_TOO_LARGE)

    def on_message_begin(self) -> None:
        self._in_head, self._size = True, 0
        if self._patience is None:
            self._patience = self.loop.call_later(SLOWEST_HEAD, self._refuse, _TOO_SLOW)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._calm()
        self._size = len(self.url) + sum([len(name) + len(value) for name, value in self.headers])
        if self._size > MOST_HEAD:
            raise ValueError("the head is too large")  # the parser stops, and `send_400_response` says why
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        if self._size > MOST_HEAD:
            self._refuse(_TOO_LARGE)
        else:
            super().send_400_response(msg)

    def _refuse(self, answer: bytes) -> None:
        self._calm()
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()

    def _calm(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

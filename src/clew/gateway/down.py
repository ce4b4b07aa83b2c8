"""The way down to one client: head, chunks, pings, an end; or an error in its dialect and a line that goes dead."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from clew.gateway.headers import Headers
from clew.gateway.refusals import Refusal, event_of, spelled
from clew.wire.dialect import Dialect

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_COMMENT = b": keepalive\n\n"
_PINGS = {"anthropic": b'event: ping\ndata: {"type": "ping"}\n\n'}
_STREAM: Headers = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Down:
    """One answer on its way to the client."""

    __slots__ = ("_hang_up", "_last", "_send", "dialect", "headers", "recorded", "request", "sent", "status", "was_cut")

    def __init__(self, send: Send, dialect: Dialect, request: str, hang_up: Callable[[], None]) -> None:
        """`hang_up` closes the connection once everything written has left."""
        self._send = send
        self._hang_up = hang_up
        self._last = b"\n\n"
        self.dialect = dialect
        self.request = request
        self.headers: Headers = [(b"x-clew-request", request.encode())]
        """Clew's own, said beside the provider's."""
        self.status = 0
        """What was said. 0: nothing yet."""
        self.sent = 0
        """Bytes of the body."""
        self.was_cut = False
        """Whether it was ended as no whole answer would."""
        self.recorded = False
        """Whether the recorder tells the log of it."""

    async def start(self, status: int, headers: Headers) -> None:
        self.status = status
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def chunk(self, data: bytes) -> None:
        self.sent += len(data)
        self._last = data
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self, data: bytes = b"") -> None:
        self.sent += len(data)
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    @property
    def between_events(self) -> bool:
        """Whether something of our own may be said here."""
        return self._last.endswith((b"\n\n", b"\r\n\r\n"))

    async def ping(self) -> None:
        """Tell a client that waits for a stream that someone is there. Before the head this says that all is well."""
        if not self.status:
            await self.start(200, [*_STREAM, *self.headers])
        await self._send(
            {"type": "http.response.body", "body": _PINGS.get(self.dialect.name, _COMMENT), "more_body": True}
        )

    async def refuse(self, refusal: Refusal) -> None:
        """Say no: with a status where none was said; else in the stream, which then ends as no whole one would."""
        if not self.status:
            body, headers = spelled(refusal, self.dialect, self.request)
            await self.start(refusal.status, [*headers, *self.headers[1:]])
            await self.end(body)
            return
        await self.cut(event_of(refusal, self.dialect, self.request))

    async def cut(self, last: bytes = b"") -> None:
        """End as no whole answer would; a last word only where an event may stand."""
        if last and self.between_events:
            await self.chunk(last)
        self.was_cut = True
        self._hang_up()

"""The body of a request: all of it, unless it is too large, too slow, or its sender leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from clew.gateway.refusals import Refusal

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Gone(Exception):
    """The client left before it had said everything."""


async def read_body(receive: Receive, stated: str, *, most: int, slowest: float) -> bytes:
    """All of it; `stated` is the length that its head tells. Refusal when it is too large or stops coming."""
    if stated.isdigit() and int(stated) > most:
        raise too_large(most)
    parts: list[bytes] = []
    size, more = 0, True
    with _Patience(slowest) as patience:
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            parts.append(message.get("body", b""))
            size, more = size + len(parts[-1]), message.get("more_body", False)
            if size > most:
                raise too_large(most)
            if more:
                patience.renew()
    return parts[0] if len(parts) == 1 else b"".join(parts)


def too_large(most: int) -> Refusal:
    return Refusal(413, f"the request has more than the {most:,} bytes that are taken here", is_final=True)


class _Patience:
    """Cancels the task after so many seconds, and says no in its place; a quarter of what `asyncio.timeout` costs."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._late = False

    def __enter__(self) -> _Patience:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._timer = self._loop.call_later(self._seconds, self._end)
        return self

    def renew(self) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_later(self._seconds, self._end)

    def _end(self) -> None:
        self._late = True
        if self._task:
            self._task.cancel()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._timer.cancel()
        if self._late and self._task and isinstance(error, asyncio.CancelledError):
            self._task.uncancel()
            raise Refusal(408, f"nothing more of the request came for {self._seconds:g} s") from None

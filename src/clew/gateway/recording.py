"""The gateway's end of the line to its scribe: what passed is handed over at once, and no client waits for the disk."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from clew.gateway.record import Record, Written
from clew.gateway.scribe import STORE, frame, unframed

MOST_WAITING = 5_000
MOST_BYTES = 128 * 1024 * 1024
"""Of what waits to be written: beyond that new requests wait."""

TOGETHER = 0.005
"""Seconds in which records are gathered before they are handed over."""
REVIVAL = 1.0
"""Seconds before another scribe takes the place of one that is gone."""

Told = Callable[[Any, Written], None]
"""Told of each exchange once it is on the disk, or could not be put there; with what it was put with."""


_LOST = Written(0, (0,) * 6, None, "", "the scribe is gone")


class Recorder:
    """Hands records over, and hears what came of them."""

    def __init__(self, store_url: str, told: Told) -> None:
        self._url = store_url
        self._told = told
        self._process: subprocess.Popen[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self._under_way: dict[int, tuple[Any, int]] = {}
        self._pending: list[tuple[Any, ...]] = []
        self._bytes = 0
        self._number = 0
        self._settling: list[tuple[int, asyncio.Future[None]]] = []
        self._gone = asyncio.Event()
        self._ready: asyncio.Future[bool] | None = None
        self._closing = False
        self._reviving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to write. RuntimeError when there is no one to do it."""
        ours, theirs = socket.socketpair()
        self._gone.clear()
        with theirs:
            command = [sys.executable, "-m", "clew.gateway.scribe", str(theirs.fileno())]
            environment = {**os.environ, STORE: self._url}
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=environment
            )
        loop = asyncio.get_running_loop()
        self._ready = loop.create_future()
        self._transport, _ = await loop.create_connection(lambda: _Line(self._hear, self._lost), sock=ours)
        if not await self._ready:
            raise RuntimeError("the scribe could not begin; its own words stand above")

    @property
    def is_gone(self) -> bool:
        """Whether no one writes at the moment."""
        return self._gone.is_set()

    @property
    def waiting(self) -> int:
        """Exchanges that are not yet on the disk."""
        return len(self._under_way)

    @property
    def is_full(self) -> bool:
        return len(self._under_way) >= MOST_WAITING or self._bytes >= MOST_BYTES

    async def room(self) -> None:
        """Wait until there is room for another exchange."""
        while self.is_full and not self._gone.is_set():
            await asyncio.sleep(0.01)

    def put(self, record: Record, about: Any) -> None:
        """Have it written, soon; `about` is handed back with what came of it."""
        if self._transport is None or self._gone.is_set():
            self._told(about, _LOST)
            return
        self._number += 1
        size = len(record.body) + len(record.answer)
        self._under_way[self._number] = about, size
        self._bytes += size
        if not self._pending:
            asyncio.get_running_loop().call_later(TOGETHER, self._hand_over)
        self._pending.append((self._number, *record[1:]))

    def _hand_over(self) -> None:
        """What came within a moment goes in one piece: it costs half."""
        pending, self._pending = self._pending, []
        if pending and self._transport is not None and not self._gone.is_set():
            self._transport.write(frame(pending))

    async def settle(self) -> None:
        """Wait until all that was put so far is on the disk."""
        if self._under_way and self._transport is not None and not self._gone.is_set():
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._settling.append((self._number, done))
            self._hand_over()
            self._transport.write(frame(None))
            await done

    async def close(self) -> None:
        """Have everything written, and end."""
        self._closing = True
        if self._transport is not None and self._process is not None:
            await self.settle()
            self._transport.close()
            await self._gone.wait()
            await asyncio.to_thread(self._process.wait)

    def _hear(self, done: Any) -> None:
        if self._ready and not self._ready.done():
            self._ready.set_result(True)
        for written in (Written(*told) for told in done):
            about, size = self._under_way.pop(written.number)
            self._bytes -= size
            self._told(about, written)
        self._release(min(self._under_way, default=self._number + 1))

    def _lost(self) -> None:
        """The scribe is gone: told to end, or killed. Then another takes its place; what it had not written is told as
        lost, and the clients send most of that again."""
        self._gone.set()
        if not self._closing:
            asyncio.get_running_loop().call_later(REVIVAL, self._revive)
        if self._ready and not self._ready.done():
            self._ready.set_result(False)
        for about, _ in self._under_way.values():
            self._told(about, _LOST)
        self._under_way.clear()
        self._pending.clear()
        self._release(self._number + 1)

    def _revive(self) -> None:
        if not self._closing and self._process is not None:
            self._process.wait()
            self._reviving = asyncio.get_running_loop().create_task(self.start())
            self._reviving.add_done_callback(lambda task: task.exception())

    def _release(self, open_from: int) -> None:
        """Whoever waited for what stands before this number need wait no more."""
        for mark, waiting in self._settling:
            if mark < open_from and not waiting.done():
                waiting.set_result(None)
        self._settling = [(mark, waiting) for mark, waiting in self._settling if not waiting.done()]


class _Line(asyncio.Protocol):
    def __init__(self, hear: Callable[[Any], None], gone: Callable[[], None]) -> None:
        self._hear, self._gone = hear, gone
        self._heard = bytearray()

    def data_received(self, data: bytes) -> None:
        self._heard += data
        for done in unframed(self._heard):
            self._hear(done)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._gone()

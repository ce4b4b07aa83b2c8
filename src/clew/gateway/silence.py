"""How long has nothing come? A client that waits is told that someone is there; a provider that is gone is given up."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from clew.gateway.down import Down


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds."""

    ping: float = 15.0
    """Of silence after which a client that waits for a stream hears from us."""
    first_byte: float = 600.0
    """Until the answer begins: a reply that is not streamed is written in full before its first byte."""
    idle: float = 300.0
    """Between two chunks of it: a provider that searches the web may be silent for minutes."""


class Silence:
    """Watches one answer, with one timer for all of it: a timeout around each chunk would cost as much as the chunk."""

    __slots__ = ("_down", "_last", "_loop", "_patience", "_task", "_timer", "begun", "late", "pinging", "streamed")

    def __init__(self, down: Down, patience: Patience, task: asyncio.Task[Any], *, streamed: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._down, self._patience, self._task = down, patience, task
        self._last = self._loop.time()
        self._timer = self._loop.call_later(patience.ping, self._look)
        self.streamed = streamed
        self.begun = False
        self.late = False
        """Whether the provider was given up, and the task cancelled for it."""
        self.pinging: asyncio.Task[None] | None = None
        """A ping under way: whoever has something to send waits for it."""

    def heard(self) -> None:
        """Something came."""
        self._last = self._loop.time()

    def end(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        quiet, ping = self._loop.time() - self._last, self._patience.ping
        if quiet >= (self._patience.idle if self.begun else self._patience.first_byte):
            self.late = True
            self._task.cancel()
            return
        if quiet < ping:
            self._timer = self._loop.call_later(ping - quiet, self._look)
            return
        if self.streamed and self._down.between_events and self.pinging is None:
            self.pinging = self._loop.create_task(self._down.ping())
            self.pinging.add_done_callback(self._pinged)
        self._timer = self._loop.call_later(ping, self._look)

    def _pinged(self, _: asyncio.Task[None]) -> None:
        self.pinging = None

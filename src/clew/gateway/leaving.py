"""When a client leaves, whoever works for it stops: also before the provider has said a word."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from clew.gateway.body import Receive
from clew.gateway.door import DOOR, Door
from clew.gateway.down import Down

GOING = 1.0
"""Seconds for a line that was cut to be gone."""


class Leaving:
    """While the block runs, the task is cancelled when its client leaves.

    Sending tells nothing: servers swallow what is sent to no one. Our own door calls; at any other one a task waits.
    """

    def __init__(self, scope: Mapping[str, Any], receive: Receive, down: Down) -> None:
        self._door: Door | None = scope.get("state", {}).get(DOOR)
        self._receive, self._down = receive, down
        self._waiting: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        if self._door is not None:
            self._door.watch(task.cancel)
        else:
            self._waiting = asyncio.create_task(self._wait(task))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._door is not None:
            self._door.when_gone = None
        elif self._waiting is not None:
            self._waiting.cancel()
        if self._down.was_cut:  # and gone, so that the server does not take it for a slip of ours
            async with asyncio.timeout(GOING):
                while (await self._receive())["type"] != "http.disconnect":
                    pass

    async def _wait(self, task: asyncio.Task[Any]) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        task.cancel()

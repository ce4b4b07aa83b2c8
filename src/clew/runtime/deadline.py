"""How long may the next wait for the network be? One deadline over all the waits of an exchange."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


class Late(Exception):
    """What was waited for did not come in time."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment at which an exchange is given up, on this clock."""

    at: float
    clock: Callable[[], float]

    @property
    def left(self) -> float:
        """Seconds."""
        return self.at - self.clock()

    async def within(self, seconds: float, wish: Callable[[], Awaitable[T]], missed: str) -> T:
        """What the wish brings, if it comes in so many seconds and before the deadline; `missed` names it if not."""
        left = self.left
        if left > 0:
            try:
                async with asyncio.timeout(min(seconds, left)):
                    return await wish()
            except TimeoutError:
                pass
        raise Late(f"{missed} within {seconds:g} s" if seconds < left else f"{missed} before the deadline")

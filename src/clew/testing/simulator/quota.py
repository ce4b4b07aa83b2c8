"""How many tokens has a key left in this minute?"""

from __future__ import annotations

from collections import deque
from math import ceil

MINUTE = 60.0


class Quota:
    """Tokens per minute, over the last sixty seconds."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self._taken: deque[tuple[float, int]] = deque()

    def spent(self, now: float) -> int:
        while self._taken and self._taken[0][0] <= now - MINUTE:
            self._taken.popleft()
        return sum(tokens for _, tokens in self._taken)

    def wait(self, tokens: int, now: float) -> int | None:
        """Whole seconds until this many tokens may be used; None when they may be now."""
        over = self.spent(now) + tokens - self.tokens
        if over <= 0:
            return None
        for when, taken in self._taken:
            over -= taken
            if over <= 0:
                return max(1, ceil(when + MINUTE - now))
        return ceil(MINUTE)  # more at once than a minute has: waiting never helps

    def take(self, tokens: int, now: float) -> None:
        self._taken.append((now, tokens))

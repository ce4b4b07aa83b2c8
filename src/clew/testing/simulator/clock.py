"""What time is it for the simulated provider?"""

from __future__ import annotations

from time import monotonic


class Clock:
    """Runs as the world's does, and can be moved ahead.

    >>> clock = Clock()
    >>> clock.advance(300)
    >>> round(clock.now())
    300
    """

    def __init__(self) -> None:
        self._start = monotonic()
        self._ahead = 0.0

    def now(self) -> float:
        """Seconds since the simulator began."""
        return monotonic() - self._start + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += seconds

"""What windows providers really have: as they said themselves, when they refused a prompt."""

from __future__ import annotations

import time
from dataclasses import dataclass

from clew.store.database import Look, Work
from clew.store.log import word

SMALLEST, LARGEST = 1_024, 100_000_000
"""What can be a window at all, in tokens; anything else is a slip in an error's text."""


@dataclass(frozen=True, slots=True)
class LearnedWindow:
    """One model's window at one place."""

    endpoint: str
    model: str
    window: int
    said: str
    """The provider's words."""
    at: float


def learn(work: Work, endpoint: str, model: str, window: int, said: str) -> None:
    """Remember it if it is smaller than what is known: a limit that was once stated is not raised by another error."""
    if SMALLEST <= window <= LARGEST:
        work.run(
            "INSERT INTO learned_window (endpoint, model, size, said, at) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (endpoint, model) DO UPDATE SET size = excluded.size, said = excluded.said, at = excluded.at "
            "WHERE excluded.size < learned_window.size",
            (word(endpoint), word(model), window, word(said), time.time()),
        )


def learned(work: Look) -> list[LearnedWindow]:
    """All that were learned, the newest first."""
    rows = work.all("SELECT endpoint, model, size, said, at FROM learned_window ORDER BY at DESC, endpoint, model")
    return [LearnedWindow(*row) for row in rows]


def forget(work: Work, endpoint: str, model: str) -> bool:
    """A provider may have grown: what it once said no longer counts. Whether there was anything to forget."""
    return work.run("DELETE FROM learned_window WHERE endpoint = ? AND model = ?", (word(endpoint), word(model))) > 0

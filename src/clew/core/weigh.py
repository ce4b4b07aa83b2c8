"""How full the window is: what the provider last measured, plus what was counted since."""

from __future__ import annotations

from dataclasses import dataclass

from clew.core.ports import Setup
from clew.facts.session import Session

LOWEST, HIGHEST = 0.5, 4.0
"""A provider's count outside these multiples of ours is a report to doubt, such as a server that cut the prompt."""
SLOWNESS = 0.7
"""How much of the old factor a new report leaves: one odd turn does not swing the scale."""


@dataclass(frozen=True, slots=True)
class Weight:
    """Tokens in the window, and how we know."""

    tokens: int
    observed: bool
    """True: rests on a provider's report. False: an estimate alone."""


def weigh(session: Session, setup: Setup, factor: float = 1.0) -> Weight:
    """The weight of the next prompt. Costs the same for ten messages and for ten thousand."""
    measured = session.measured
    if measured is None:
        return Weight(round((setup.system_tokens + setup.tools_tokens + session.counted) * factor), observed=False)
    return Weight(measured.prompt + round(session.counted_since(measured.entries) * factor), observed=True)


def calibrate(factor: float, *, counted: int, reported: int) -> float:
    """The provider's tokens for one of ours, after another report."""
    if counted <= 0 or not LOWEST <= reported / counted <= HIGHEST:
        return factor
    return SLOWNESS * factor + (1 - SLOWNESS) * reported / counted


def was_cut(*, counted: int, reported: int) -> bool:
    """Whether the server seems to have read far less than was sent: local servers cut the front without a word."""
    return counted > 2_000 and reported < counted * LOWEST

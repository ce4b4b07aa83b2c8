"""What to do about a failure: each remedy changes exactly one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from clew.facts.exchange import (
    Failure,
    OutputTooLarge,
    PayloadTooLarge,
    PromptTooLong,
    RateLimited,
    Refused,
    Unavailable,
)

TIERS = (256_000, 128_000, 64_000, 32_000, 16_000, 8_000)
"""Windows in the field, tried downwards when a provider says "too long" without a number; guesses, never stored."""
SMALLEST_STATED = 1_024
"""A stated limit below this is a slip of the server's, such as a window minus max_tokens."""
PLAUSIBLE = 0.5
"""A prompt we weigh below this share of the window did not overflow it, whatever the error's words."""


@dataclass(frozen=True, slots=True)
class MakeRoom:
    """Compact, for a window of this size."""

    window: int
    stated: bool
    """True: the provider said so, and it is worth remembering. False: a guess, for this call only."""


@dataclass(frozen=True, slots=True)
class AskForLess:
    """Send the same prompt with a smaller output cap. The input fits: every message stays."""

    max_output: int


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    why: str


Remedy = MakeRoom | AskForLess | Wait | GiveUp


@dataclass(frozen=True, slots=True)
class Tried:
    """What this call has been through; each cause has a budget of its own."""

    compactions: int = 0
    smaller_outputs: int = 0
    waits: int = 0


def remedy(failure: Failure, tried: Tried, *, window: int, weight: int, max_compactions: int) -> Remedy:
    """The next thing to change, or why there is none left."""
    match failure:
        case PromptTooLong(limit=limit):
            if tried.compactions >= max_compactions:
                return GiveUp(
                    f"still too long for its window of {window:,} tokens after {tried.compactions} compactions"
                )
            if limit is not None and SMALLEST_STATED <= limit < window:
                return MakeRoom(limit, stated=True)
            if limit is None and weight < window * PLAUSIBLE and tried.compactions == 0:
                return GiveUp(
                    f"refused as too long at about {weight:,} of {window:,} tokens, which no compaction explains"
                )
            return MakeRoom(window if limit else next_tier(window), stated=False)
        case PayloadTooLarge():
            if tried.compactions >= max_compactions:
                return GiveUp(f"the body is still too large after {tried.compactions} compactions")
            return MakeRoom(window, stated=False)
        case OutputTooLarge(room=room):
            if tried.smaller_outputs >= 2:
                return GiveUp("the provider refuses every output cap that was tried")
            return AskForLess(room if room else max(window // 8 >> tried.smaller_outputs, 256))
        case RateLimited(retry_after=retry_after):
            return _wait(tried, retry_after, "the provider's rate limit holds")
        case Unavailable(why=why):
            return _wait(tried, None, f"the provider cannot be reached: {why}")
        case Refused(why=why):
            return GiveUp(f"the provider refused the request: {why}")
        case _:
            assert_never(failure)


def next_tier(window: int) -> int:
    """The next smaller window in the field."""
    return next((tier for tier in TIERS if tier < window), TIERS[-1])


def _wait(tried: Tried, retry_after: float | None, why: str) -> Remedy:
    if tried.waits >= 5:
        return GiveUp(f"{why}, after {tried.waits} attempts")
    return Wait(retry_after if retry_after is not None else float(2**tried.waits))

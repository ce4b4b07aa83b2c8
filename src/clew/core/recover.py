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
from clew.facts.model import SMALLEST_WINDOW, Model

TIERS = (256_000, 128_000, 64_000, 32_000, 16_000, 8_000)
"""Windows in the field, tried downwards when a provider says "too long" without a number; guesses, never stored."""
SMALLEST_STATED = 1_024
"""A stated limit below this is a slip of the server's, such as a window minus max_tokens."""
PLAUSIBLE = 0.25
"""A prompt we weigh below this share of the window did not overflow it, whatever the error's words. An estimate is
seldom off by two, and the window of a server no one has asked may well be half of what was thought."""
LEAST_OUTPUT = 256
"""Tokens below which a reply says nothing: a prompt that leaves less room than this is too long itself."""
MOST_OUTPUTS = 3
MOST_WAITS = 5
LONGEST_WAIT = 60.0
"""Seconds that our own back-off may come to; what a provider asks for is waited for."""


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
class LeavePictures:
    """Send the same prompt without its older pictures, then without any. The log keeps them all."""


@dataclass(frozen=True, slots=True)
class GoLarger:
    """Ask the model with the larger window instead."""

    model: Model


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    why: str


Remedy = MakeRoom | AskForLess | LeavePictures | GoLarger | Wait | GiveUp


@dataclass(frozen=True, slots=True)
class Tried:
    """What this call has been through; each cause has a budget of its own."""

    compactions: int = 0
    smaller_outputs: int = 0
    waits: int = 0
    """For a rate limit."""
    retries: int = 0
    """After a fault of the provider or of the way there."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the call that failed was like."""

    window: int
    weight: int
    """The prompt's tokens, as far as we know."""
    max_compactions: int = 3
    max_output: int | None = None
    pictures: int = 0
    """Those it carried."""
    larger: Model | None = None
    """A model with a larger window, if there is one to go to."""
    may_compact: bool = True


def remedy(failure: Failure, tried: Tried, at: Standing) -> Remedy:
    """The next thing to change, or why there is none left."""
    match failure:
        case PromptTooLong():
            return _too_long(failure, tried, at)
        case OutputTooLarge():
            return _less_output(failure, tried, at)
        case PayloadTooLarge():
            return LeavePictures() if at.pictures else _make_room(tried, at, at.window, stated=False, what="its body")
        case RateLimited(limit=limit, used=used) if limit is not None and used is not None and used > limit:
            return _over_quota(limit, used, tried, at)
        case RateLimited(retry_after=retry_after):
            return _wait(tried.waits, retry_after, "the provider's rate limit holds")
        case Unavailable(retry_after=retry_after, why=why):
            return _wait(tried.retries, retry_after, f"the provider cannot be reached: {why}")
        case Refused(why=why):
            return GiveUp(f"the provider refused the request: {why}")
        case _:
            assert_never(failure)


def _too_long(failure: PromptTooLong, tried: Tried, at: Standing) -> Remedy:
    limit = failure.limit if failure.limit is not None and failure.limit >= SMALLEST_STATED else None
    weight = max(at.weight, failure.used or 0)
    if weight < min(limit or at.window, at.window) * PLAUSIBLE and tried.compactions == 0:
        return GiveUp(f"refused as too long at about {weight:,} of {at.window:,} tokens, which no compaction explains")
    if limit is not None and limit < SMALLEST_WINDOW:
        return GiveUp(
            f"its server takes {limit:,} tokens, too few for a conversation with tools; start it with a context of "
            f"{SMALLEST_WINDOW:,} or more"
        )
    if limit is None:
        return _make_room(tried, at, next_tier(at.window), stated=False, what="it")
    return _make_room(tried, at, min(limit, at.window), stated=limit < at.window, what="it")


def _make_room(tried: Tried, at: Standing, window: int, *, stated: bool, what: str) -> Remedy:
    if at.may_compact and tried.compactions < at.max_compactions:
        return MakeRoom(window, stated)
    if at.larger is not None and at.larger.window.size > at.window:
        return GoLarger(at.larger)
    if not at.may_compact:
        return GiveUp(
            f"{what} is too long for a window of {window:,} tokens, and compaction is switched off; /compress makes "
            "room this once and /retry asks again, compression.enabled: true lets clew do it"
        )
    return GiveUp(
        f"{what} is still too long for a window of {at.window:,} tokens after {tried.compactions} compactions"
    )


def _less_output(failure: OutputTooLarge, tried: Tried, at: Standing) -> Remedy:
    if failure.room is not None and failure.room < LEAST_OUTPUT:
        return _make_room(tried, at, at.window, stated=False, what="it")
    if tried.smaller_outputs >= MOST_OUTPUTS:
        return GiveUp("the provider refuses every output cap that was tried")
    asked = failure.requested_output or at.max_output or at.window // 4
    return AskForLess(min(failure.room or asked // 2, asked))


def _over_quota(limit: int, used: int, tried: Tried, at: Standing) -> Remedy:
    """One request above a minute's quota is refused for ever; some providers count the output asked for into it."""
    room = limit - at.weight
    if at.max_output is not None and LEAST_OUTPUT <= room < at.max_output and tried.smaller_outputs < MOST_OUTPUTS:
        return AskForLess(room)
    return GiveUp(
        f"this one request needs {used:,} tokens of a quota of {limit:,} a minute: waiting cannot help; /compress "
        "makes it lighter, a higher tier of the provider's takes it"
    )


def next_tier(window: int) -> int:
    """The next smaller window in the field."""
    return next((tier for tier in TIERS if tier < window), TIERS[-1])


def _wait(times: int, retry_after: float | None, why: str) -> Remedy:
    if times >= MOST_WAITS:
        return GiveUp(f"{why}, after {times} attempts")
    return Wait(retry_after if retry_after is not None else min(float(2**times), LONGEST_WAIT))

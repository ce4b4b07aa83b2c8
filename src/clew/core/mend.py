"""A call that failed: change exactly one thing, or end with what was tried and what to do."""

from __future__ import annotations

from dataclasses import replace

from clew.core.assemble import assemble
from clew.core.effects import Learn, Sleep, Tell, ask
from clew.core.pictures import next_keep, pictures_in
from clew.core.recover import (
    AskForLess,
    GiveUp,
    GoLarger,
    LeavePictures,
    MakeRoom,
    Standing,
    Tried,
    Wait,
    remedy,
)
from clew.core.state import Story, Turn, exhausted
from clew.core.weigh import HIGHEST, weigh
from clew.facts.exchange import Failure, RateLimited


def mend(now: Turn, failure: Failure) -> Story[Turn]:
    """The turn with the one thing changed that may help."""
    tried = now.tried
    match remedy(failure, tried, standing(now)):
        case MakeRoom(window, stated):
            if stated:
                yield from ask(Learn(now.setup.model, window, failure.why))
            known = (
                f"its window is {window:,} tokens, which is remembered" if stated else f"{window:,} tokens are tried"
            )
            yield from ask(Tell(f"too long, says {now.setup.model.name}'s provider; {known}"))
            smaller = replace(now.window, size=min(window, now.window.size))
            return replace(now, window=smaller, factor=corrected(now, failure), overflowed=True)
        case AskForLess(max_output):
            return replace(now, max_output=max_output, tried=replace(tried, smaller_outputs=tried.smaller_outputs + 1))
        case LeavePictures():
            yield from ask(Tell("the request is too large for the provider: older pictures are left out of it"))
            return replace(now, pictures=next_keep(now.session.messages, now.pictures))
        case GoLarger(model):
            yield from ask(Tell(f"{now.setup.model.name} cannot take it: {model.name} is asked instead"))
            return replace(now, setup=replace(now.setup, model=model, larger=None), window=model.window, tried=Tried())
        case Wait(seconds):
            yield from ask(Sleep(seconds))
            return replace(now, tried=waited(tried, failure))
        case GiveUp(why):
            raise exhausted(now, why)


def standing(now: Turn) -> Standing:
    """What the call that failed was like."""
    prompt = assemble(now.session, now.setup, max_output=now.max_output, pictures=now.pictures)
    return Standing(
        window=now.window.size,
        weight=weigh(now.session, now.setup, now.factor).tokens,
        max_compactions=now.setup.policy.max_compactions,
        max_output=prompt.max_output,
        pictures=pictures_in(prompt.messages),
        larger=now.setup.larger,
        may_compact=now.setup.policy.enabled,
    )


def corrected(now: Turn, failure: Failure) -> float:
    """The provider's tokens for one of ours, after it said how many the prompt really had: at once, not by and by,
    or the next prompt would be as wrong. What it said may leave out tools, so it never makes us lighter."""
    counted = now.setup.system_tokens + now.setup.tools_tokens + now.session.counted
    return max(now.factor, min((failure.used or 0) / max(counted, 1), HIGHEST))


def waited(tried: Tried, failure: Failure) -> Tried:
    if isinstance(failure, RateLimited):
        return replace(tried, waits=tried.waits + 1)
    return replace(tried, retries=tried.retries + 1)

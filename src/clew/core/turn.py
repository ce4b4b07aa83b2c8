"""The story of one turn: make room, ask the model, run its tools, again until it has nothing left to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.core.assemble import assemble
from clew.core.effects import Append, CallModel, RunTools, Tell, ask
from clew.core.mend import mend
from clew.core.ports import Setup
from clew.core.recover import Tried
from clew.core.results import cap_turn
from clew.core.room import look_ahead, make_room
from clew.core.state import Story, Turn
from clew.core.weigh import Weight, calibrate, was_cut, weigh
from clew.facts.exchange import Reply
from clew.facts.messages import Message
from clew.facts.session import Measured, Session


def turn(session: Session, said: Sequence[Message], setup: Setup, *, before: Turn | None = None) -> Story[Turn]:
    """From what was said to the model's last word on it; nothing said asks again about what was said before. `before`
    is the turn before, for what it found out."""
    now = Turn(session, setup, setup.model.window)
    if before is not None and before.setup.model == setup.model:
        now = replace(now, window=before.window, factor=before.factor, pictures=before.pictures)
    if said:
        now = now.add(said)
        yield from ask(Append(now.session, tuple(said)))
    while True:
        now, reply = yield from step(now)
        if not reply.message.calls:
            return now
        results = yield from ask(RunTools(reply.message.calls))
        results = yield from cap_turn(results, setup.limits)
        now = now.add(results)
        yield from ask(Append(now.session, results))


def step(now: Turn) -> Story[tuple[Turn, Reply]]:
    """One reply: fit, call, and after a failure one remedy and again."""
    now = replace(now, tried=Tried(), max_output=None)
    while True:
        now = yield from fit(now)
        prompt = assemble(now.session, now.setup, max_output=now.max_output, pictures=now.pictures)
        weight = weigh(now.session, now.setup, now.factor).tokens
        answer = yield from ask(CallModel(prompt, weight, now.window.size))
        if isinstance(answer, Reply):
            now = yield from record(now, answer)
            return now, answer
        now = yield from mend(now, answer)


def fit(now: Turn) -> Story[Turn]:
    """The one gate that every call passes: compact when the window is too full for it."""
    if now.overflowed:
        return (yield from make_room(replace(now, overflowed=False)))
    weight = weigh(now.session, now.setup, now.factor)
    due = yield from now.setup.engine.is_due(now.session, weight.tokens, now.budget)
    if not now.setup.policy.enabled or is_too_soon(now, weight):
        return now
    if now.setup.ahead:
        return (yield from look_ahead(now, weight, due=due))
    return (yield from make_room(now)) if due else now


def is_too_soon(now: Turn, weight: Weight) -> bool:
    """After one compaction neither an estimate alone nor a pass that did not help fires the next, until the
    conversation has grown by a tail: the error of an estimate would compact for ever."""
    settled_at = now.session.settled_at
    if settled_at is None or now.session.counted - settled_at >= now.budget.tail:
        return False
    return not weight.observed or now.session.fruitless >= 2


def record(now: Turn, reply: Reply) -> Story[Turn]:
    """Remember the reply and what its prompt really weighed."""
    before = now.session
    if reply.usage is not None and reply.usage.standing:
        read = reply.usage.standing
        counted = now.setup.system_tokens + now.setup.tools_tokens + before.counted
        if was_cut(counted=counted, reported=read):
            yield from ask(
                Tell(f"the server read {read:,} of about {counted:,} tokens and cut the rest: its window seems smaller")
            )
        now = replace(
            now,
            session=replace(before, measured=Measured(read, len(before.entries))),
            factor=calibrate(now.factor, counted=counted, reported=read),
        )
    yield from ask(Append(now.session, (reply.message,)))
    return now.add((reply.message,))

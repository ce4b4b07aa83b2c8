"""A recorded conversation run through the real thing: the same gate and engine, the recorded words as the model's."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from clew.core.effects import (
    Append,
    CallModel,
    Consult,
    Continue,
    Effect,
    Learn,
    RunTools,
    Sleep,
    Spill,
    Summarise,
    Tell,
)
from clew.core.pairs import Exchange, exchanges
from clew.core.ports import Engine, Setup
from clew.core.results import cap_turn
from clew.core.state import Turn
from clew.core.turn import step
from clew.facts.exchange import Reply
from clew.facts.messages import Message, tool_result
from clew.facts.model import Model, Policy, ResultLimits, Window
from clew.facts.session import Opened, Session
from clew.facts.usage import Usage
from clew.runtime.beside import consulted
from clew.runtime.drive import drive
from clew.runtime.scales import Scale


@dataclass(frozen=True, slots=True)
class Point:
    """One model call of the replay."""

    message: int
    """Place in the recording of the reply it brought."""
    prompt: int
    """Tokens it sent."""
    whole: int
    """Tokens it would have sent without compaction."""


@dataclass(frozen=True, slots=True)
class Event:
    """One compaction of the replay."""

    call: int
    """The number of the model call it made room for, from 0."""
    message: int
    before: int
    after: int
    kept: int
    dropped: int
    shortened: int
    summary: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of a replay."""

    window: int
    trigger: int
    messages: int
    tokens: int
    """The whole recording, uncompacted."""
    points: tuple[Point, ...]
    events: tuple[Event, ...]
    told: tuple[str, ...]
    """What a person would have been told on the way."""
    spilled: int
    """Tool results that were kept outside the window."""
    final: tuple[Message, ...]
    """The history as the model would see it next."""

    @property
    def peak(self) -> int:
        return max((point.prompt for point in self.points), default=0)

    @property
    def sent(self) -> int:
        return sum(point.prompt for point in self.points)

    @property
    def sent_whole(self) -> int:
        return sum(point.whole for point in self.points)


def replay(
    messages: Sequence[Message],
    *,
    window: int,
    engine: Engine,
    policy: Policy,
    scale: Scale,
    progress: Callable[[int], None] = lambda done: None,
) -> Replayed:
    """Run a recording against a window of `window` tokens; `progress` hears how many messages are done."""
    system = [said for said in messages if said.is_system][:1]
    setup = Setup(
        model=Model("recorded", Window(window)),
        engine=engine,
        count=scale.message,
        system_tokens=sum(map(scale.message, system)),
        policy=policy,
        limits=ResultLimits().within(Window(window)),
    )
    start = Turn(Session(id="recorded", system=system[0].text if system else ""), setup, setup.model.window)
    told = [exchange for exchange in exchanges(messages) if not any(exchange.said is known for known in system)]
    world = _World(scale)
    end = drive(_story(start, told, world, progress), world.hands())
    return Replayed(
        window=window,
        trigger=start.budget.trigger,
        messages=len(messages),
        tokens=setup.system_tokens + world.whole,
        points=tuple(world.points),
        events=tuple(world.events),
        told=tuple(world.told),
        spilled=world.spilled,
        final=(*system, *end.session.messages),
    )


def _story(
    now: Turn, recorded: Sequence[Exchange], world: _World, progress: Callable[[int], None]
) -> Generator[Effect[Any], Any, Turn]:
    for exchange in recorded:
        if exchange.said.role != "assistant":
            now = now.add((exchange.said,))
            world.whole += now.session.entries[-1].tokens
        else:
            world.next_reply(exchange, now)
            now, _ = yield from step(now)
            results = yield from cap_turn(_results(exchange), now.setup.limits)
            now = now.add(results)
            world.whole += sum(map(now.setup.count, exchange.messages))
        progress(exchange.places[-1] + 1)
    return now


def _results(exchange: Exchange) -> list[Message]:
    answered = zip(exchange.said.calls, exchange.results, strict=True)
    return [result or tool_result(call, "(no result was recorded)") for call, result in answered]


class _World:
    """What stands in for the world during a replay: recorded replies, counted usage, nothing written."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.points: list[Point] = []
        self.events: list[Event] = []
        self.told: list[str] = []
        self.spilled = 0
        self.whole = 0
        self._reply: Exchange | None = None
        self._fixed = 0

    def next_reply(self, exchange: Exchange, now: Turn) -> None:
        self._reply = exchange
        self._fixed = now.setup.system_tokens + now.setup.tools_tokens

    def hands(self) -> dict[type[Effect[Any]], Callable[[Any], Any]]:
        return {
            CallModel: self._call,
            Continue: self._continue,
            Spill: self._spill,
            Tell: lambda wish: self.told.append(wish.text),
            Append: lambda wish: None,
            Learn: lambda wish: None,
            Sleep: lambda wish: None,
            Summarise: lambda wish: None,
            Consult: consulted,
            RunTools: lambda wish: (),
        }

    def _call(self, wish: CallModel) -> Reply:
        assert self._reply is not None
        prompt = self._fixed + sum(map(self.scale.message, wish.prompt.messages))
        self.points.append(Point(self._reply.place, prompt, self._fixed + self.whole))
        return Reply(self._reply.said, Usage(input=prompt, output=self.scale.message(self._reply.said)))

    def _continue(self, wish: Continue) -> Opened:
        done = wish.compaction
        self.events.append(
            Event(
                call=len(self.points),
                message=self._reply.place if self._reply else 0,
                before=done.tokens_before,
                after=done.tokens_after,
                kept=len(done.kept),
                dropped=len(done.dropped),
                shortened=len(done.shortened),
                summary=done.summary,
            )
        )
        return Opened(f"recorded-{len(self.events)}", wish.session.system + done.system_note)

    def _spill(self, wish: Spill) -> str:  # noqa: ARG002 the text is in the recording
        self.spilled += 1
        return f"blob {self.spilled} of the session"

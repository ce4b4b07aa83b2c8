"""How does a provider answer one request?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from clew.facts.exchange import Prompt, PromptTooLong, Reply
from clew.facts.pieces import Begun, Broken
from clew.facts.usage import Usage
from clew.testing.simulator.answers import Answer, Spelling, json_answer, spoiled
from clew.testing.simulator.cache import BadCacheControl
from clew.testing.simulator.caches import blocks_of
from clew.testing.simulator.clock import Clock
from clew.testing.simulator.faults import HARMLESS, Fault, HangUp, Reset, Status
from clew.testing.simulator.hearing import SECRET_HEADERS, Complaint, Heard, hear, input_items
from clew.testing.simulator.limits import Ask, broken_limit, numbers, room_for_reply
from clew.testing.simulator.listing import listed_models
from clew.testing.simulator.meter import Meter
from clew.testing.simulator.refusing import error_body, filled, refused
from clew.testing.simulator.replying import COMMENT, PING, failed, finished, said, streamed
from clew.testing.simulator.routes import Other, route_of
from clew.testing.simulator.rules import Rules
from clew.testing.simulator.script import Lines, echo, reply_for, spoken
from clew.testing.simulator.server import Request
from clew.testing.simulator.weighing import Weigher, Weight
from clew.wire.anthropic import ANTHROPIC
from clew.wire.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for a reply, and what became of it."""

    number: int
    """Counted from 0."""
    dialect: str
    """anthropic, chat or responses."""
    prompt: Prompt
    """What it says; empty when it could not be read or was turned away at the door."""
    raw: bytes
    """The body as it came."""
    headers: Mapping[str, str]
    """Without those that hold secrets."""
    time: float
    """Seconds on the simulator's clock."""
    status: int
    usage: Usage | None
    """What was reported; None when there was no reply."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """One request on its way to an answer."""

    number: int
    dialect: Dialect
    heard: Heard
    faults: tuple[Fault, ...]
    answer: Answer | None = None
    usage: Usage | None = None


class Endpoint:
    """The provider's side of the line."""

    def __init__(self, rules: Rules, lines: Lines, weigher: Weigher, clock: Clock) -> None:
        self.lines = lines
        self.requests: list[Asked] = []
        self.meter = Meter(weigher, clock, rules.limits, per_minute=rules.tokens_per_minute, prices=rules.prices)
        self._rules = rules
        self._weigher = weigher
        self._clock = clock
        self._numbers = count()
        self._kept: dict[str, list[Any]] = {}  # response id → its items and all before them

    def answer(self, request: Request) -> Answer:
        match route_of(request):
            case None:
                return json_answer(404, error_body("chat", 404, f"Invalid URL ({request.method} {request.path})"))
            case Other.MODELS:
                return self._list(request)
            case Other.COUNT:
                return self._count(request)
            case dialect:
                return self._exchange(request, dialect)

    def _exchange(self, request: Request, dialect: Dialect) -> Answer:
        number = next(self._numbers)
        heard = hear(request, dialect, self._rules, self._kept)
        turn = self._replied(_Turn(number, dialect, heard, self._rules.faults_of(number)))
        answer = turn.answer or json_answer(200, {})
        spelling = Spelling(lambda status: error_body(dialect.name, status), PING.get(dialect.name, COMMENT))
        for fault in turn.faults:
            answer = spoiled(answer, fault, spelling)
        headers = {name: value for name, value in request.headers.items() if name not in SECRET_HEADERS}
        now = self._clock.now()
        self.requests.append(
            Asked(number, dialect.name, heard.prompt, request.body, headers, now, answer.status, turn.usage)
        )
        named = "request-id" if dialect.name == "anthropic" else "x-request-id"
        told = {named: _request_id(number), **self.meter.headers(heard)}
        return replace(answer, headers={**answer.headers, **told})

    def _replied(self, turn: _Turn) -> _Turn:
        """The turn with its answer; without one where a fault keeps it from ever reaching the model."""
        if any(_keeps_away(fault) for fault in turn.faults):
            return turn
        heard = turn.heard
        ask = Ask(heard.dialect, heard.prompt.model, self._weight(heard), heard.prompt.max_output)
        complaint = heard.complaint or self._over_a_limit(ask, heard) or self.meter.over_quota(heard, ask)
        if complaint:
            return replace(turn, answer=self._refused(turn, complaint))
        try:
            line = reply_for(self.lines.next(heard.prompt), heard.dialect, turn.number)
        except Exception as error:  # whatever is wrong with a script, its author has to hear of it
            return replace(turn, answer=json_answer(400, error_body(heard.dialect, 400, f"{error!r}")))
        if isinstance(line, Reply):
            told = self._spoken(turn, ask, line)
            if told.usage is not None and all(isinstance(fault, HARMLESS) for fault in turn.faults):
                self.lines.said()
            return told
        self.lines.said()
        if not isinstance(line, Fault):
            return replace(turn, answer=failed(line, turn.dialect))
        turn = replace(turn, faults=(*turn.faults, line))
        return turn if _keeps_away(line) else self._spoken(turn, ask, self._echo(turn))

    def _echo(self, turn: _Turn) -> Reply:
        return spoken(echo(turn.heard.prompt), turn.dialect.name, turn.number)

    def _spoken(self, turn: _Turn, ask: Ask, line: Reply) -> _Turn:
        heard = turn.heard
        room = room_for_reply(ask, self._rules.limits)
        reply = finished(line, heard.prompt, heard.dialect, turn.number, room, self._weigher)
        try:
            usage = self.meter.charge(heard, ask, reply)
        except BadCacheControl as error:
            return replace(turn, answer=self._refused(turn, Complaint(heard.provider.illegal, {"problem": str(error)})))
        reply = replace(reply, usage=reply.usage or usage)
        if heard.dialect == "responses":
            self._kept[reply.id] = [*input_items(heard.body), *turn.dialect.encode_reply(reply)["output"]]
        return replace(turn, answer=said(reply, heard.prompt, turn.dialect, turn.faults), usage=reply.usage)

    def _over_a_limit(self, ask: Ask, heard: Heard) -> Complaint | None:
        refusal = broken_limit(ask, self._rules.limits, heard.provider)
        return Complaint(refusal, numbers(ask, self._rules.limits)) if refusal else None

    def _refused(self, turn: _Turn, complaint: Complaint) -> Answer:
        heard, holes = turn.heard, {**complaint.holes, "request": _request_id(turn.number)}
        if complaint.refusal is heard.provider.item_prompt and heard.prompt.stream:
            # The Responses endpoint has begun to stream before it counts.
            why = filled(complaint.refusal.body, holes)["error"]["message"]
            return streamed(heard.prompt, turn.dialect, (Begun(), Broken(PromptTooLong(why=why))))
        told = {} if complaint.retry_after is None else {"retry-after": str(complaint.retry_after)}
        return refused(complaint.refusal, holes, heard.dialect, told)

    def _list(self, request: Request) -> Answer:
        anthropic = "anthropic-version" in request.headers
        provider = self._rules.provider_for("anthropic" if anthropic else "chat")
        names = self._rules.models or ("simulated",)
        return json_answer(200, listed_models(names, provider, self._rules.limits, anthropic=anthropic))

    def _count(self, request: Request) -> Answer:
        heard = hear(request, ANTHROPIC, replace(self._rules, strict=False), self._kept)
        if heard.complaint:
            return self._refused(_Turn(0, ANTHROPIC, heard, ()), heard.complaint)
        return json_answer(200, {"input_tokens": self._weight(heard).whole})

    def _weight(self, heard: Heard) -> Weight:
        return self._weigher.prompt(blocks_of(heard.prompt, heard.billed, heard.dialect))


def _keeps_away(fault: Fault) -> bool:
    """Whether the request never reaches the model."""
    return isinstance(fault, Status) or (isinstance(fault, Reset | HangUp) and fault.at == "start")


def _request_id(number: int) -> str:
    return f"req_sim{number:06}"

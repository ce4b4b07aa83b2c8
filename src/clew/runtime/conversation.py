"""One conversation, live: what is said goes through the turn, into the store, to the model and to its tools."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from clew.core.cache import is_cached, place_cache_points
from clew.core.effects import CallModel, Effect, RunTools, Summarise, Tell
from clew.core.ports import Engine, Setup
from clew.core.state import Turn
from clew.core.turn import make_room, turn
from clew.facts.exchange import Failure, Prompt, Reply
from clew.facts.messages import Message, ToolCall, message, tool_result
from clew.facts.model import Model, Policy, ResultLimits
from clew.facts.pieces import Piece
from clew.facts.session import Session
from clew.facts.usage import Usage
from clew.runtime import sessions
from clew.runtime.drive import adrive
from clew.runtime.providers import Who
from clew.runtime.retries import call_patiently
from clew.runtime.scales import Scale
from clew.runtime.transport import Transport
from clew.runtime.transport import hands as talking
from clew.runtime.windows import window_of
from clew.store.ledger import Call
from clew.store.store import Store
from clew.wire.catalog import Catalog, cost

RESERVED = 8_000
"""Tokens kept for a reply where the model's own cap is not known or larger."""
INTERRUPTED = "[interrupted: whether this ran, and what came of it, is not known; look before you do it again]"
SUMMARY_TIME = 300.0
"""Seconds a summary may take before rules write it."""


class Watch(Protocol):
    """Whoever looks on: a screen, a pipe, a gateway."""

    def piece(self, piece: Piece) -> None: ...
    def calling(self, call: ToolCall) -> None: ...
    def called(self, call: ToolCall, result: Message, seconds: float) -> None: ...
    def told(self, text: str) -> None: ...


RunTool = Callable[[ToolCall], Awaitable[Message]]


@dataclass(frozen=True, slots=True)
class Works:
    """What a conversation works with; the same for all of them."""

    store: Store
    transport: Transport
    catalog: Catalog
    engine: Callable[[Policy, Scale], Engine]
    policy: Policy = field(default_factory=Policy)
    limits: ResultLimits = field(default_factory=ResultLimits)
    cache_ttl: str | None = "5m"
    """None: no cache points are placed."""


class Conversation:
    """A conversation that goes on: everything said is in the store before the next thing happens."""

    def __init__(
        self,
        works: Works,
        session: str,
        who: Who,
        watch: Watch,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        run_tool: RunTool | None = None,
        summariser: Who | None = None,
        context_length: int | None = None,
    ) -> None:
        """`session` is any of the conversation's; it goes on where it stands."""
        self.works = works
        self.who = who
        self._watch = watch
        self._run_tool = run_tool
        self._summariser = summariser or who
        self._scale = Scale()
        self.session = sessions.load(works.store, session, self._scale.message)
        self.setup = self._set_up(tools, context_length)
        self._before: Turn | None = None

    @property
    def factor(self) -> float:
        """The provider's tokens for one of ours, as far as its reports tell."""
        return self._before.factor if self._before else 1.0

    async def say(self, said: str | Message) -> Turn:
        """One turn, to the model's last word. ContextExhausted when nothing helps; the conversation stays whole."""
        words = message("user", said) if isinstance(said, str) else said
        self._answer_open_calls()
        try:
            now = await adrive(turn(self.session, (words,), self.setup, before=self._before), self._hands())
        except BaseException:
            self.session = self._reloaded()
            raise
        self._settle(now)
        return now

    async def compress(self, focus: str | None = None) -> Turn:
        """Make room now, because the person asks."""
        now = Turn(self.session, self.setup, self.setup.model.window)
        now = await adrive(make_room(now, focus=focus), self._hands())
        self._settle(now)
        return now

    def _answer_open_calls(self) -> None:
        """What an interrupted turn left without a result gets one that says so. Nothing is run again by itself."""
        messages = self.session.messages
        asked = max((place for place, said in enumerate(messages) if said.role == "assistant"), default=None)
        if asked is None:
            return
        answered = {said.call_id for said in messages[asked + 1 :] if said.is_result}
        stubs = [tool_result(call, INTERRUPTED) for call in messages[asked].calls if call.id not in answered]
        if stubs and all(said.is_result for said in messages[asked + 1 :]):
            self.works.store.append(self.session.id, [stub.to_dict() for stub in stubs])
            self.session = self._reloaded()

    def _settle(self, now: Turn) -> None:
        self._before, self.session = now, now.session
        sessions.keep(self.works.store, now.session)

    def _reloaded(self) -> Session:
        """As the store has it: whatever was interrupted, what was written down stands."""
        return sessions.load(self.works.store, self.session.id, self._scale.message)

    def _set_up(self, tools: Sequence[Mapping[str, Any]], context_length: int | None) -> Setup:
        facts = self.works.catalog.find(self.who.model, self.who.endpoint.provider)
        reserved = min(RESERVED, facts.max_output) if facts and facts.max_output else RESERVED
        window = window_of(
            self.who.model,
            self.who.endpoint.base_url,
            provider=self.who.endpoint.provider,
            stated=context_length,
            reserved_output=reserved,
            catalog=self.works.catalog,
            store=self.works.store,
        )
        return Setup(
            model=Model(self.who.model, window),
            engine=self.works.engine(self.works.policy, self._scale),
            count=self._scale.message,
            tools=tuple(tools),
            tools_tokens=sum(self._scale.text(str(tool)) for tool in tools),
            system_tokens=self._scale.text(self.session.system),
            policy=self.works.policy,
            limits=self.works.limits.within(window),
        )

    def _hands(self) -> dict[type[Effect[Any]], Callable[[Any], Any]]:
        endpoint = self.who.endpoint
        talk = talking(self.works.transport, endpoint, on_piece=self._watch.piece, marked=self._marked)
        return {
            **sessions.hands(self.works.store, endpoint.base_url),
            **talk,
            CallModel: partial(self._recorded, talk[CallModel]),
            RunTools: self._run_tools,
            Summarise: self._summarise,
            Tell: lambda wish: self._watch.told(wish.text),
        }

    def _marked(self, prompt: Prompt) -> Prompt:
        provider = self.who.endpoint.provider
        if self.works.cache_ttl is None or not is_cached(prompt.model, provider):
            return prompt
        facts = self.works.catalog.find(prompt.model, provider)
        minimum = facts.cache_minimum if facts and facts.cache_minimum else 1_024
        return place_cache_points(prompt, provider, ttl=self.works.cache_ttl, minimum=minimum, count=self._scale.text)

    async def _recorded(self, call: Callable[[Any], Awaitable[Reply | Failure]], wish: CallModel) -> Reply | Failure:
        answer = await call(wish)
        self._record(self.who, answer, "turn")
        return answer

    def _record(self, who: Who, answer: Reply | Failure, purpose: str) -> None:
        """In the ledger, whatever came of it and whatever happens next."""
        usage = (answer.usage if isinstance(answer, Reply) else None) or Usage()
        facts = self.works.catalog.find(who.model, who.endpoint.provider)
        priced = cost(usage, facts) if facts and usage.total else None
        called = tuple(call.name for call in answer.message.calls) if isinstance(answer, Reply) else ()
        failed = "" if isinstance(answer, Reply) else answer.kind
        self.works.store.record(
            self.session.id, Call(usage, who.model, who.endpoint.provider, purpose, failed, priced, called)
        )

    async def _run_tools(self, wish: RunTools) -> tuple[Message, ...]:
        return tuple([await self._run(call) for call in wish.calls])

    async def _run(self, call: ToolCall) -> Message:
        self._watch.calling(call)
        began = time.monotonic()
        if self._run_tool is None:
            result = tool_result(call, f"there is no tool {call.name} here")
        else:
            result = await self._run_tool(call)
        self._watch.called(call, result, time.monotonic() - began)
        return result

    async def _summarise(self, wish: Summarise) -> str | None:
        """The summariser's words; the main model's where it fails; None where both do, and rules write instead."""
        for who in (self._summariser, self.who)[: 1 if self._summariser == self.who else 2]:
            asked = Prompt("", (message("user", wish.prompt),), max_output=wish.budget * 2, model=who.model)
            until = time.monotonic() + SUMMARY_TIME
            answer = await call_patiently(self.works.transport, asked, who.endpoint, deadline=until, attempts=2)
            self._record(who, answer, "summary")
            if isinstance(answer, Reply) and answer.message.text.strip():
                return answer.message.text
        return None

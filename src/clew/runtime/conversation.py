"""One conversation, live: what is said goes through the turn, into the store, to the model and to its tools."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from clew.core.assemble import with_recalled
from clew.core.effects import CallModel, Consult, Continue, Effect, Prepare, RunTools, Spill, Summarise, Tell
from clew.core.results import cap_turn
from clew.core.room import compacted, make_room
from clew.core.state import Turn
from clew.core.turn import turn
from clew.engines.compressor import Compressor
from clew.facts.exchange import Failure, Prompt, Reply
from clew.facts.messages import Message, ToolCall, message, tool_result
from clew.facts.pieces import Counted, Piece, Said
from clew.facts.session import Compaction, Opened, Outlook, Session
from clew.facts.usage import Usage
from clew.runtime import sessions
from clew.runtime.books import Books
from clew.runtime.drive import adrive, drive, drive_beside
from clew.runtime.preparing import Preparing
from clew.runtime.providers import Who
from clew.runtime.scales import Scale
from clew.runtime.seat import Seat
from clew.runtime.summarising import Summariser
from clew.runtime.transport import hands as talking
from clew.runtime.works import Works

INTERRUPTED = "[interrupted: whether this ran, and what came of it, is not known; look before you do it again]"
STOPPED = "[stopped here by the user]"


class Watch(Protocol):
    """Whoever looks on: a screen, a pipe, a gateway."""

    def piece(self, piece: Piece) -> None: ...
    def calling(self, call: ToolCall) -> None: ...
    def called(self, call: ToolCall, result: Message, seconds: float) -> None: ...
    def told(self, text: str) -> None: ...


RunTool = Callable[[ToolCall], Awaitable[Message]]


class Conversation:
    """A conversation that goes on: everything said is in the store before the next thing happens."""

    def __init__(
        self,
        works: Works,
        session: str,
        who: Who,
        watch: Watch,
        *,
        seat: Seat | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        run_tool: RunTool | None = None,
        summariser: Who | None = None,
        context_length: int | None = None,
        renew: Callable[[Session], str] = lambda session: session.system,
    ) -> None:
        """`session` is any of the conversation's; it goes on where it stands. `renew` tells the system prompt to go on
        with after a compaction."""
        self.works = works
        self.who = who
        self._watch = watch
        self._run_tool = run_tool
        self._renew = renew
        self._scale = Scale()
        self._seat = seat or Seat(Compressor(works.policy, self._scale, has_summariser=True))
        self._books = Books(works.store, works.catalog)
        self._summariser = Summariser(works.transport, [summariser or who, who], self._summary_entered)
        self._preparing = Preparing(self._prepared)
        self.session = sessions.load(works.store, session, self._scale.message)
        system = self.session.system
        self.setup = works.set_up(
            who, self._seat, self._scale, system=system, tools=tools, context_length=context_length
        )
        self._before: Turn | None = None
        self._heard = _Heard()
        self._recalled = ""
        self._done: list[Message] = []
        """Results of a reply whose calls have not all ended."""

    @property
    def factor(self) -> float:
        """The provider's tokens for one of ours, as far as its reports tell."""
        return self._before.factor if self._before else 1.0

    async def say(self, said: str | Message) -> Turn:
        """One turn, to the model's last word. ContextExhausted when nothing helps; the conversation stays whole."""
        words = message("user", said) if isinstance(said, str) else said
        self._answer_open_calls()
        found = await asyncio.to_thread(self.works.recall.find, self.works.store, self.session, words.text)
        wished = await self._seat.before_turn(words.text, self.session.messages)
        self._recalled = "\n\n".join(text for text in (found, wished) if text)
        now = await self._turn(words)
        await self._seat.after_turn(words.text, now.session.messages)
        return now

    async def retry(self) -> Turn:
        """Ask again about what was said last and not answered. ValueError when everything was."""
        self._answer_open_calls()
        newest = self.session.messages[-1:]
        if not newest or newest[0].role == "assistant":
            raise ValueError("there is nothing to ask again: the model had the last word")
        return await self._turn()

    async def _turn(self, *said: Message) -> Turn:
        try:
            self._done = []
            now = await adrive(turn(self.session, said, self.setup, before=self._before), self._hands())
        except BaseException as end:
            if isinstance(end, asyncio.CancelledError):
                self._keep_what_was_heard()
                self._keep_what_was_done()
            self.session = self._reloaded()
            raise
        self._settle(now)
        return now

    async def compress(self, focus: str | None = None) -> Turn:
        """Make room now, because the person asks."""
        self._summariser.wake()
        self._preparing.drop()
        now = Turn(self.session, self.setup, self.setup.model.window, self.factor)
        now = await adrive(make_room(now, focus=focus), self._hands())
        self._settle(now)
        return now

    def outlook(self) -> Outlook | None:
        """What `compress` would do; None when the engine cannot tell."""
        now = Turn(self.session, self.setup, self.setup.model.window, self.factor)
        return self.setup.engine.outlook(self.session.messages, now.budget.counted_in(now.factor))

    def pin(self, *pins: str) -> None:
        """These texts, and no others, stay in the window for good."""
        self.session = replace(self.session, pins=pins)
        sessions.keep(self.works.store, self.session)

    def close(self) -> None:
        """Nobody waits for this conversation any more."""
        self._preparing.drop()

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

    def _keep_what_was_heard(self) -> None:
        """A person stopped the model in mid-sentence: its words so far, and what they took."""
        heard = self._heard
        if heard.listening:
            self._books.enter_interrupted(self.session.id, self.who, heard.used, "turn")
        if heard.listening and heard.text.strip():
            cut = message("assistant", f"{heard.text.rstrip()}\n{STOPPED}")
            self.works.store.append(self.session.id, [cut.to_dict()])

    def _keep_what_was_done(self) -> None:
        """Of several calls of one reply some had ended: their results are known."""
        results = drive(
            cap_turn(self._done, self.setup.limits), {Spill: lambda wish: self.works.store.spill(wish.text)}
        )
        if results:
            self.works.store.append(self.session.id, [result.to_dict() for result in results])

    def _settle(self, now: Turn) -> None:
        self._before, self.session = now, now.session
        self.setup = replace(self.setup, system_tokens=now.setup.system_tokens)
        sessions.keep(self.works.store, now.session)

    def _reloaded(self) -> Session:
        """As the store has it: whatever was interrupted, what was written down stands."""
        return sessions.load(self.works.store, self.session.id, self._scale.message)

    def _hands(self) -> dict[type[Effect[Any]], Callable[[Any], Any]]:
        endpoint = self.who.endpoint
        talk = talking(self.works.transport, endpoint, on_piece=self._listen, marked=self._ready)
        keep = sessions.hands(self.works.store, endpoint.base_url, renew=self._renew)
        return {
            **keep,
            **talk,
            CallModel: partial(self._call, talk[CallModel]),
            Continue: partial(self._continue, keep[Continue]),
            Prepare: self._preparing.prepare,
            RunTools: self._run_tools,
            Tell: lambda wish: self._watch.told(wish.text),
            **self._helpers(),
        }

    def _helpers(self) -> dict[type[Effect[Any]], Callable[[Any], Any]]:
        """All that a compaction asks for."""
        return {Summarise: self._summariser.summarise, Consult: self._seat.beside.consult}

    async def _prepared(self, wish: Prepare) -> Compaction:
        return await drive_beside(compacted(wish.session, self.setup, wish.budget), self._helpers())

    def _listen(self, piece: Piece) -> None:
        self._heard.take(piece)
        self._watch.piece(piece)

    def _ready(self, prompt: Prompt) -> Prompt:
        """As it leaves: with its cache points, and behind them what is recalled for this turn."""
        marked = self.works.marked(prompt, self.who.endpoint.provider, self._scale)
        return with_recalled(marked, self._recalled) if self._recalled else marked

    async def _call(self, call: Callable[[Any], Awaitable[Reply | Failure]], wish: CallModel) -> Reply | Failure:
        chosen = await self._seat.selected(wish.prompt.messages, self.setup.model.window.usable)
        self._heard = _Heard(listening=True)
        answer = await call(replace(wish, prompt=replace(wish.prompt, messages=chosen)))
        self._heard.listening = False
        self._books.enter(self.session.id, self.who, answer, "turn")
        await self._seat.heard(answer.usage if isinstance(answer, Reply) else None)
        return answer

    def _summary_entered(self, who: Who, answer: Reply | Failure) -> None:
        self._books.enter(self.session.id, who, answer, "summary")

    async def _continue(self, go_on: Callable[[Continue], Opened], wish: Continue) -> Opened:
        new = go_on(wish)
        self.session = replace(self.session, id=new.id)  # what is written from here on belongs to it
        done = wish.compaction
        await self._seat.went_on(
            wish.session.id, new.id, tokens_before=done.tokens_before, tokens_after=done.tokens_after
        )
        return new

    async def _run_tools(self, wish: RunTools) -> tuple[Message, ...]:
        for call in wish.calls:
            self._done.append(await self._run(call))
        done, self._done = self._done, []
        return tuple(done)

    async def _run(self, call: ToolCall) -> Message:
        self._watch.calling(call)
        began = time.monotonic()
        result = await self._seat.run(call, lambda: self._reloaded().messages)
        if result is None and self._run_tool is not None:
            result = await self._run_tool(call)
        result = result or tool_result(call, f"there is no tool {call.name} here")
        self._watch.called(call, result, time.monotonic() - began)
        return result


@dataclass(slots=True)
class _Heard:
    """What has come of the reply that is under way."""

    listening: bool = False
    text: str = ""
    used: Usage = field(default_factory=Usage)

    def take(self, piece: Piece) -> None:
        match piece:
            case Said(text):
                self.text += text
            case Counted(usage):
                self.used = usage

"""A chat: a person's words in, turns run, commands obeyed, one conversation after another until they leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from clew.agent.choosing import Pick
from clew.agent.commands import BY_NAME
from clew.agent.delegating import DELEGATE, delegated
from clew.agent.memory import Memory
from clew.agent.permissions import BadPermissions
from clew.core.state import ContextExhausted
from clew.facts.messages import Message, ToolCall
from clew.facts.session import Session
from clew.runtime.conversation import Conversation, Watch
from clew.runtime.home import home
from clew.runtime.providers import Who
from clew.runtime.recall import build
from clew.runtime.seat import Seat
from clew.runtime.works import Works
from clew.store.store import Store
from clew.store.trouble import StoreError

AT_ONCE = 200
"""Messages that get their meanings between two turns."""
RunCall = Callable[[ToolCall], Message]


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for every conversation of a chat."""

    works: Works
    who: Who
    summariser: Who
    seat: Seat
    system: Callable[[], str]
    """The system prompt of a new conversation: a snapshot, kept with it from then on."""
    tools: Sequence[Mapping[str, Any]]
    run_call: RunCall
    memory: Memory
    renew: Callable[[Session], str] = lambda session: session.system
    """The system prompt with which a conversation goes on after a compaction."""
    stopped: Event = field(default_factory=Event)
    """Set while a turn is being stopped: a tool that runs in a thread looks at it."""
    cwd: str = ""
    context_length: int | None = None


class Chat:
    """One person, one conversation at a time. `open` comes first."""

    conversation: Conversation
    pick: Pick | None = None
    """How the person picks one of several; None where they cannot."""

    def __init__(self, terms: Terms, watch: Watch) -> None:
        self._terms = terms
        self._watch = watch
        self._running: asyncio.Task[Any] | None = None
        self._learning: asyncio.Future[int] | None = None

    @property
    def store(self) -> Store:
        return self._terms.works.store

    @property
    def memory(self) -> Memory:
        return self._terms.memory

    async def open(self, session: str | None) -> None:
        """Begin with that session, or with a new conversation. The engine hears of its model and its session."""
        self.conversation = await self._conversation(session or self._new())
        await self._told_model()
        await self._begin()

    async def renew(self) -> None:
        """A new conversation; the old one has ended."""
        old = await self._end()
        await self._terms.seat.reset()
        self.conversation = await self._conversation(self._new())
        await self._begin(old_session_id=old)

    async def resume(self, session: str) -> None:
        """Go on with another conversation; this one has ended for now."""
        old = await self._end()
        self.conversation = await self._conversation(session)
        await self._begin(old_session_id=old)

    async def move(self, session: str, why: str) -> None:
        """Go on in a session that comes out of this one: a branch of it, or it without its last turns."""
        old = self.conversation.session.id
        self.conversation.close()
        self.conversation = await self._conversation(session)
        if self.conversation.session.id != old:
            await self._begin(old_session_id=old, boundary_reason=why)

    async def talk_to(self, model: str) -> None:
        """Go on with another model at the same place; one with a smaller window makes room before its first call."""
        self._terms = replace(self._terms, who=replace(self._terms.who, model=model))
        self.store.describe(self.conversation.session.id, model=model)
        self.conversation.close()
        self.conversation = await self._conversation(self.conversation.session.id)
        await self._told_model()

    async def close(self) -> None:
        if self._learning is not None:
            await asyncio.wait([self._learning])
        await self._end()
        self._terms.seat.close()

    async def obey(self, line: str) -> str:
        """A command or something to say; what there is to tell about it. `Quit` when the person is done."""
        name, _, rest = line[1:].partition(" ")
        if not line.startswith("/") or "/" in name:  # /etc/hosts is a path, and a path is something to say
            return await self.say(line)
        command = BY_NAME.get(name)
        if command is None and name in self._terms.seat.commands:
            return await self._guarded(self._terms.seat.command(name, rest.strip()))
        if command is None:
            return f"there is no /{name}; /help lists what there is"
        return await self._guarded(command.run(self, rest.strip()))

    async def say(self, said: str | Message) -> str:
        """One turn. `interrupt` ends it early; what was written down by then stays."""

        async def turn() -> str:
            await self.conversation.say(said)
            return ""

        told = await self._guarded(turn())
        self._learn()
        return told

    def _learn(self) -> None:
        """While the person reads: what was said gets its meanings, where search by meaning is installed."""
        if self._learning is None or self._learning.done():
            self._learning = asyncio.ensure_future(asyncio.to_thread(build, self.store, AT_ONCE))

    def interrupt(self) -> bool:
        """Stop what runs; whether there was anything."""
        if self._running is None:
            return False
        self._terms.stopped.set()
        self._running.cancel()
        return True

    async def _guarded(self, doing: Any) -> str:
        """What it has to tell; what fails or is stopped is told too, and the chat goes on."""
        self._terms.stopped.clear()
        self._running = asyncio.ensure_future(doing)
        try:
            told: str = await self._running
        except asyncio.CancelledError:
            if not self._running.cancelled():
                raise
            return "stopped; everything up to here is kept"
        except (ContextExhausted, BadPermissions, StoreError, ValueError) as end:
            return str(end)
        finally:
            self._running = None
        return told

    def _new(self) -> str:
        terms = self._terms
        return self.store.open_session(system=terms.system(), cwd=terms.cwd, model=terms.who.model, source="chat")

    async def _conversation(self, session: str) -> Conversation:
        terms = self._terms
        own = [*terms.tools, DELEGATE] if terms.tools else []  # a model that takes no tools gets none of anyone's
        names = {tool["function"]["name"] for tool in own}
        brought = await terms.seat.offer(names) if own else ()
        return Conversation(
            terms.works,
            session,
            terms.who,
            self._watch,
            seat=terms.seat,
            tools=[*own, *brought],
            run_tool=self._run_tool,
            summariser=terms.summariser,
            context_length=terms.context_length,
            renew=terms.renew,
        )

    async def _told_model(self) -> None:
        model, endpoint = self.conversation.setup.model, self._terms.who.endpoint
        await self._terms.seat.talks_to(
            model.name,
            model.window.size,
            base_url=endpoint.base_url,
            provider=endpoint.provider,
            api_mode="",
            api_key="",
        )

    async def _begin(self, **whence: Any) -> None:
        here, model = self.conversation.session, self.conversation.setup.model
        await self._terms.seat.begin(
            here.id,
            model=model.name,
            context_length=model.window.size,
            conversation_id=self.store.conversation(here.id).id,
            platform="cli",
            hermes_home=str(home()),
            **whence,
        )

    async def _end(self) -> str:
        self.conversation.close()
        here = self.conversation.session
        await self._terms.seat.end(here.id, here.messages)
        return here.id

    async def _run_tool(self, call: ToolCall) -> Message:
        if call.name == DELEGATE["function"]["name"]:
            return await self._delegate(call)
        return await self._in_a_thread(call)

    async def _delegate(self, call: ToolCall) -> Message:
        terms, parent = self._terms, self.conversation.session.id
        await terms.seat.fire("subagent_start", parent_session_id=parent)
        try:
            return await delegated(
                call,
                self.conversation,
                self._watch,
                terms.tools,
                self._in_a_thread,
                terms.summariser,
                terms.context_length,
            )
        finally:
            await terms.seat.fire("subagent_stop", parent_session_id=parent)

    async def _in_a_thread(self, call: ToolCall) -> Message:
        return await asyncio.to_thread(self._terms.run_call, call)

"""A chat: a person's words in, turns run, commands obeyed, one conversation after another until they leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from clew.agent.commands import BY_NAME
from clew.agent.permissions import BadPermissions
from clew.core.state import ContextExhausted
from clew.facts.messages import Message, ToolCall
from clew.runtime.conversation import Conversation, Watch, Works
from clew.runtime.providers import Who
from clew.store.store import Store
from clew.store.trouble import StoreError

RunCall = Callable[[ToolCall], Message]


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for every conversation of a chat."""

    works: Works
    who: Who
    summariser: Who
    system: Callable[[], str]
    """The system prompt of a new conversation: a snapshot, kept with it from then on."""
    tools: Sequence[Mapping[str, Any]]
    run_call: RunCall
    stopped: Event = field(default_factory=Event)
    """Set while a turn is being stopped: a tool that runs in a thread looks at it."""
    cwd: str = ""
    context_length: int | None = None


class Chat:
    """One person, one conversation at a time."""

    def __init__(self, terms: Terms, watch: Watch, session: str | None = None) -> None:
        self._terms = terms
        self._watch = watch
        self._running: asyncio.Task[Any] | None = None
        self.open(session)

    @property
    def store(self) -> Store:
        return self._terms.works.store

    def open(self, session: str | None) -> None:
        """Go on in that session; None begins a new conversation."""
        terms = self._terms
        here = session or self.store.open_session(
            system=terms.system(), cwd=terms.cwd, model=terms.who.model, source="chat"
        )
        self.conversation = Conversation(
            terms.works,
            here,
            terms.who,
            self._watch,
            tools=terms.tools,
            run_tool=self._run_tool,
            summariser=terms.summariser,
            context_length=terms.context_length,
        )

    def talk_to(self, model: str) -> None:
        """Go on with another model at the same place; one with a smaller window makes room before its first call."""
        self._terms = replace(self._terms, who=replace(self._terms.who, model=model))
        self.store.describe(self.conversation.session.id, model=model)
        self.open(self.conversation.session.id)

    async def obey(self, line: str) -> str:
        """A command or something to say; what there is to tell about it. `Quit` when the person is done."""
        if not line.startswith("/"):
            return await self.say(line)
        name, _, rest = line[1:].partition(" ")
        command = BY_NAME.get(name)
        if command is None:
            return f"there is no /{name}; /help lists what there is"
        try:
            return await command.run(self, rest.strip())
        except (StoreError, ValueError) as wrong:
            return str(wrong)

    async def say(self, words: str) -> str:
        """One turn. `interrupt` ends it early; what was written down by then stays."""
        self._terms.stopped.clear()
        self._running = asyncio.ensure_future(self.conversation.say(words))
        try:
            await self._running
        except asyncio.CancelledError:
            if not self._running.cancelled():
                raise
            return "stopped; everything up to here is kept"
        except (ContextExhausted, BadPermissions) as end:
            return str(end)
        finally:
            self._running = None
        return ""

    def interrupt(self) -> bool:
        """Stop the turn that runs; whether there was one."""
        if self._running is None:
            return False
        self._terms.stopped.set()
        self._running.cancel()
        return True

    async def _run_tool(self, call: ToolCall) -> Message:
        return await asyncio.to_thread(self._terms.run_call, call)

"""Where the engine sits: it hears of every session and every reply, brings its tools, and is told when it fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from clew.core.effects import Silent
from clew.core.ports import Engine
from clew.engines.guarded import Guarded
from clew.engines.hosted import fitting, spelled
from clew.engines.plugin import ContextEngine
from clew.facts.messages import Message, ToolCall, tool_result
from clew.facts.usage import Usage
from clew.runtime.beside import Beside
from clew.runtime.hooks import AFTER, BEFORE, Hooks

TELLING = 10.0
"""Seconds to take note of something."""
ANSWERING = 120.0
"""Seconds for one call of an engine's tool."""


class Seat:
    """An engine through all conversations of a chat. Of clew's own there is nothing to tell; a plug-in hears it all."""

    def __init__(
        self,
        engine: Engine,
        *,
        plugin: ContextEngine | None = None,
        name: str = "compressor",
        hooks: Hooks | None = None,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`note` is where a person hears of a plug-in's troubles."""
        self.name = name
        self.beside = Beside()
        self._plugin = plugin
        self._hooks = hooks or Hooks()
        self._note = note
        self._session = ""
        self.engine: Engine = Guarded(engine, self._objection) if self._hooks.hears(BEFORE) else engine
        self.tools: Sequence[Mapping[str, Any]] = ()

    @property
    def works_ahead(self) -> bool:
        """Whether it may work beside the conversation."""
        return self._plugin is None or self._plugin.works_ahead

    async def begin(self, session: str, **facts: Any) -> None:
        """A conversation is taken up: `model`, `context_length`, `conversation_id`, where it comes from …"""
        self._session = session
        await self._tell("on_session_start", session, **{name: fact for name, fact in facts.items() if fact})
        await self._fire("on_session_start", session_id=session, **facts)

    async def talks_to(self, model: str, context_length: int, **facts: Any) -> None:
        """The model, at first and whenever it is another."""
        await self._tell("update_model", model, context_length, **facts)

    async def heard(self, usage: Usage | None) -> None:
        """After every response."""
        await self._tell("update_from_response", usage_told(usage))

    async def turn_ended(self, messages: Iterable[Message], *, interrupted: bool) -> None:
        if self._plugin is not None and hasattr(self._plugin, "on_turn_complete"):
            await self._tell("on_turn_complete", spelled(tuple(messages)), interrupted=interrupted)

    async def went_on(self, old: str, new: str, **facts: Any) -> None:
        """A compaction is a switch of sessions, not an end."""
        self._session = new
        await self._tell("on_session_start", new, boundary_reason="compression", old_session_id=old, **facts)
        await self._fire(AFTER, session=new, old_session=old, **facts)

    async def end(self, session: str, messages: Iterable[Message]) -> None:
        """A real end: the person leaves, or begins another conversation."""
        await self._tell("on_session_end", session, spelled(tuple(messages)))
        await self._fire("on_session_end", session_id=session)

    async def reset(self) -> None:
        await self._tell("on_session_reset")
        await self._fire("on_session_reset")

    async def offer(self, taken: set[str]) -> Sequence[Mapping[str, Any]]:
        """The schemas of the engine's own tools, but for names that are taken."""
        schemas = await self._tell("get_tool_schemas") or []
        self.tools = [
            tool
            for tool in map(_wrapped, schemas)
            if tool["function"].get("name") and tool["function"]["name"] not in taken
        ]
        return self.tools

    async def run(self, call: ToolCall, live: Callable[[], Iterable[Message]]) -> Message | None:
        """The result of a call of one of its tools; None when the tool is not its own."""
        if self._plugin is None or call.name not in {tool["function"]["name"] for tool in self.tools}:
            return None
        answer = fitting(self._plugin.handle_tool_call)
        messages = spelled(tuple(live()))
        told = await self.beside.ask(lambda: answer(call.name, _read(call.arguments), messages=messages), ANSWERING)
        if isinstance(told, Silent):
            return tool_result(call, json.dumps({"error": f"the engine {self.name} failed: {told.why}"}))
        return tool_result(call, told if isinstance(told, str) else json.dumps(told, default=str))

    def close(self) -> None:
        self.beside.close()

    async def _tell(self, method: str, *args: Any, **named: Any) -> Any:
        """The plug-in's answer; what fails is said and changes nothing else."""
        if self._plugin is None:
            return None
        known = fitting(getattr(self._plugin, method))
        told = await self.beside.ask(lambda: known(*args, **named), TELLING)
        if isinstance(told, Silent):
            self._note(f"the engine {self.name} failed in {method} ({told.why}); the conversation goes on")
            return None
        return told

    async def _fire(self, event: str, **facts: Any) -> None:
        if not self._hooks.hears(event):
            return
        told = await self.beside.ask(lambda: self._hooks.tell(event, facts), ANSWERING)
        if isinstance(told, Silent):
            self._note(f"a {event} hook failed ({told.why}); the conversation goes on")

    def _objection(self, messages: tuple[Message, ...], focus: str | None) -> str:
        return self._hooks.objection({"session": self._session, "messages": len(messages), "focus": focus})


def usage_told(usage: Usage | None) -> dict[str, int]:
    """As engines are used to read it; empty when the provider said nothing."""
    if usage is None:
        return {}
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
        "reasoning_tokens": usage.reasoning,
    }


def _wrapped(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return schema if "function" in schema else {"type": "function", "function": schema}


def _read(arguments: str) -> dict[str, Any]:
    try:
        read = json.loads(arguments or "{}")
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}

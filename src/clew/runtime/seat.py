"""Where the engine sits: it hears of every session and every reply, brings its tools, and is told when it fails."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from clew.core.effects import Silent
from clew.core.ports import Engine
from clew.engines.guarded import Guarded
from clew.engines.hosted import fitting, of_its_own, spelled, taken
from clew.facts.messages import Message, ToolCall, tool_result
from clew.facts.usage import Usage
from clew.runtime.beside import Beside
from clew.runtime.hooks import AFTER, BEFORE, Hooks
from clew.runtime.plugins.context import Command, Skill, Tool
from clew.runtime.plugins.loading import Loaded

TELLING = 10.0
"""Seconds to take note of something."""
ANSWERING = 120.0
"""Seconds for one call of an engine's tool."""


KEPT = ("model", "context_length", "conversation_id", "platform", "hermes_home")
"""What holds for all sessions of a conversation, and is told with each."""


class Seat:
    """An engine through all conversations of a chat. Of clew's own there is nothing to tell; a plug-in hears it all."""

    def __init__(
        self,
        engine: Engine,
        *,
        plugin: Loaded | None = None,
        name: str = "compressor",
        hooks: Hooks | None = None,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`note` is where a person hears of a plug-in's troubles."""
        self.name = name
        self.beside = Beside()
        self.session = ""
        """The one that is open."""
        self.engine: Engine = Guarded(engine, self._objection) if plugin or (hooks and hooks.hears(BEFORE)) else engine
        self.tools: Sequence[Mapping[str, Any]] = ()
        self._loaded = plugin
        self._plugin = plugin.engine if plugin else None
        self._hooks = hooks or Hooks()
        self._note = note
        self._whence: dict[str, Any] = {}

    @property
    def works_ahead(self) -> bool:
        """Whether it may work beside the conversation."""
        return self._plugin is None or self._plugin.works_ahead

    @property
    def commands(self) -> Mapping[str, Command]:
        """What a person may ask of it, by name."""
        return self._loaded.commands if self._loaded else {}

    @property
    def skills(self) -> Mapping[str, Skill]:
        return self._loaded.skills if self._loaded else {}

    async def begin(self, session: str, **facts: Any) -> None:
        """A conversation is taken up: `model`, `context_length`, `conversation_id`, where it comes from …"""
        self.session, self._whence = session, {key: facts[key] for key in KEPT if facts.get(key)}
        await self._tell("on_session_start", session, **{name: fact for name, fact in facts.items() if fact})
        await self.fire("on_session_start", session_id=session, **facts)

    async def talks_to(self, model: str, context_length: int, **facts: Any) -> None:
        """The model, at first and whenever it is another."""
        await self._tell("update_model", model, context_length, **facts)

    async def selected(self, messages: tuple[Message, ...], budget: int) -> tuple[Message, ...]:
        """What of them this one request carries, where the plug-in has a say in that. Nothing of it is kept."""
        choose = of_its_own(self._plugin, "select_context") if self._plugin else None
        if choose is None:
            return messages
        given, known = copy.deepcopy(spelled(messages)), spelled(messages)
        newest = next((said for said in reversed(known) if said["role"] == "user"), None)
        about = {"conversation_messages": known, "incoming_message": newest, "budget_tokens": budget}
        answer = await self.beside.ask(lambda: fitting(choose)(given, **about), TELLING)
        chosen, trouble = (messages, "") if answer is None or answer == [] else taken(answer, messages)
        if trouble:
            self._note(f"the engine {self.name} failed in select_context: it {trouble}; everything is sent")
        return chosen

    async def heard(self, usage: Usage | None) -> None:
        """After every response."""
        await self._tell("update_from_response", usage_told(usage))

    async def before_turn(self, words: str, messages: Iterable[Message]) -> str:
        """What hooks want in the request besides what is said."""
        if not self._hooks.hears("pre_llm_call"):
            return ""
        history = spelled(tuple(messages))
        answers = await self.fire(
            "pre_llm_call", session_id=self.session, user_message=words, conversation_history=history, platform="cli"
        )
        return "\n\n".join(str(each["context"]) for each in answers if isinstance(each, dict) and each.get("context"))

    async def after_turn(self, words: str, messages: Iterable[Message]) -> None:
        if self._plugin is None:
            return
        history = spelled(tuple(messages))
        if of_its_own(self._plugin, "on_turn_complete"):
            await self._tell("on_turn_complete", history, interrupted=False, failed=False)
        await self.fire(
            "post_llm_call",
            session_id=self.session,
            user_message=words,
            assistant_response=history[-1]["content"] if history else "",
            conversation_history=history,
            platform="cli",
        )

    async def went_on(self, old: str, new: str, **facts: Any) -> None:
        """A compaction is a switch of sessions, not an end."""
        self.session = new
        told = {**self._whence, **facts}
        await self._tell("on_session_start", new, boundary_reason="compression", old_session_id=old, **told)
        if hasattr(self._plugin, "carry_over_new_session_context"):  # how older engines learn of it
            await self._tell("carry_over_new_session_context", old, new)
        await self.fire(AFTER, session=new, old_session=old, **facts)

    async def end(self, session: str, messages: Iterable[Message]) -> None:
        """A real end: the person leaves, or begins another conversation."""
        await self._tell("on_session_end", session, spelled(tuple(messages)))
        await self.fire("on_session_end", session_id=session)

    async def reset(self) -> None:
        await self._tell("on_session_reset")
        await self.fire("on_session_reset")

    async def offer(self, taken: set[str]) -> Sequence[Mapping[str, Any]]:
        """The schemas of the engine's own tools, but for names that are taken."""
        schemas = [*(await self._tell("get_tool_schemas") or []), *map(_registered, self._extra_tools().values())]
        named = {tool["function"].get("name"): tool for tool in map(_wrapped, schemas)}
        self.tools = [tool for name, tool in named.items() if name and name not in taken]
        return self.tools

    async def run(self, call: ToolCall, live: Callable[[], Iterable[Message]]) -> Message | None:
        """The result of a call of one of its tools; None when the tool is not its own."""
        if self._plugin is None or call.name not in {tool["function"]["name"] for tool in self.tools}:
            return None
        messages, given = spelled(tuple(live())), _read(call.arguments)
        extra, answer = self._extra_tools().get(call.name), fitting(self._plugin.handle_tool_call)
        told = await self.beside.ask(
            (lambda: fitting(extra.handler)(given, messages=messages))
            if extra
            else (lambda: answer(call.name, given, messages=messages)),
            ANSWERING,
        )
        if isinstance(told, Silent):
            return tool_result(call, json.dumps({"error": f"the engine {self.name} failed: {told.why}"}))
        return tool_result(call, told if isinstance(told, str) else json.dumps(told, default=str))

    async def command(self, name: str, rest: str) -> str:
        """What one of its commands tells."""
        told = await self.beside.ask(lambda: self.commands[name].handler(rest), ANSWERING)
        return f"/{name} failed: {told.why}" if isinstance(told, Silent) else str(told or "")

    async def fire(self, event: str, **facts: Any) -> list[Any]:
        """Tell whoever is hooked in; what they answer."""
        if not self._hooks.hears(event):
            return []
        told = await self.beside.ask(lambda: self._hooks.tell(event, facts), ANSWERING)
        if isinstance(told, Silent):
            self._note(f"a {event} hook failed ({told.why}); the conversation goes on")
            return []
        return list(told)

    def close(self) -> None:
        self.beside.close()
        if self._loaded:
            self._loaded.close()

    def _extra_tools(self) -> Mapping[str, Tool]:
        return self._loaded.tools if self._loaded else {}

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

    def _objection(self, messages: tuple[Message, ...], focus: str | None) -> str:
        return self._hooks.objection({"session": self.session, "messages": len(messages), "focus": focus})


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


def _registered(tool: Tool) -> Mapping[str, Any]:
    inner = dict(tool.schema.get("function") or tool.schema)
    return {"description": tool.description, "parameters": {"type": "object"}, **inner, "name": tool.name}


def _wrapped(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return schema if "function" in schema else {"type": "function", "function": schema}


def _read(arguments: str) -> dict[str, Any]:
    try:
        read = json.loads(arguments or "{}")
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}

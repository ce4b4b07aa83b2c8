"""What does a plug-in's `register(ctx)` see, and what did it leave there?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from clew.engines.hosted import fitting
from clew.engines.plugin import ContextEngine
from clew.runtime.plugins.adopted import Adopted, is_like_an_engine
from clew.runtime.plugins.host import Host

HOOKS = (
    "pre_compaction", "post_compaction", "pre_llm_call", "post_llm_call", "on_session_start", "on_session_end",
    "on_session_reset", "subagent_start", "subagent_stop",
)  # fmt: skip
"""What clew fires. A hook on anything else is kept and never called."""


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: `handler(what stands behind it)` returns what is shown."""

    name: str
    handler: Callable[..., Any]
    description: str = ""
    args_hint: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool for the model, beside those of `get_tool_schemas`."""

    name: str
    schema: Mapping[str, Any]
    handler: Callable[..., Any]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Skill:
    """A text the agent may read."""

    name: str
    path: Path
    description: str = ""


class Context:
    """Collects what a plug-in registers. What clew has no use for is noted and does nothing."""

    context_engine_tool_handlers_receive_messages = False
    """A plug-in that asks offers its tools through `get_tool_schemas`, which is where the host looks."""
    profile_name = "default"

    def __init__(
        self, name: str, host: Host, note: Callable[[str], None], hooks: dict[str, list[Callable[..., Any]]]
    ) -> None:
        self.plugin_name = name
        self.llm = Asked(host)
        self.engine: ContextEngine | None = None
        self.hooks = hooks
        self.commands: dict[str, Command] = {}
        self.tools: dict[str, Tool] = {}
        self.skills: dict[str, Skill] = {}
        self._host = host
        self._note = note

    def register_context_engine(self, engine: Any) -> None:
        if self.engine is not None:
            self._note(f"a second engine, {_called(engine)}, was refused: a plug-in has one")
        elif isinstance(engine, ContextEngine):
            self.engine = engine
        elif is_like_an_engine(engine):
            self.engine = Adopted(engine)
        else:
            self._note(
                f"{_called(engine)} was refused: an engine has name, should_compress, compress, update_from_response"
            )

    def register_hook(self, event: str, callback: Callable[..., Any]) -> None:
        self.hooks.setdefault(event, []).append(callback)
        if event not in HOOKS:
            self._note(f"its hook on {event} is never called: clew fires {', '.join(HOOKS)}")

    def register_command(
        self, name: str, handler: Callable[..., Any], description: str = "", args_hint: str = "", **_: Any
    ) -> None:
        self.commands[name.lstrip("/")] = Command(name.lstrip("/"), handler, description, args_hint)

    def register_tool(
        self,
        name: str,
        toolset: str = "",  # noqa: ARG002 clew has one set
        schema: Mapping[str, Any] | None = None,
        handler: Callable[..., Any] | None = None,
        description: str = "",
        **_: Any,
    ) -> None:
        if handler is None or not schema:
            self._note(f"the tool {name} was refused: it has no {'handler' if schema else 'schema'}")
        else:
            self.tools[name] = Tool(name, schema, handler, description or str(schema.get("description", "")))

    def register_skill(self, name: str, path: str | Path, description: str = "", **_: Any) -> None:
        self.skills[name] = Skill(name, Path(path), description)

    def get_config(self, key: str | None = None, default: Any = None) -> Any:
        """What stands under `plugins.entries.<name>` in the config: all of it, or one value."""
        value: Any = (self._host.config.get("plugins.entries") or {}).get(self.plugin_name) or {}
        for part in key.split(".") if key else ():
            value = value.get(part) if isinstance(value, Mapping) else None
        return default if value is None else value

    def has_plugin(self, name: str) -> bool:
        return name == self.plugin_name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # Python's own questions, such as those of copy
            raise AttributeError(name)
        return Absent(f"ctx.{name}", self._note)


class Asked:
    """`ctx.llm`: the summariser, asked by a plug-in."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def complete(self, messages: list[dict[str, Any]], **wishes: Any) -> Any:
        return SimpleNamespace(text=fitting(self._host.call_llm)(messages, **wishes))


class Absent:
    """What clew has not: says no when asked whether it is there, does nothing when called, and is noted then."""

    def __init__(self, name: str, note: Callable[[str], None]) -> None:
        self._name = name
        self._note = note

    def __call__(self, *_: Any, **__: Any) -> None:
        self._note(f"{self._name}() did nothing: clew has no such thing")

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}", self._note)


def _called(engine: Any) -> str:
    name = getattr(engine, "name", None)
    return name if isinstance(name, str) else type(engine).__name__

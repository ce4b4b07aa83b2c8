"""One engine, loaded: its code run, what it registered collected, everything that may go wrong said."""

from __future__ import annotations

import copy
import inspect
import logging
import os
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from clew.engines.plugin import ContextEngine
from clew.runtime.plugins.context import Command, Context, Skill, Tool
from clew.runtime.plugins.finding import KIND, Plugin, found, named
from clew.runtime.plugins.host import Host
from clew.runtime.plugins.quarters import Quarters, run, written_for_hermes
from clew.runtime.plugins.trouble import BadPlugin, bad, broken


@dataclass(frozen=True, slots=True)
class Loaded:
    """An engine for one agent, with what its plug-in registered beside it."""

    plugin: Plugin
    engine: ContextEngine
    hooks: Mapping[str, list[Callable[..., Any]]]
    """By event. Live: some engines add to it when a session starts."""
    commands: Mapping[str, Command]
    tools: Mapping[str, Tool]
    skills: Mapping[str, Skill]
    notes: tuple[str, ...]
    """What a person should know of how it was loaded."""
    close: Callable[[], None]
    """Takes the plug-in's modules out of Python again, once its agent is gone."""


def load(name: str, host: Host) -> Loaded:
    """The engine of that name for one agent. Runs its plug-in's code and no other's; BadPlugin says why it cannot."""
    return loaded(named(name, found(host.home, host.project)), host)


def loaded(plugin: Plugin, host: Host) -> Loaded:
    """The same for one that was found."""
    notes = _Notebook(host.note)
    if plugin.source == "built-in":
        return Loaded(plugin, _built_in(plugin.name, host), {}, {}, {}, {}, (), close=lambda: None)
    hooks: dict[str, list[Callable[..., Any]]] = {}
    quarters = Quarters(cache(lambda: _hermes(plugin.name, host, hooks)))
    logs = _Logs(quarters.name, notes)
    context = Context(plugin.name, host, notes, hooks)

    def close() -> None:
        logs.close()
        quarters.close()

    try:
        _register(plugin, quarters, context)
        engine = _for_one_agent(_checked(plugin, context.engine, notes), notes)
        kept = context.commands, context.tools, context.skills
        return Loaded(plugin, engine, hooks, *kept, notes.closed(), close)
    except BadPlugin:
        close()
        raise
    except (Exception, SystemExit) as error:
        close()
        folder = Path(plugin.place) if plugin.entry is None else None
        raise broken(plugin.name, plugin.place, error, folder, f"{quarters.name}.") from error


def _built_in(name: str, host: Host) -> ContextEngine:
    from clew.runtime.compressor import ContextCompressor
    from clew.runtime.lossless import LosslessEngine

    def summarise(prompt: str) -> str:
        return host.call_llm([{"role": "user", "content": prompt}])

    threshold = host.config.get("compression.threshold") or ContextEngine.threshold_percent
    made: dict[str, Callable[[], ContextEngine]] = {
        "compressor": lambda: ContextCompressor(summarise=summarise, threshold=threshold),
        "lossless": lambda: LosslessEngine(store=host.store, summarise=summarise, threshold=threshold),
    }
    return made[name]()


def _hermes(name: str, host: Host, hooks: dict[str, list[Callable[..., Any]]]) -> Mapping[str, ModuleType]:
    from clew.runtime.hermes import modules  # late: a plug-in written for clew needs none of it

    return modules(name, host, hooks)


def _register(plugin: Plugin, quarters: Quarters, context: Context) -> None:
    """Run the plug-in's code: `register(ctx)`, or the one engine class that it exports."""
    exported = _exported(plugin, quarters)
    if isinstance(exported, ModuleType):
        register = getattr(exported, "register", None)
        exported = register if callable(register) else _engine_class(plugin, exported)
    if inspect.isclass(exported) and issubclass(exported, ContextEngine):
        context.register_context_engine(_made(plugin, exported))
    elif isinstance(exported, ContextEngine):
        context.register_context_engine(exported)
    else:
        exported(context)


def _exported(plugin: Plugin, quarters: Quarters) -> Any:
    if plugin.entry is None:
        within = (KIND,) if plugin.source == "directory" else ()
        return run(quarters.move_in(Path(plugin.place), within))
    if not written_for_hermes(plugin.entry.module.partition(".")[0]):
        return plugin.entry.load()
    exported: Any = quarters.module(plugin.entry.module)
    for part in plugin.entry.attr.split(".") if plugin.entry.attr else ():
        exported = getattr(exported, part)
    return exported


def _engine_class(plugin: Plugin, module: ModuleType) -> type[ContextEngine]:
    """The class that is defined there, or below; a base class that is only imported does not count."""
    candidates = [each for each in vars(module).values() if inspect.isclass(each) and issubclass(each, ContextEngine)]
    own = [each for each in candidates if each.__module__.startswith(module.__name__)]
    if not own:
        raise bad(
            plugin.name,
            plugin.place,
            "__init__.py has neither a subclass of ContextEngine nor a function register(ctx)",
        )
    return own[0]


def _made(plugin: Plugin, engine: type[ContextEngine]) -> ContextEngine:
    if inspect.isabstract(engine):
        lacking = ", ".join(sorted(engine.__abstractmethods__))
        raise bad(plugin.name, plugin.place, f"the class {engine.__name__} lacks {lacking}")
    return engine()


def _checked(plugin: Plugin, engine: ContextEngine | None, notes: _Notebook) -> ContextEngine:
    """The engine that was registered and says that it can be used."""
    said = f"; it says: {notes.texts[-1]}" if notes.texts else ""
    unset = [variable for variable in plugin.needs if not os.environ.get(variable)]
    lacking = f"; it needs {', '.join(unset)} in the environment" if unset else ""
    if engine is None:
        raise bad(plugin.name, plugin.place, f"it registered no engine{said}{lacking}")
    available = getattr(engine, "is_available", None)
    if callable(available) and not available():
        raise bad(plugin.name, plugin.place, f"it says that it is not available{said}{lacking}")
    return engine


def _for_one_agent(engine: ContextEngine, notes: _Notebook) -> ContextEngine:
    """An installed package is imported once: when it hands out the same engine again, another agent has that one."""
    if any(other() is engine for other in _TAKEN):
        clone = getattr(engine, "clone_for_agent", None)
        try:
            engine = clone() if callable(clone) else copy.deepcopy(engine)
        except Exception as error:
            notes(f"two agents share this engine, because it could not be copied: {type(error).__name__}: {error}")
    _TAKEN[:] = [other for other in _TAKEN if other() is not None]
    _TAKEN.append(weakref.ref(engine))
    return engine


_TAKEN: list[weakref.ref[ContextEngine]] = []


class _Notebook:
    """Keeps what is noted while a plug-in is loaded; passes on what comes later."""

    def __init__(self, later: Callable[[str], None]) -> None:
        self.texts: list[str] = []
        self._later: Callable[[str], None] | None = None
        self._after = later

    def __call__(self, text: str) -> None:
        (self._later or self.texts.append)(text)

    def closed(self) -> tuple[str, ...]:
        self._later = self._after
        return tuple(self.texts)


class _Logs(logging.Handler):
    """A plug-in's warnings become notes: written to stderr they would stand in the middle of a conversation."""

    def __init__(self, name: str, note: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._note = note
        self._logger = logging.getLogger(name)
        self._logger.propagate = False
        self._logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._note(record.getMessage())

    def close(self) -> None:
        self._logger.removeHandler(self)
        super().close()

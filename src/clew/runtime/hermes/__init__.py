"""The modules that engines written for Hermes import, under the names they import, each answered by clew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from clew.core.redact import redact
from clew.runtime.hermes.asking import async_call_llm, call_llm
from clew.runtime.hermes.compressor import SUMMARY_PREFIX, ContextCompressor
from clew.runtime.hermes.engine import ContextEngine, automatic_compaction_status_message, sanitize_memory_context
from clew.runtime.hermes.measures import Measures
from clew.runtime.plugins.host import Host

Hooks = dict[str, list[Callable[..., Any]]]


def modules(name: str, host: Host, hooks: Hooks) -> dict[str, ModuleType]:
    """For the plug-in of that name: its host's settings, its host's model, and its own hooks."""
    measures = Measures(host).functions()
    asking = {"call_llm": call_llm(host), "async_call_llm": async_call_llm(host)}
    redacting = {"redact_sensitive_text": _redacted}
    compressor = type(
        "ContextCompressor", (ContextCompressor,), {"_host": host, "__module__": "agent.context_compressor"}
    )
    home = {"get_hermes_home": lambda: host.home, "display_hermes_home": lambda: str(host.home)}
    engine = {
        "ContextEngine": ContextEngine,
        "sanitize_memory_context": sanitize_memory_context,
        "automatic_compaction_status_message": automatic_compaction_status_message,
    }
    manager = SimpleNamespace(_hooks=hooks)
    return _made(
        {
            "agent": {},
            "agent.context_engine": engine,
            "agent.context_compressor": {
                "ContextCompressor": compressor, "SUMMARY_PREFIX": SUMMARY_PREFIX, **asking, **measures, **redacting,
            },
            "agent.auxiliary_client": asking,
            "agent.redact": redacting,
            "agent.model_metadata": measures,
            "hermes_constants": home,
            "hermes_cli": {},
            "hermes_cli.config": {**home, "load_config": lambda: nested(name, host.config)},
            "hermes_cli.plugins": {"get_plugin_manager": lambda: manager},
            "hermes_state": {"SessionDB": SessionDB, "DEFAULT_DB_PATH": host.home / "state.db"},
        }
    )  # fmt: skip


def nested(name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as sections in sections; those of the plug-in stand under its own name too."""
    whole: dict[str, Any] = {}
    for key, value in config.items():
        *sections, last = key.split(".")
        holder = whole
        for section in sections:
            holder = holder.setdefault(section, {})
        holder[last] = value
    own = (config.get("plugins.entries") or {}).get(name) or {}
    return {**own, **({name: own} if own else {}), **whole}


class SessionDB:
    """Hermes' database of sessions is not here: clew keeps conversations in a store of its own."""

    def __init__(self, db_path: Path | None = None, **_: Any) -> None:
        raise RuntimeError(
            f"there is no Hermes database of sessions ({db_path}): clew keeps conversations in its own store"
        )


def _redacted(text: Any, **_: Any) -> Any:
    return redact(text) if isinstance(text, str) else text


def _made(contents: Mapping[str, Mapping[str, Any]]) -> dict[str, ModuleType]:
    made: dict[str, ModuleType] = {}
    for name, members in contents.items():
        made[name] = ModuleType(name, "Offered by clew to a plug-in written for Hermes.")
        vars(made[name]).update(members)
        package, _, last = name.rpartition(".")
        if package:
            setattr(made[package], last, made[name])
    return made

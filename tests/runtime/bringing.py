"""Plug-ins written on the spot, in the style of published ones."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from clew.engines.plugin import ContextEngine
from clew.runtime.plugins import Host, Loaded, Plugin
from clew.runtime.plugins.quarters import _OPENED

ENGINE = """
    class Small(ContextEngine):
        @property
        def name(self): return "small"
        def update_from_response(self, usage): self.last_prompt_tokens = usage.get("prompt_tokens", 0)
        def should_compress(self, prompt_tokens=None): return (prompt_tokens or 0) > 1000
        def compress(self, messages, current_tokens=None, focus_topic=None): return messages[-2:]
"""
NATIVE = "from clew import ContextEngine\n" + textwrap.dedent(ENGINE)
FOR_HERMES = "from agent.context_engine import ContextEngine\n" + textwrap.dedent(ENGINE)
REGISTERS = "\ndef register(ctx):\n    ctx.register_context_engine(Small())\n"


def folder(root: Path, name: str, *, kind: str = "context_engine", **files: str) -> Path:
    """A plug-in of that name below `root`; a file for every keyword, `init` being `__init__.py`."""
    place = root / "plugins" / kind / name
    place.mkdir(parents=True)
    for file, text in files.items():
        (place / {"init": "__init__.py", "yaml": "plugin.yaml"}.get(file, f"{file}.py")).write_text(
            textwrap.dedent(text)
        )
    return place


def package(site: Path, name: str, entry: str, *, group: str = "clew.plugins", **files: str) -> None:
    """An installed package `name` in `site` with one entry point `called = entry`."""
    (site / name).mkdir(parents=True)
    for file, text in files.items():
        (site / name / ("__init__.py" if file == "init" else f"{file}.py")).write_text(textwrap.dedent(text))
    info = site / f"{name}-2.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.5\nSummary: From a package.\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")


def close_all() -> None:
    """Take out whatever a test left loaded."""
    for quarters in list(_OPENED.values()):
        quarters.close()


def host(home: Path, **more: Any) -> Host:
    """A host whose model says back how many messages it was asked with."""
    return Host(home, more.pop("call_llm", lambda messages: f"summary of {len(messages)}"), **more)


def brought(engine: ContextEngine) -> Loaded:
    """An engine as if a plug-in had registered it and nothing else."""
    plugin = Plugin(engine.name, "", "", "directory", "")
    return Loaded(plugin, engine, {}, {}, {}, {}, (), close=lambda: None)

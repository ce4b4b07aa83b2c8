"""Which engines are there to choose from? Looks at folders and metadata; runs nobody's code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal, TypeAlias

from clew.runtime.plugins.trouble import unknown

Source: TypeAlias = Literal["built-in", "directory", "plug-in", "entry point"]

BUILT_IN: Mapping[str, str] = {
    "compressor": "keeps both ends of a conversation and hands the middle over as a summary",
    "lossless": "keeps summaries in a tree over the whole history, with tools that lead back to every word",
}
"""Engines that come with clew, and what each does. No plug-in takes one of these names."""
GROUPS = ("clew.plugins", "hermes_agent.plugins")
"""Entry points under which an installed package may offer an engine."""
KIND = "context_engine"
"""The folder for plug-ins that are an engine and nothing else."""
BEFORE_A_NAME = ("hermes-", "clew-")
"""What the name of a plug-in may begin with and a person need not write: hermes-lcm is also lcm."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An engine that could be chosen."""

    name: str
    """What `context.engine` says to choose it."""
    description: str
    version: str
    source: Source
    place: str
    """The folder, or the installed package and its entry point."""
    also_called: tuple[str, ...] = ()
    """The name its plugin.yaml gives it, where that is another one."""
    needs: tuple[str, ...] = ()
    """Environment variables it says it needs."""
    hides: tuple[str, ...] = ()
    """Places of others with the same name, which this one keeps from being chosen."""
    entry: EntryPoint | None = None


def found(
    home: Path,
    project: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> list[Plugin]:
    """Every engine, in the order in which a name is looked up: of two with one name the first counts.

    `project` is given only where a folder's own plug-ins may run.
    """
    roots = [home / "plugins", *([project / ".clew" / "plugins"] if project else [])]
    if environment.get("HERMES_HOME"):
        roots.append(Path(environment["HERMES_HOME"]).expanduser() / "plugins")
    everything = [
        *(Plugin(name, told, "", "built-in", "clew") for name, told in BUILT_IN.items()),
        *(each for root in roots for each in _folders(root / KIND, "directory")),
        *(each for root in roots for each in _folders(root, "plug-in") if _offers_an_engine(Path(each.place))),
        *_installed(),
    ]
    return _first_of_each_name(everything)


def named(name: str, plugins: list[Plugin]) -> Plugin:
    """The engine of that name: its own, the one its plugin.yaml says, or either without a leading `hermes-`."""
    for spelled in (_own_name, _given_names, _short_names):
        for plugin in plugins:
            if name in spelled(plugin):
                return plugin
    raise unknown(name, [plugin.name for plugin in plugins])


def _own_name(plugin: Plugin) -> tuple[str, ...]:
    return (plugin.name,)


def _given_names(plugin: Plugin) -> tuple[str, ...]:
    return plugin.also_called


def _short_names(plugin: Plugin) -> tuple[str, ...]:
    names = (plugin.name, *plugin.also_called)
    return tuple(name.removeprefix(front) for name in names for front in BEFORE_A_NAME if name.startswith(front))


def _folders(root: Path, source: Source) -> Iterator[Plugin]:
    """The folders that hold a package; what plugin.yaml says of them."""
    try:
        folders = sorted(each for each in root.iterdir() if each.name[0] not in "._" and each.name != KIND)
    except OSError:
        return
    for folder in folders:
        if (folder / "__init__.py").is_file():
            yield _described(folder, source)


def _described(folder: Path, source: Source) -> Plugin:
    said = _manifest(folder)
    name = str(said.get("name") or folder.name)
    return Plugin(
        name=folder.name,
        description=" ".join(str(said.get("description") or "").split()),
        version=str(said.get("version") or ""),
        source=source,
        place=str(folder),
        also_called=(name,) if name != folder.name else (),
        needs=tuple(map(_variable, said.get("requires_env") or ())),
    )


def _manifest(folder: Path) -> dict[str, Any]:
    """plugin.yaml as a dict; one that cannot be read says so where its description would stand."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    for name in ("plugin.yaml", "plugin.yml"):
        try:
            said = YAML(typ="safe", pure=True).load((folder / name).read_text(encoding="utf-8-sig"))
            return said if isinstance(said, dict) else {}
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, YAMLError) as error:
            return {"description": f"{name} cannot be read: {' '.join(str(error).split())[:200]}"}
    return {}


def _variable(needed: Any) -> str:
    return str(needed.get("name", "")) if isinstance(needed, dict) else str(needed)


def _offers_an_engine(folder: Path) -> bool:
    """Most general plug-ins bring other things; one with an engine says so in its text."""
    files = (file for pattern in ("*.py", "*/*.py") for file in sorted(folder.glob(pattern)))
    return any(b"register_context_engine" in _bytes(file) for file in files)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _installed() -> Iterator[Plugin]:
    for group in GROUPS:
        for entry in sorted(entry_points(group=group), key=lambda each: each.name):
            whose = entry.dist
            yield Plugin(
                name=entry.name,
                description=(whose.metadata["Summary"] or "" if whose else ""),
                version=(whose.version if whose else ""),
                source="entry point",
                place=f"{whose.name if whose else 'an installed package'}: {entry.value}",
                entry=entry,
            )


def _first_of_each_name(everything: list[Plugin]) -> list[Plugin]:
    first: dict[str, Plugin] = {}
    for plugin in everything:
        if (winner := first.get(plugin.name)) is None:
            first[plugin.name] = plugin
        elif plugin.place != winner.place:  # one entry point may stand in both groups
            first[plugin.name] = replace(winner, hides=(*winner.hides, plugin.place))
    return list(first.values())

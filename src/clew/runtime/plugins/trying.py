"""Would this engine load? Tried in a process of its own, which a plug-in may crash or hang without harm."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from clew.runtime.plugins.finding import Plugin, found, named
from clew.runtime.plugins.host import Host
from clew.runtime.plugins.loading import loaded
from clew.runtime.plugins.trouble import BadPlugin, bad

PATIENCE = 20.0
"""Seconds in which an engine has to be loaded."""
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it."""

    loads: bool
    why: str = ""
    """Why not."""
    notes: tuple[str, ...] = ()


def try_all(plugins: Sequence[Plugin], home: Path, project: Path | None, patience: float = PATIENCE) -> list[Tried]:
    """Every one, each with an empty folder for its data: looking leaves nothing behind."""
    with TemporaryDirectory(prefix="clew-plugins-") as data, ThreadPoolExecutor(AT_ONCE) as pool:
        folders = [Path(data, str(number)) for number in range(len(plugins))]
        return list(pool.map(lambda each, folder: try_one(each, home, project, folder, patience), plugins, folders))


def try_one(
    plugin: Plugin, home: Path, project: Path | None, data: Path | None = None, patience: float = PATIENCE
) -> Tried:
    """One, with the data it would really have unless a folder for it is given."""
    if plugin.source == "built-in":
        return Tried(True)
    asked = json.dumps([plugin.name, str(home), str(project) if project else None, str(data or home)])
    try:
        ran = subprocess.run(
            [sys.executable, "-m", __name__, asked],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _not(plugin, f"it was not loaded after {patience:.0f} seconds")
    try:
        answer = json.loads(ran.stdout)
    except ValueError:
        last = ran.stderr.strip().splitlines()[-1:] or [f"exit code {ran.returncode}"]
        return _not(plugin, f"Python ended while it was loaded ({last[0][:200]})")
    return Tried(answer["loads"], answer["why"], tuple(answer["notes"]))


def _not(plugin: Plugin, why: str) -> Tried:
    return Tried(False, str(bad(plugin.name, plugin.place, why)))


def _no_model(*_: Any, **__: Any) -> str:
    raise RuntimeError("no model is asked while a plug-in is only tried")


def main(asked: str) -> None:
    name, home, project, data = json.loads(asked)
    Path(data).mkdir(parents=True, exist_ok=True)
    with contextlib.redirect_stdout(sys.stderr):  # what a plug-in prints is not the answer
        try:
            plugin = named(name, found(Path(home), Path(project) if project else None))
            answer = Tried(True, notes=loaded(plugin, Host(Path(data), _no_model)).notes)
        except BadPlugin as wrong:
            answer = Tried(False, str(wrong))
    print(json.dumps(asdict(answer)), flush=True)
    os._exit(0)  # a thread that a plug-in started would keep this process here


if __name__ == "__main__":
    main(sys.argv[1])

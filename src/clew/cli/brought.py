"""How are engines shown?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from clew.runtime.plugins import Plugin
from clew.runtime.plugins.trying import Tried
from clew.screen.layout import grid, in_one_line, say
from clew.screen.shown import shown


def document(plugin: Plugin, tried: Tried, active: bool) -> dict[str, Any]:
    """One engine as JSON."""
    known = ("name", "description", "version", "source", "place", "also_called", "hides")
    return {**{name: getattr(plugin, name) for name in known}, "active": active, **asdict(tried)}


def show_list(console: Console, plugins: Sequence[Plugin], tried: Sequence[Tried], active: Plugin | None) -> None:
    """A table of all; below it, of each, what a person should know."""
    table = grid("engine", "version", "from", "loads", "what it is", right=99, tight=True)
    for plugin, one in zip(plugins, tried, strict=True):
        name = Text(
            f"{'●' if plugin == active else ' '} {shown(plugin.name)}", style="bold" if plugin == active else ""
        )
        loads = Text("yes" if one.loads else "no", style="" if one.loads else "red")
        table.add_row(name, shown(plugin.version), plugin.source, loads, in_one_line(shown(plugin.description)))
    console.print(table)
    for plugin, one in zip(plugins, tried, strict=True):
        for line in _told(plugin, one):
            say(console, Text(shown(line), style="dim"))
    say(console, "● makes room now. 'clew plugins use NAME' changes it.")


def _told(plugin: Plugin, tried: Tried) -> list[str]:
    where = [f"{plugin.name}: {plugin.place}"] if plugin.source != "built-in" else []
    hidden = [f"{plugin.name}: another of that name, in {place}, is not used" for place in plugin.hides]
    notes = [f"{plugin.name}: {note}" for note in tried.notes]
    return [*(where if tried.loads else [tried.why]), *hidden, *notes]

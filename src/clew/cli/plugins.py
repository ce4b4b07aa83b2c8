"""`clew plugins`: who could make room, does it load, and who shall?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clew.cli.errors import Failed
from clew.cli.options import ListByDefault, json_option

if TYPE_CHECKING:
    from clew.runtime.plugins import Plugin
    from clew.runtime.plugins.trying import Tried
    from clew.runtime.settings import Settings


class PickByDefault(ListByDefault):
    """At a terminal a picker, behind a pipe the list."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        return super().parse_args(ctx, ["pick"] if not args and at_terminal else args)


@click.group(cls=PickByDefault, short_help="Engines: which there are, which is used.")
def plugins() -> None:
    """Choose who makes room: clew's own engine, or one of somebody else.
    Without a command: a picker at a terminal, the list elsewhere.

    An engine is a folder in plugins/context_engine in $CLEW_HOME or ~/.clew, a plug-in in plugins that registers one,
    or an installed package. docs/engines.md shows how to write one.
    """


@plugins.command("list", short_help="All that there are, and whether they load.")
@json_option
def list_(*, as_json: bool) -> None:
    """List the engines. Each is loaded once, in a process of its own, to see whether it can be."""
    from clew.cli import brought, screen

    settings = _settings()
    found, active = _found(settings)
    tried = _tried(found, settings)
    if as_json:
        rows = [brought.document(plugin, one, plugin == active) for plugin, one in zip(found, tried, strict=True)]
        screen.put(screen.as_json({"active": settings["context.engine"], "engines": rows}))
    else:
        brought.show_list(screen.console(), found, tried, active)
        if active is None:
            screen.warn([f"note: context.engine is {settings['context.engine']}, and there is no such engine."])


@plugins.command(short_help="Use this one from now on.")
@click.argument("name")
@json_option
def use(*, name: str, as_json: bool) -> None:
    """Use an engine from now on, if it loads: writes context.engine into the config."""
    from clew.cli import screen

    plugin = _use(name, _settings())
    if as_json:
        screen.put(screen.as_json({"active": plugin.name}))
    else:
        _tell_used(plugin.name)


@plugins.command(hidden=True)
def pick() -> None:
    """Pick an engine with the arrow keys."""
    from clew.agent.picking import pick as picked

    settings = _settings()
    found, active = _found(settings)
    rows = [(plugin.name, plugin.name, plugin.description or plugin.place) for plugin in found]
    name = picked("Who makes room?", rows, active.name if active else None)
    if name is not None and (active is None or name != active.name):
        _tell_used(_use(name, settings).name)


def _use(name: str, settings: Settings) -> Plugin:
    from clew.runtime import config
    from clew.runtime.home import home
    from clew.runtime.plugins import BadPlugin, found, named
    from clew.runtime.plugins.trying import try_one
    from clew.runtime.settings import BadSettings

    project = _project(settings)
    try:
        plugin = named(name, found(home(), project))
        tried = try_one(plugin, home(), project)
        if not tried.loads:
            raise Failed(f"{tried.why} Nothing was changed.")
        config.write("context.engine", plugin.name)
    except (BadPlugin, BadSettings) as wrong:
        raise Failed(str(wrong)) from None
    return plugin


def _tell_used(name: str) -> None:
    from clew.runtime import config

    click.echo(f"{name} makes room from now on.")
    if (over := config.read().sources.get("context.engine", "")).startswith("CLEW_"):
        click.echo(f"note: {over} is set in the environment and wins.", err=True)


def _found(settings: Settings) -> tuple[list[Plugin], Plugin | None]:
    """All engines, and the one in use."""
    from clew.runtime.home import home
    from clew.runtime.plugins import UnknownPlugin, found, named

    everything = found(home(), _project(settings))
    try:
        return everything, named(settings["context.engine"], everything)
    except UnknownPlugin:
        return everything, None


def _tried(found: list[Plugin], settings: Settings) -> list[Tried]:
    from clew.runtime.home import home
    from clew.runtime.plugins.trying import try_all

    return try_all(found, home(), _project(settings))


def _project(settings: Settings) -> Path | None:
    return Path.cwd() if settings["plugins.project"] else None


def _settings() -> Any:
    from clew.runtime import config
    from clew.runtime.settings import BadSettings

    try:
        return config.read()
    except BadSettings as wrong:
        raise Failed(str(wrong)) from None

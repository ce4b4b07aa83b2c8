"""`clew config`: what holds here, and how is it changed?"""

from __future__ import annotations

import json
from typing import Any

import click

from clew.cli.errors import Failed
from clew.cli.options import json_option


@click.group()
def config() -> None:
    """Look at the settings and change them.

    They stand in config.yaml in $CLEW_HOME (or ~/.clew); CLEW_… variables override them. Keys of providers are never
    kept there: they come from the environment.
    """


@config.command()
@json_option
def show(as_json: bool) -> None:
    """Every setting: its value, and who says so."""
    from clew.cli.screen import as_json as json_of
    from clew.cli.screen import console, put
    from clew.runtime.settings import SETTINGS

    settings = _read()
    if as_json:
        rows = {
            each.key: {"value": settings[each.key], "source": settings.sources.get(each.key, "default")}
            for each in SETTINGS
        }
        put(json_of(rows))
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("setting", "value", "from", "what it is for"):
        table.add_column(title, overflow="fold")
    for each in SETTINGS:
        source = settings.sources.get(each.key, "default")
        style = "dim" if source == "default" else "bold"
        table.add_row(each.key, _said(settings[each.key]), source, each.told, style=style)
    console().print(table)


@config.command("set")
@click.argument("key")
@click.argument("value")
@json_option
def set_(key: str, value: str, as_json: bool) -> None:
    """Change one setting in the file; 'null' takes it out. Comments in the file stay."""
    from clew.runtime import config as file
    from clew.runtime.settings import BadSettings, from_text, known

    try:
        setting = known(key, "clew config set")
        wanted = from_text(setting, value, "clew config set")
        file.write(key, wanted)
    except BadSettings as wrong:
        raise Failed(str(wrong)) from None
    if as_json:
        click.echo(json.dumps({"key": key, "value": wanted, "path": str(file.path())}))
    else:
        click.echo(f"{key} is {_said(wanted)} in {file.path()}")
        if (over := _read().sources.get(key, "")).startswith("CLEW_"):
            click.echo(f"note: {over} is set in the environment and wins.", err=True)


@config.command()
@json_option
def path(as_json: bool) -> None:
    """Where the file is, or would be."""
    from clew.runtime import config as file

    place = file.path()
    click.echo(json.dumps({"path": str(place), "exists": place.exists()}) if as_json else str(place))


def _read() -> Any:
    from clew.runtime import config as file
    from clew.runtime.settings import BadSettings

    try:
        return file.read()
    except BadSettings as wrong:
        raise Failed(str(wrong)) from None


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "—" if value is None else f"{value:,}" if isinstance(value, int) else str(value)

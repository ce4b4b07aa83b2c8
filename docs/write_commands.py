"""Writes docs/commands.md from the commands' own help: `python docs/write_commands.py`. A test compares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from clew.cli.main import clew

PAGE = Path(__file__).with_name("commands.md")


def page() -> str:
    """The help of every command, one after the other, as a person sees it."""
    parts = ["# Commands", "", "Written by `docs/write_commands.py` from the commands' own help."]
    for name in ("", *_names(clew)):
        asked = CliRunner().invoke(clew, [*name.split(), "--help"], prog_name="clew", terminal_width=100)
        parts += ["", f"## {f'clew {name}'.strip()}", "", "```text", asked.output.rstrip(), "```"]
    return "\n".join(parts) + "\n"


def _names(group: click.Group, before: str = "") -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        yield f"{before}{name}"
        if isinstance(command, click.Group):
            yield from _names(command, f"{before}{name} ")


if __name__ == "__main__":
    PAGE.write_text(page())

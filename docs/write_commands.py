"""Writes docs/commands.md from the commands' own help: `python docs/write_commands.py`. A test compares."""

from __future__ import annotations

from pathlib import Path

import click

from clew.cli.main import clew

PAGE = Path(__file__).with_name("commands.md")


def page() -> str:
    """The help of every command, one after the other."""
    parts = ["# Commands", "", "Written by `docs/write_commands.py` from the commands' own help."]
    for name in ("", *sorted(clew.commands)):
        command = clew.commands[name] if name else clew
        words = f"clew {name}".strip()
        context = click.Context(command, info_name=words, terminal_width=100)
        parts += ["", f"## {words}", "", "```text", command.get_help(context), "```"]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())

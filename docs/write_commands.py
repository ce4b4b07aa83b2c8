"""Writes docs/commands.md from the commands' own help: `python docs/write_commands.py`. A test compares."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from clew.cli.main import clew

PAGE = Path(__file__).with_name("commands.md")


def page() -> str:
    """The help of every command, one after the other, as a person sees it."""
    parts = ["# Commands", "", "Written by `docs/write_commands.py` from the commands' own help."]
    for name in ("", *sorted(clew.commands)):
        asked = CliRunner().invoke(clew, [*name.split(), "--help"], prog_name="clew", terminal_width=100)
        parts += ["", f"## {f'clew {name}'.strip()}", "", "```text", asked.output.rstrip(), "```"]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())

"""What exactly would a call write? A short diff, for the person who is asked."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from clew.agent.tools.tool import Arguments
from clew.screen.amounts import count

MOST = 24
"""Lines of a diff that are shown."""
LARGEST = 200_000
"""Bytes of a file that is compared."""


def preview(tool: str, arguments: Arguments, place: Path) -> str:
    """The change as a diff; empty where there is none to show."""
    before = _text(place)
    if before is None:
        return ""
    if tool == "write_file":
        return _diff(before, arguments["content"])
    if tool == "patch" and arguments["old"] and arguments["old"] in before:
        return _diff(before, before.replace(arguments["old"], arguments["new"]))
    return ""


def _text(place: Path) -> str | None:
    try:
        return place.read_bytes().decode() if place.stat().st_size <= LARGEST else None
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        return None


def _diff(before: str, after: str) -> str:
    lines = list(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]
    return "\n".join(_shortened(lines))


def _shortened(lines: Sequence[str]) -> list[str]:
    if len(lines) <= MOST:
        return list(lines)
    return [*lines[:MOST], f"… {count(len(lines) - MOST, 'more line')}"]

"""What is said when a plug-in cannot be used: which, where, why, and what to do?"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

WHAT_NOW = "Mend it, or choose another engine: clew plugins use compressor."


class BadPlugin(Exception):
    """An engine that cannot be used; the text says which, where, why, and what to do."""


class UnknownPlugin(BadPlugin):
    """No engine has that name; the text lists those there are."""


def unknown(name: str, names: Sequence[str]) -> UnknownPlugin:
    near = get_close_matches(name, names, 1, 0.5)
    meant = f" Did you mean {near[0]}?" if near else ""
    return UnknownPlugin(
        f"there is no engine {name!r}.{meant} There is: {', '.join(names)}. 'clew plugins list' says where from."
    )


def bad(name: str, place: str, why: str, what_now: str = WHAT_NOW) -> BadPlugin:
    return BadPlugin(f"the engine {name} ({place}) cannot be used: {why}. {what_now}")


def broken(name: str, place: str, error: BaseException, folder: Path | None, private: str) -> BadPlugin:
    """For an exception out of the plug-in's own code: its words, and the line in the plug-in where it happened."""
    told = " ".join(str(error).split()).replace(private, "")
    why = f"{type(error).__name__}: {told}" if told else type(error).__name__
    if (line := _line(error, folder)) is not None:
        why += f" ({line})"
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing and not missing.startswith(private):
        return bad(name, place, why, f"Install what it needs beside clew (pip install {missing}), or choose another.")
    return bad(name, place, why)


def _line(error: BaseException, folder: Path | None) -> str | None:
    """The last line of the plug-in's own that was run."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if folder and Path(frame.filename).is_relative_to(folder)]
    return f"{Path(own[-1].filename).relative_to(folder)}, line {own[-1].lineno}" if own and folder else None

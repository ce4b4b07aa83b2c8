"""Which places may a tool touch?"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LONGEST_NAME = 255
"""Bytes in one name of a path, on every common file system."""
LONGEST_PATH = 4_096
"""Bytes in a whole path on Linux."""
_TRAVERSES = re.compile(r"(?:^|/)\.\.(?:/|$)")


class ToolError(Exception):
    """What a tool could not do, as a sentence for the model: what happened, and what to do now."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where the tools work, and what they are lent for it."""

    root: Path
    extra: tuple[Path, ...] = ()
    """Folders outside the root that are open too."""
    read_blob: Callable[[str, int, int], str] | None = None
    """Lines of stored output: its name without `blob:`, the first line counted from 1, how many."""
    cancelled: Callable[[], bool] = lambda: False
    """Asked several times a second while a command runs; the command ends when it says yes."""
    private_web: bool = False
    """Pages may come over plain http and from addresses of this machine and its network."""

    def resolve(self, path: str) -> Path:
        """The place a model means, with every symbolic link followed, or ToolError when it is not one of ours."""
        _refuse_misspelled(path)
        place = Path(os.path.realpath(self.base / os.path.expanduser(path)))
        if not self.holds(place):
            why = "it leads out through a symbolic link or .." if _looks_inside(path) else "it lies outside"
            raise ToolError(f"{path}: {why}. The tools work only inside {self.base}; give a path relative to it.")
        return place

    def holds(self, place: Path) -> bool:
        """Whether a place with no symbolic links left in it is one of ours."""
        return any(place.is_relative_to(os.path.realpath(folder)) for folder in (self.root, *self.extra))

    def shown(self, place: Path) -> str:
        """A place as the model should spell it."""
        return str(place.relative_to(self.base)) if place.is_relative_to(self.base) else str(place)

    @property
    def base(self) -> Path:
        """The root, with no symbolic links left in it."""
        return Path(os.path.realpath(self.root))


def _refuse_misspelled(path: str) -> None:
    if not path.strip():
        raise ToolError("the path is empty; give one relative to the workspace, such as src/main.py")
    if "\0" in path:
        raise ToolError("the path holds a null character, which no file name can")
    spelled = path.encode("utf-8", "surrogatepass")
    longest = max(len(name) for name in spelled.split(b"/"))
    if longest > LONGEST_NAME or len(spelled) > LONGEST_PATH:
        raise ToolError(
            f"the path is too long: {len(spelled):,} bytes, its longest name {longest:,}; "
            f"a name may have {LONGEST_NAME} bytes and a path {LONGEST_PATH:,}. Is this the content of a file?"
        )


def _looks_inside(path: str) -> bool:
    return not path.startswith(("/", "~")) or bool(_TRAVERSES.search(path))

"""Which files does a project not care for, by its .gitignore?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

LONGEST = 100_000
"""Characters read of one .gitignore."""


@dataclass(frozen=True, slots=True)
class Rule:
    folder: Path
    """Where its .gitignore lies."""
    pattern: re.Pattern[str]
    keeps: bool
    """It began with `!`."""
    folders_only: bool


def rules_of(folder: Path) -> tuple[Rule, ...]:
    """The rules of the .gitignore of one folder; none when it has none that can be read."""
    try:
        with (folder / ".gitignore").open(encoding="utf-8", errors="replace") as file:
            lines = file.read(LONGEST).splitlines()
    except OSError:
        return ()
    return tuple(
        Rule(folder, matching(line.removeprefix("!").rstrip("/")), line.startswith("!"), line.endswith("/"))
        for line in (line.strip() for line in lines)
        if line.strip("!/") and not line.startswith("#")
    )


def is_ignored(place: Path, is_folder: bool, rules: tuple[Rule, ...]) -> bool:
    """The last rule that matches decides, as git has it."""
    for rule in reversed(rules):
        if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(place.relative_to(rule.folder).as_posix()):
            return not rule.keeps
    return False


@lru_cache(maxsize=512)
def matching(glob: str) -> re.Pattern[str]:
    """A glob as git reads it: without a slash inside it matches a name at any depth, with one the path from its folder.

    `*` and `?` stay within a name, `**` crosses folders.
    """
    anywhere = "" if "/" in glob else "(?:.*/)?"
    pieces = re.split(r"(/\*\*/|\*\*/|/\*\*|\*\*|\*|\?|\[[^\]/]+\])", glob.removeprefix("/"))
    spelled = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    try:
        return re.compile(anywhere + "".join(spelled.get(piece) or _literal(piece) for piece in pieces), re.DOTALL)
    except re.error:  # a character class such as [z-a]
        return re.compile(re.escape(glob))


def _literal(piece: str) -> str:
    if piece.startswith("[") and piece.endswith("]") and len(piece) > 2:
        return "[" + piece[1:-1].replace("\\", "\\\\").replace("[", "\\[").replace("!", "^", piece[1] == "!") + "]"
    return re.escape(piece)

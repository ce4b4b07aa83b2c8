"""search_files: which lines match a regular expression."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from clew.agent.tools import matching_lines
from clew.agent.tools.ignoring import matching
from clew.agent.tools.reading import existing
from clew.agent.tools.tool import Arguments, Risk, Tool, function, number, text
from clew.agent.tools.walking import walk
from clew.agent.workspace import ToolError, Workspace

PATIENCE = 20.0
"""Seconds for one search."""
MOST_FILES = 100_000


def search_files(arguments: Arguments, at: Workspace, *, patience: float = PATIENCE) -> str:
    pattern, limit, offset = arguments["pattern"], arguments["limit"], arguments["offset"]
    _refuse_bad(pattern)
    files = _files(arguments["path"], arguments.get("glob"), at)
    if not files:
        return "[no files to search there: check path and glob; .git and what .gitignore names are left out]"
    matches, in_time = _matches(pattern, files, offset + limit + 1, patience)
    lines = [f"{at.shown(place)}:{number}:{line}" for place, number, line in matches[offset : offset + limit]]
    if len(matches) > offset + limit:
        lines.append(f"[more matches follow; see them with offset={offset + limit}]")
    if not in_time:
        lines.append(f"[stopped after {patience:g} s with {len(matches)} found; simplify the pattern, or narrow path]")
    if len(files) == MOST_FILES:
        lines.append(f"[only the first {MOST_FILES:,} files were searched; narrow path]")
    return "\n".join(lines) or _none(len(matches), offset, len(files))


def _refuse_bad(pattern: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolError(f"pattern is no regular expression of Python: {error}. Escape signs meant as text.") from None
    if "\0" in pattern or not pattern:
        raise ToolError("pattern is empty or holds a null character; give the words to look for.")


def _files(path: str, glob: str | None, at: Workspace) -> list[Path]:
    start = at.resolve(path)
    if not start.is_dir():
        existing(start, path, at)
        return [start]
    wanted = matching(glob) if glob else None
    found = (entry.place for entry in walk(start, at) if not entry.is_folder)
    chosen = (place for place in found if wanted is None or wanted.fullmatch(place.relative_to(start).as_posix()))
    return list(islice(chosen, MOST_FILES))


def _matches(
    pattern: str, files: Iterable[Path], most: int, patience: float
) -> tuple[list[tuple[Path, int, str]], bool]:
    """The first matches, and whether the search came to its end in time."""
    asked = b"\0".join([pattern.encode(), b"%d" % most, *(os.fsencode(file) for file in files)])
    command = [sys.executable, "-I", "-S", matching_lines.__file__]
    try:
        done = subprocess.run(command, input=asked, capture_output=True, timeout=patience)
    except subprocess.TimeoutExpired as error:
        return _read(error.stdout or b""), False
    if done.returncode:
        raise ToolError(f"the search broke: {done.stderr.decode('utf-8', 'replace').strip()[-500:]}")
    return _read(done.stdout), True


def _read(output: bytes) -> list[tuple[Path, int, str]]:
    fields = output.split(b"\0")[:-1]
    whole = len(fields) // 3 * 3
    return [
        (Path(os.fsdecode(fields[n])), int(fields[n + 1]), fields[n + 2].decode("utf-8", "replace"))
        for n in range(0, whole, 3)
    ]


def _none(found: int, offset: int, files: int) -> str:
    if found:
        return f"[only {found:,} matches; none from offset {offset}]"
    return f"[no line matches in {files:,} files]"


SEARCH_FILES = Tool(
    function(
        "search_files",
        "Search files line by line with a Python regular expression; answers file:line:text. Leaves out .git, binary "
        "files and what .gitignore names.",
        pattern=text("Regular expression; (?i) in front ignores case."),
        path=text("File or folder to search, relative to the workspace.", default="."),
        glob=text("Only files such as *.py or src/**/*.ts.", optional=True),
        limit=number("How many matches at most.", default=50, least=1, most=500),
        offset=number("How many matches to skip.", default=0, least=0),
    ),
    Risk.READS,
    search_files,
)

"""read_file: some lines of a file, or of stored output, with their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import IO

from clew.agent.tools.kinds import encoding_of, kind_of
from clew.agent.tools.tool import Arguments, Risk, Tool, function, number, text
from clew.agent.workspace import ToolError, Workspace
from clew.core.results import readable_size
from clew.store.blobs import POINTER
from clew.store.trouble import StoreError

LINE = 2_000
"""Characters shown of one line."""
MOST = 60_000
"""Characters in one answer: about 15,000 tokens."""
CHUNK = 65_536
"""Characters read at a time of a line that does not end."""


def read_file(arguments: Arguments, at: Workspace) -> str:
    path, offset, limit = arguments["path"], arguments["offset"], arguments["limit"]
    if stored := POINTER.fullmatch(path.strip()):
        return _page(StringIO(_stored(stored[1], offset, limit, at)), path, offset, limit, first=offset)
    place = at.resolve(path)
    existing(place, path, at)
    with place.open("rb") as file:
        start = file.read(8_192)
    if kind := kind_of(start):
        size = readable_size(place.stat().st_size)
        raise ToolError(f"{path} is {kind}, {size}; read_file shows text only. The terminal tool can examine it.")
    # Only \n ends a line here, so that numbers are those that editors, compilers and `search_files` give.
    with place.open(encoding=encoding_of(start), errors="replace", newline="\n") as lines:
        return _page(lines, path, offset, limit, first=1)


def existing(place: Path, path: str, at: Workspace) -> None:
    """ToolError unless a regular file stands there: a pipe or a device would never end."""
    if place.is_dir():
        raise ToolError(f"{path} is a folder; see what is in it with list_files.")
    if place.is_file():
        return
    if place.exists():
        raise ToolError(f"{path} is no regular file but a pipe, a socket or a device.")
    names = [entry.name for entry in place.parent.iterdir()] if place.parent.is_dir() else []
    near = [at.shown(place.parent / name) for name in get_close_matches(place.name, names, n=3)]
    hint = f"Near it: {', '.join(near)}." if near else "See what there is with list_files."
    raise ToolError(f"there is no file {path}. {hint}")


def _stored(name: str, offset: int, limit: int, at: Workspace) -> str:
    if at.read_blob is None:
        raise ToolError("no stored output can be read here.")
    try:
        return at.read_blob(name, offset, limit + 1)  # one more tells whether more follows
    except StoreError as error:
        raise ToolError(str(error)) from error


def _page(source: IO[str], path: str, offset: int, limit: int, *, first: int) -> str:
    """`limit` lines from line `offset`; the next line of `source` is line `first`."""
    shown: list[str] = []
    room, last = MOST, first - 1
    for last, line in enumerate(_lines(source), first):
        if last < offset:
            continue
        numbered = f"{last}\t{line}"
        if shown and (len(shown) == limit or room < len(numbered)):
            return "\n".join([*shown, f"[{path} goes on; read more with offset={last}]"])
        shown.append(numbered)
        room -= len(numbered)
    if not shown:
        if offset == 1:
            return f"[{path} is empty]"
        ends = f"; its last line is {last}" if first == 1 else ""
        raise ToolError(f"{path} has no line {offset}{ends}.")
    return "\n".join(shown)


def _lines(source: IO[str]) -> Iterator[str]:
    """Each line without its end, cut where it is longer than a person would read; memory holds one piece of it."""
    while piece := source.readline(CHUNK):
        line, length = piece[:LINE], len(piece)
        while not piece.endswith("\n") and (piece := source.readline(CHUNK)):
            length += len(piece)
        more = length - len(line) - piece.endswith("\n")
        yield line.rstrip("\r\n") + (f" [line cut: {more:,} more characters]" if more > 0 else "")


def numbered(lines: Iterable[tuple[int, str]]) -> str:
    """Some lines with their numbers, as `read_file` shows them."""
    return "\n".join(f"{number}\t{line[:LINE]}" for number, line in lines)


READ_FILE = Tool(
    function(
        "read_file",
        "Read lines of a text file, each with its number. Also reads output that was stored, by its pointer blob:…",
        path=text("Path relative to the workspace, or a pointer blob:…"),
        offset=number("First line, counted from 1.", default=1, least=1),
        limit=number("How many lines at most.", default=2_000, least=1, most=10_000),
    ),
    Risk.READS,
    read_file,
)

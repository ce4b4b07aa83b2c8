"""patch: an exact piece of a file becomes another."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

from clew.agent.tools.placeholders import refuse_placeholder
from clew.agent.tools.reading import existing, numbered
from clew.agent.tools.tool import Arguments, Risk, Tool, function, number, text
from clew.agent.workspace import ToolError, Workspace
from clew.runtime.files import replace_file

NEAR = 5_000
"""Lines among which the nearest are sought: comparing takes about 20 µs each."""
_BARE = re.compile(r"(?<!\r)\n")


def patch(arguments: Arguments, at: Workspace) -> str:
    path, count = arguments["path"], arguments["count"]
    place = at.resolve(path)
    existing(place, path, at)
    before = _text_of(place, path)
    old, new = (_ended_as(before, arguments[field]) for field in ("old", "new"))
    if not old or old == new:
        raise ToolError("old is empty; give the text to replace." if not old else "old and new are the same text.")
    starts = [found.start() for found in re.finditer(re.escape(old), before)]
    lines = ", ".join(str(before.count("\n", 0, start) + 1) for start in starts[:10])
    if not starts:
        raise ToolError(f"{path} does not hold old, so nothing was changed. {_nearest(before, old)}")
    if len(starts) != count:
        raise ToolError(
            f"{path} holds old {len(starts):,} times (lines {lines}), not {count}; nothing was changed. Give more of "
            f"the text around the place you mean, or count={len(starts)} to replace all."
        )
    after = before.replace(old, new)
    refuse_placeholder(after, before, path)
    replace_file(place, after.encode())
    return f"{path}: changed at line{'s' if count > 1 else ''} {lines}."


def _text_of(place: Path, path: str) -> str:
    try:
        return place.read_bytes().decode()  # not read_text: every line keeps its own end
    except UnicodeDecodeError:
        raise ToolError(f"{path} is not UTF-8 text; patch would damage it. Change it with the terminal tool.") from None


def _ended_as(before: str, piece: str) -> str:
    """The piece with the line ends of a file whose every line ends in \\r\\n; models write \\n."""
    return _BARE.sub("\r\n", piece) if "\r\n" in before and not _BARE.search(before) else piece


def _nearest(before: str, old: str) -> str:
    lines = before.splitlines()[:NEAR]
    wanted = [line for line in old.splitlines() if line.strip()]
    places: dict[str, int] = {}
    for place, line in enumerate(lines, 1):
        places.setdefault(line.strip(), place)
    near = [places[match] for line in wanted[:1] for match in get_close_matches(line.strip(), places, n=3)]
    if not near:
        return "No line is like its first line; read the file again."
    told = "The nearest lines to its first line" if lines[near[0] - 1] != wanted[0] else "Its first line is there"
    return f"{told}:\n{numbered((place, lines[place - 1]) for place in sorted(near))}"


PATCH = Tool(
    function(
        "patch",
        "Replace an exact piece of a text file. old has to match to the character, white space too, and to stand "
        "there exactly count times.",
        path=text("Path relative to the workspace."),
        old=text("The text to replace, without line numbers."),
        new=text("The text to put there; empty to take old out."),
        count=number("How many times old stands in the file; all are replaced.", default=1, least=1),
    ),
    Risk.WRITES,
    patch,
)

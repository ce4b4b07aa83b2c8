"""write_file: a whole file, new or replaced."""

from __future__ import annotations

from clew.agent.tools.placeholders import refuse_placeholder
from clew.agent.tools.tool import Arguments, Risk, Tool, function, text
from clew.agent.workspace import ToolError, Workspace
from clew.runtime.files import replace_file


def write_file(arguments: Arguments, at: Workspace) -> str:
    path, content = arguments["path"], arguments["content"]
    place = at.resolve(path)
    if place.is_dir():
        raise ToolError(f"{path} is a folder; give the path of a file.")
    if place.exists() and not place.is_file():
        raise ToolError(f"{path} is no regular file but a pipe, a socket or a device.")
    before = place.read_bytes() if place.exists() else None
    refuse_placeholder(content, (before or b"").decode("utf-8", "replace"), path)
    data = content.encode()
    if data == before:
        return f"{path} says this already; nothing was written."
    place.parent.mkdir(parents=True, exist_ok=True)
    replace_file(place, data)
    how = "made" if before is None else f"replaced (it had {_lines(before.decode('utf-8', 'replace'))})"
    return f"{path}: {how}, {_lines(content)} written."


def _lines(content: str) -> str:
    count = content.count("\n") + (not content.endswith("\n") and content != "")
    return "1 line" if count == 1 else f"{count:,} lines"


WRITE_FILE = Tool(
    function(
        "write_file",
        "Write a whole text file; folders are made, a file that exists is replaced. To change part of one, use patch.",
        path=text("Path relative to the workspace."),
        content=text("The whole new text."),
    ),
    Risk.WRITES,
    write_file,
)

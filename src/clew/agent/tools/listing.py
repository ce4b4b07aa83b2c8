"""list_files: what is in a folder."""

from __future__ import annotations

from itertools import islice

from clew.agent.tools.tool import Arguments, Risk, Tool, function, number, text
from clew.agent.tools.walking import Found, walk
from clew.agent.workspace import ToolError, Workspace
from clew.core.results import readable_size


def list_files(arguments: Arguments, at: Workspace) -> str:
    path, limit = arguments["path"], arguments["limit"]
    folder = at.resolve(path)
    if not folder.is_dir():
        raise ToolError(f"{path} is {'a file; see it with read_file' if folder.exists() else 'not there'}.")
    found = list(islice(walk(folder, at, depth=arguments["depth"]), limit + 1))
    if not found:
        return f"[{path} is empty, or holds only what .gitignore names]"
    lines = [_line(entry, at) for entry in found[:limit]]
    if len(found) > limit:
        lines.append(f"[more than {limit}: list one of these folders, or give less depth or a higher limit]")
    return "\n".join(lines)


def _line(found: Found, at: Workspace) -> str:
    shown = at.shown(found.place)
    return f"{shown}/" if found.is_folder else f"{shown} ({readable_size(found.size)})"


LIST_FILES = Tool(
    function(
        "list_files",
        "List the files and folders below a folder, with sizes. Leaves out .git and what .gitignore names.",
        path=text("Folder, relative to the workspace.", default="."),
        depth=number("How many levels down.", default=2, least=1, most=20),
        limit=number("How many entries at most.", default=200, least=1, most=2_000),
    ),
    Risk.READS,
    list_files,
)

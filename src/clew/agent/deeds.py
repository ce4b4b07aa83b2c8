"""What does a call do, and what came of it, in a person's words and on one line?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from typing import Any

from clew.facts.messages import Message, ToolCall
from clew.screen.amounts import count
from clew.screen.titles import one_line

SHOWN = 100
"""Characters of a call that are ever shown."""
_EXIT = re.compile(r"exit code (-?\d+)(?:\n|$)")


def deed(call: ToolCall) -> str:
    """`read_file src/a.py:10-60`, `terminal $ make test`, `patch src/a.py +12 −3`."""
    arguments = _read(call.arguments)
    tell = _TOLD.get(call.name, _plainly)
    try:
        told = tell(arguments) if arguments is not None else call.arguments
    except (KeyError, TypeError, ValueError, AttributeError):  # a model may write anything
        told = call.arguments
    return one_line(f"{call.name} {told}", SHOWN).rstrip()


def outcome(call: ToolCall, result: Message) -> str:
    """The essence of a result: an exit code, how many lines, or the one line that it is."""
    text = result.text.strip()
    if call.name == "terminal" and (ended := _EXIT.match(text)):
        return f"exit {ended[1]}, {_lines(text[ended.end() :])}"
    if is_failed(result):
        return one_line(text.removeprefix("Error: ").split("\n")[0], SHOWN)
    if "\n" not in text and call.name not in ("read_file", "search_files", "list_files"):
        return one_line(text.removeprefix(f"{_path(call)}: ").removesuffix("."), SHOWN)
    return _lines(text)


def is_failed(result: Message) -> bool:
    """Whether a call came to nothing: the tool says so, or the command does."""
    ended = _EXIT.match(result.text)
    return bool(result.raw.get("is_error")) or (ended is not None and ended[1] != "0" and result.name == "terminal")


def changed_lines(old: str, new: str) -> tuple[int, int]:
    """How many lines come, and how many go."""
    before, after = old.splitlines(), new.splitlines()
    come = gone = 0
    for kind, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            gone, come = gone + last - first, come + end - start
    return come, gone


def _read(arguments: str) -> Mapping[str, Any] | None:
    try:
        read = json.loads(arguments or "{}")
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def _path(call: ToolCall) -> str:
    arguments = _read(call.arguments)
    return str(arguments.get("path", "")) if arguments else ""


def _lines(text: str) -> str:
    return count(len(text.splitlines()), "line") if text.strip() else "no output"


def _reading(told: Mapping[str, Any]) -> str:
    first, many = told.get("offset") or 1, told.get("limit")
    if many:
        return f"{told['path']}:{first}-{first + many - 1}"
    return f"{told['path']}:{first}-" if first > 1 else str(told["path"])


def _patching(told: Mapping[str, Any]) -> str:
    come, gone = changed_lines(told["old"], told["new"])
    times = told.get("count") or 1
    return f"{told['path']} +{come * times} −{gone * times}"


def _searching(told: Mapping[str, Any]) -> str:
    where = "".join(f" in {told[field]}" for field in ("path", "glob") if told.get(field))
    return f"“{told['pattern']}”{where}"


def _plainly(told: Mapping[str, Any]) -> str:
    """Whatever it is: its values, with their names where there are several."""
    if len(told) == 1:
        return str(next(iter(told.values())))
    return ", ".join(f"{name}: {value}" for name, value in told.items())


_TOLD: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "read_file": _reading,
    "list_files": lambda told: str(told.get("path", ".")),
    "search_files": _searching,
    "search_history": lambda told: f"“{told['query']}”",
    "patch": _patching,
    "write_file": lambda told: f"{told['path']} {_lines(told['content'])}",
    "terminal": lambda told: f"$ {told['command']}",
    "web_extract": lambda told: str(told["url"]),
    "delegate": lambda told: str(told["task"]),
}

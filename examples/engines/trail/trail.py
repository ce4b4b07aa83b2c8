"""What is left of messages that go: who asked what, which files were named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

OPENING = "[Record of the earlier conversation, for reference]"
PATHS = ("path", "file", "file_path", "filename", "notebook_path")
"""What tools call the argument that names a file."""


@dataclass(frozen=True)
class Trail:
    """Requests and files, each once, in the order they came."""

    requests: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def told(self, focus: str | None = None) -> str:
        """The trail as the model reads it."""
        about = [f"Keep in mind above all: {focus}"] if focus else []
        asked = [f"- {text}" for text in self.requests] or ["- nothing"]
        touched = [f"- {path}" for path in self.files] or ["- none"]
        return "\n".join([OPENING, *about, "Asked so far:", *asked, "Files touched:", *touched])


def read_trail(messages: list[dict[str, Any]], before: Trail) -> Trail:
    """The trail so far and what these messages add to it; they hold the one that was told before, after a restart."""
    for said in messages:
        if said["role"] == "user" and not _is_asked(said):
            before = _again(said["content"], before)
    requests = [_short(said["content"]) for said in messages if said["role"] == "user" and _is_asked(said)]
    files = [path for said in messages for call in said.get("tool_calls") or [] for path in _paths(call)]
    return Trail(_each_once(before.requests, requests), _each_once(before.files, files))


def _is_asked(said: dict[str, Any]) -> bool:
    return not str(said["content"]).startswith(OPENING)


def _again(text: str, before: Trail) -> Trail:
    """A trail that was told before, as a trail."""
    asked, _, touched = text.partition("Files touched:")
    lists = [[line[2:] for line in part.splitlines() if line.startswith("- ")] for part in (asked, touched)]
    requests, files = ([line for line in each if line not in ("nothing", "none")] for each in lists)
    return Trail(_each_once(before.requests, requests), _each_once(before.files, files))


def _short(content: Any) -> str:
    """One line of it; of a message with pictures its texts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    line = " ".join(" ".join(str(part.get("text", "")) for part in parts).split())
    return line if len(line) <= 200 else f"{line[:200]}…"


def _paths(call: dict[str, Any]) -> Iterator[str]:
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        return
    if isinstance(arguments, dict):
        yield from (arguments[key] for key in PATHS if isinstance(arguments.get(key), str))


def _each_once(*lists: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for each in lists for text in each))

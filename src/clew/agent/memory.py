"""What does the model remember from one session to the next? Two files that it writes itself, with a tool."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from clew.agent.suspicion import suspicious
from clew.core.redact import redact
from clew.runtime.files import replace_file
from clew.runtime.home import home

if sys.platform != "win32":
    import fcntl


@dataclass(frozen=True)
class MemoryFile:
    name: str
    limit: int
    """Characters. Every prompt of every session carries the file, so it holds what is worth that and no more."""


FILES: Mapping[str, MemoryFile] = {"memory": MemoryFile("MEMORY.md", 4_000), "user": MemoryFile("USER.md", 2_000)}

MEMORY_TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "memory",
        "description": (
            "Keep facts for later sessions. File 'memory': the work, its places, decisions and traps. File 'user': who "
            "the person is and what they prefer. Write down, without being asked, what will still hold next week, one "
            "fact a call, in a sentence or two; no passwords, no progress of the task at hand. "
            "Later sessions start with these files; this one sees a change only through 'read'."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ["add", "replace", "remove", "read"]},
                "file": {"type": "string", "enum": list(FILES)},
                "text": {"type": "string", "description": "The new entry, for add and replace."},
                "old": {"type": "string", "description": "Words of the one entry that replace or remove is about."},
            },
            "required": ["action", "file"],
            "additionalProperties": False,
        },
    },
}


class Refused(ValueError):
    """A change that was not made; the text says why and what to do."""


class Memory:
    """The files in a folder, clew's home unless told otherwise. Several processes may write them."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or home()

    def run(self, arguments: Mapping[str, Any]) -> str:
        """Do what the model asked for and tell it how that went."""
        given = {name: value for name, value in arguments.items() if isinstance(value, str)}
        action, file = given.get("action"), given.get("file", "memory")
        text, old = given.get("text", ""), given.get("old", "")
        try:
            if file not in FILES:
                raise Refused(f"there is no file {file!r}; choose one of: {', '.join(FILES)}")
            match action:
                case "add":
                    return self.add(file, text)
                case "replace":
                    return self.replace(file, old, text)
                case "remove":
                    return self.remove(file, old)
                case "read":
                    return _told(file, self.read(file))
            raise Refused(f"there is no action {action!r}; choose one of: add, replace, remove, read")
        except Refused as refusal:
            return f"Not done: {refusal}"

    def read(self, file: str) -> str:
        """The whole file; empty when there is none yet."""
        path = self.folder / FILES[file].name
        try:
            return path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise Refused(f"{path} is not UTF-8 text; mend or remove it") from None
        except OSError as error:
            raise Refused(f"{path} cannot be read: {error.strerror or error}") from None

    def entries(self, file: str) -> tuple[str, ...]:
        return tuple(entry.text for entry in entries_of(self.read(file)))

    def add(self, file: str, text: str) -> str:
        """Add an entry. One that is there already is not added again."""
        entry = _checked(text)

        def edit(now: str) -> str:
            if _same(entry, entries_of(now)):
                return now
            return "\n".join([*([now.rstrip()] if now.strip() else []), *_lines(entry), ""])

        return self._change(file, edit, done="Added to", idle="Already in", entry=entry)

    def replace(self, file: str, old: str, text: str) -> str:
        """Put another entry in the place of the one that holds the words `old`."""
        entry = _checked(text)

        def edit(now: str) -> str:
            there = entries_of(now)
            found = _the_one(old, there, file)
            if _same(entry, [other for other in there if other is not found]):
                raise Refused("another entry says this already; remove the old one instead")
            return _spliced(now, found, _lines(entry))

        return self._change(file, edit, done="Replaced in", idle="Nothing new for", entry=entry)

    def remove(self, file: str, old: str) -> str:
        """Take out the one entry that holds the words `old`."""

        def edit(now: str) -> str:
            return _spliced(now, _the_one(old, entries_of(now), file), [])

        return self._change(file, edit, done="Removed from", idle="Nothing changed in", entry="")

    def _change(self, file: str, edit: Callable[[str], str], *, done: str, idle: str, entry: str) -> str:
        kept = FILES[file]
        path = self.folder / kept.name
        try:
            with self._alone():
                before = self.read(file)  # only now: another process may have written since
                after = edit(before)
                if len(after) > kept.limit and len(after) >= len(before):
                    raise Refused(_full(file, before, len(after)))
                if after != before:
                    replace_file(path, after.encode(), mode=0o600)
        except OSError as error:
            raise Refused(f"{path} cannot be written: {error.strerror or error}") from None
        hidden = " A credential in it was written as [REDACTED]." if "[REDACTED]" in entry else ""
        what = idle if after == before else done
        return f"{what} {kept.name}, {len(after):,} of {kept.limit:,} characters used.{hidden}"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While no other process changes these files. Windows has no such lock: there the last one to write wins."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.folder / ".memory.lock").open("a") as lock:
            if sys.platform != "win32":
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Entry(NamedTuple):
    """One thing remembered: its text, and the lines of the file it stands on."""

    text: str
    start: int
    stop: int


def entries_of(text: str) -> list[Entry]:
    """A bullet with what is indented below it, a heading, a paragraph: a person may write these files as well."""
    lines = text.split("\n")
    spans: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        after_gap = bool(spans) and spans[-1][1] < number
        after_heading = bool(spans) and _HEADING.match(lines[spans[-1][0]])
        if (
            not spans
            or _BULLET.match(line)
            or _HEADING.match(line)
            or after_heading
            or (after_gap and line[0] not in " \t")
        ):
            spans.append((number, number + 1))
        else:
            spans[-1] = (spans[-1][0], number + 1)
    return [Entry(_text_of(lines[start:stop]), start, stop) for start, stop in spans]


def _text_of(lines: list[str]) -> str:
    first = _BULLET.sub("", lines[0])
    return "\n".join([first, *(line.removeprefix("  ") for line in lines[1:])]).strip()


def _lines(entry: str) -> list[str]:
    first, *rest = entry.split("\n")
    return [f"- {first}", *(f"  {line}" if line else "" for line in rest)]


_BULLET = re.compile(r"\A(?:[-*+]|\d{1,3}[.)])[ \t]+")
_OWN_BULLET = re.compile(r"\A[-*+][ \t]+")
_HEADING = re.compile(r"#{1,6}[ \t]")
_LISTED = 6_000  # characters of a list of entries: a person may have made the file far longer than its limit


def _checked(text: str) -> str:
    """The entry as it will be written: nothing that commands, no credential, no stray characters."""
    if findings := suspicious(text):
        raise Refused(f"{findings[0]}. Memory holds facts, in plain words")
    plain = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    visible = "".join(c for c in plain if c in "\n\t" or c.isprintable() or (c.isspace() and c > " "))
    lines = [line.rstrip() for line in redact(_OWN_BULLET.sub("", visible.strip())).split("\n")]
    entry = "\n".join(lines).strip()
    if not entry:
        raise Refused("text is empty; say what to remember")
    return entry


def _same(entry: str, entries: list[Entry]) -> bool:
    return any(_key(other.text) == _key(entry) for other in entries)


def _the_one(old: str, entries: list[Entry], file: str) -> Entry:
    words = _key(redact(old))
    if not words:
        raise Refused("old is empty; give words of the entry that is meant")
    found = [entry for entry in entries if _key(entry.text) == words]
    found = found or [entry for entry in entries if words in _key(entry.text)]
    if not found:
        raise Refused(f"no entry of {FILES[file].name} has these words. {_listed(entries)}")
    if len(found) > 1:
        raise Refused(f"{len(found)} entries of {FILES[file].name} have these words; give more. {_listed(found)}")
    return found[0]


def _key(text: str) -> str:
    return " ".join(text.casefold().split())


def _spliced(text: str, entry: Entry, lines: list[str]) -> str:
    """The text with other lines in the entry's place; everything else stays as it was written."""
    now = text.split("\n")
    return "\n".join([*now[: entry.start], *lines, *now[entry.stop :]])


def _full(file: str, text: str, size: int) -> str:
    kept = FILES[file]
    return (
        f"{kept.name} is full: it has {len(text):,} of {kept.limit:,} characters and would have {size:,}. "
        f"Remove or shorten something first. {_listed(entries_of(text))}"
    )


def _listed(entries: list[Entry]) -> str:
    if not entries:
        return "It holds nothing yet."
    told = "\n".join(["It holds:", *(f"{number}. {entry.text}" for number, entry in enumerate(entries, 1))])
    return told if len(told) <= _LISTED else told[:_LISTED] + "…"


def _told(file: str, text: str) -> str:
    kept = FILES[file]
    if not text.strip():
        return f"{kept.name} is empty ({kept.limit:,} characters can be used)."
    return f"{kept.name}, {len(text):,} of {kept.limit:,} characters:\n{text.strip()}"

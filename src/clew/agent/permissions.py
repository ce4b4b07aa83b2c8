"""May this call be made? The person says, once or for good, and it is remembered for the project."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from clew.agent.previewing import preview
from clew.agent.tools.commands import read_command
from clew.agent.tools.tool import Arguments, Risk, Tool
from clew.agent.workspace import Workspace
from clew.runtime.files import replace_file

ANSWERS = ("once", "always", "no", "never")
"""`always` and `never` are remembered; `once` and `no` are for this call alone. Any other answer is a no."""


class BadPermissions(ValueError):
    """The file of remembered answers cannot be read; the text says what to do."""


class Wish(NamedTuple):
    """What a call asks of the person."""

    question: str
    keys: tuple[str, ...]
    """What an answer for good is remembered under; all of them have to be allowed."""
    warning: str = ""
    """Why a remembered yes is not enough."""


class Permissions:
    """Decides call by call, as `run_call` wants it. `yes` allows everything and asks nothing."""

    def __init__(self, file: Path, ask: Callable[[str], str], *, yes: bool = False) -> None:
        self._file = file
        self._ask = ask
        self._yes = yes
        self._one_at_a_time = Lock()

    def __call__(self, tool: Tool, arguments: Arguments, at: Workspace) -> str | None:
        """None when the call may be made, otherwise a sentence for the model."""
        if self._yes or tool.risk is Risk.READS:
            return None
        wish = _wish(tool, arguments, at, self._file.parent)
        with self._one_at_a_time:
            remembered = self._remembered(at)
            if any(remembered.get(key) == "never" for key in wish.keys):
                return _refusal(tool, "for good in this project")
            if wish.keys and not wish.warning and all(remembered.get(key) == "always" for key in wish.keys):
                return None
            return self._asked(tool, wish, at)

    def _asked(self, tool: Tool, wish: Wish, at: Workspace) -> str | None:
        try:
            answer = self._ask(wish.question)
        except EOFError:  # nobody is there to answer
            answer = "no"
        if answer == "never" or (answer == "always" and not wish.warning):
            self._remember(at, dict.fromkeys(wish.keys, answer))
        return None if answer in ("once", "always") else _refusal(tool, "")

    def _remembered(self, at: Workspace) -> dict[str, str]:
        answers = self._read().get(str(at.base), {})
        return answers if isinstance(answers, dict) else {}

    def _remember(self, at: Workspace, answers: dict[str, str]) -> None:
        known = self._read()
        known[str(at.base)] = self._remembered(at) | answers
        replace_file(self._file, json.dumps(known, indent=2, ensure_ascii=False).encode() + b"\n", mode=0o600)

    def _read(self) -> dict[str, Any]:
        """Anew each time: another chat may have remembered something since."""
        try:
            known = json.loads(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError:
            known = None
        if not isinstance(known, dict):
            raise BadPermissions(f"{self._file} is damaged; mend it, or remove it to be asked again.")
        return known


def _wish(tool: Tool, arguments: Arguments, at: Workspace, home: Path) -> Wish:
    if tool.risk is Risk.RUNS:
        command = arguments["command"]
        reading = read_command(command, at)
        keys = tuple(f"{tool.name}: {key}" for key in reading.keys)
        return _told(f"run: {_visible(command)}", keys, " and ".join(reading.keys), reading.warning)
    if tool.risk is Risk.FETCHES:
        host = urlsplit(arguments["url"]).hostname or ""
        return _told(f"fetch: {_visible(arguments['url'])}", (f"{tool.name}: {host}",), host, "")
    place = at.resolve(arguments["path"])
    guarded = ".git" in place.parts or place.is_relative_to(home.resolve())
    warning = "what stands there decides what programs do later" if guarded else ""
    told = f"{tool.name.replace('_', ' ')}: {_visible(at.shown(place))}"
    if change := preview(tool.name, arguments, place):
        told += f"\n{_visible(change)}"
    return _told(told, (tool.name,), f"{tool.name} anywhere in this project", warning)


def _told(does: str, keys: tuple[str, ...], covers: str, warning: str) -> Wish:
    note = f"asked every time, because {warning}" if warning else f"always covers: {_visible(covers)}"
    return Wish(f"{does}\n({note})", keys, warning)


def _visible(text: str) -> str:
    """Signs that move the cursor or turn the writing round could make a command look like another."""
    return "".join(sign if sign.isprintable() or sign == "\n" else f"\\u{ord(sign):04x}" for sign in text)


def _refusal(tool: Tool, how: str) -> str:
    said = f"the person said no {how}".strip()
    return f"{said}: this call of {tool.name} was not made. Do not try it again in other words; ask what they want."

"""terminal: a shell command in the workspace, ended with all it started when its time is over."""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

from clew.agent.tools.environment import without_secrets
from clew.agent.tools.output import Kept
from clew.agent.tools.tool import Arguments, Risk, Tool, function, number, text
from clew.agent.workspace import ToolError, Workspace

LOOK = 0.1
"""Seconds between two looks at the clock, at the process and at whether the person cancelled."""
MERCY = 1.0
"""Seconds a command has to end by itself when asked to; and seconds its children have to fall silent after it."""


def terminal(arguments: Arguments, at: Workspace) -> str:
    command, timeout = arguments["command"], arguments["timeout"]
    if "\0" in command or not command.strip():
        raise ToolError("command is empty or holds a null character; nothing was run.")
    output = Kept()
    with _started(command, at) as process:
        try:
            ended = _watch(process, output, monotonic() + timeout, at)
        finally:
            if process.poll() is None:  # also when the person pressed Ctrl-C
                _end(process)
            _read(process, output)
    if ended.early:
        raise ToolError(f"the command was stopped {ended.early.format(timeout)}. Its output until then:\n{output}")
    note = "\n[a process it started still runs in the background]" if ended.left_behind else ""
    return f"exit code {process.returncode}\n{output}{note}"


class Ended(NamedTuple):
    early: str = ""
    """Why it had to be stopped."""
    left_behind: bool = False


def _started(command: str, at: Workspace) -> subprocess.Popen[bytes]:
    shell = shutil.which("bash") or "sh"
    return subprocess.Popen(
        [shell, "-c", command],
        cwd=at.base,
        env=without_secrets(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # a group of its own, which can be ended as one, and no terminal to ask on
        bufsize=0,
    )


def _watch(process: subprocess.Popen[bytes], output: Kept, deadline: float, at: Workspace) -> Ended:
    """Read until the command has ended and nothing more comes, or until it has to be stopped."""
    assert process.stdout
    os.set_blocking(process.stdout.fileno(), False)
    until: float | None = None
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while True:
            silent = not ready.select(LOOK)
            if not silent and not _read(process, output):
                return _wait(process, deadline, at)
            if process.poll() is None:
                if stopped := _stopped(deadline, at):
                    return stopped
            elif until is None:  # its last words may still be in the pipe
                until = monotonic() + MERCY
            elif silent or monotonic() > until:
                return Ended(left_behind=True)


def _wait(process: subprocess.Popen[bytes], deadline: float, at: Workspace) -> Ended:
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK)
            return Ended()
        if stopped := _stopped(deadline, at):
            return stopped


def _stopped(deadline: float, at: Workspace) -> Ended | None:
    if at.cancelled():
        return Ended("because the person cancelled it")
    if monotonic() > deadline:
        return Ended("after {} s; give a longer timeout, or let it run in the background")
    return None


def _read(process: subprocess.Popen[bytes], output: Kept) -> bool:
    """Take what is there; False when nothing will ever come."""
    assert process.stdout
    with suppress(BlockingIOError):
        data = os.read(process.stdout.fileno(), 65_536)
        output.add(data)
        return bool(data)
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the whole group to end, then end it: a child may live on when the shell is gone."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(MERCY)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


TERMINAL = Tool(
    function(
        "terminal",
        "Run a shell command in the workspace and get its exit code, output and errors. It has no input; what it "
        "starts ends with its timeout.",
        command=text("The command, as for bash -c."),
        timeout=number("Seconds until it is stopped.", default=120, least=1, most=3_600),
    ),
    Risk.RUNS,
    terminal,
)

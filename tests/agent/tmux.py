"""A real terminal for tests: what is typed, what stands on the screen, and the program in it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import pytest


def needed() -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed: chats are not driven in a real terminal here")


class Terminal:
    """One program in one window of a tmux of its own."""

    def __init__(self, folder: Path, environment: Mapping[str, str], *, width: int = 100, height: int = 34) -> None:
        self._server = f"clew-{uuid.uuid4().hex[:8]}"
        self._folder, self._environment = folder, environment
        self._size = ("-x", str(width), "-y", str(height))

    def __enter__(self) -> Terminal:
        names = {**os.environ, **self._environment, "TERM": "xterm-256color", "LANG": "C.UTF-8", "PS1": "project $ "}
        shell = ("new-session", "-d", *self._size, "-c", str(self._folder), "bash", "--norc", "--noprofile")
        self._tmux("-f", "/dev/null", *shell, environment=names)
        self._tmux("set-option", "-g", "history-limit", "100000")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server")

    def type(self, text: str, *, enter: bool = True) -> None:
        self._tmux("send-keys", "-l", text)
        if enter:
            self.press("Enter")

    def press(self, key: str) -> None:
        self._tmux("send-keys", key)

    def screen(self, *, whole: bool = False, colours: bool = False) -> str:
        """What stands there now; `whole` has what scrolled away too."""
        more = (*(("-S", "-") if whole else ()), *(("-e",) if colours else ()))
        return self._tmux("capture-pane", "-p", "-J", *more)

    def wait(self, text: str, *, times: int = 1, seconds: float = 60.0) -> str:
        """Until the text was shown so often; the screen then."""
        until = time.monotonic() + seconds
        while self.screen(whole=True).count(text) < times:
            if time.monotonic() > until:
                raise AssertionError(f"{text!r} did not appear {times} times within {seconds} s:\n{self.screen()}")
            time.sleep(0.05)
        return self.screen()

    def kill(self, name: str) -> None:
        """End the program that runs in the shell, with no chance to say goodbye."""
        shell = self._tmux("list-panes", "-F", "#{pane_pid}").strip()
        child = subprocess.run(["pgrep", "-P", shell, "-f", name], capture_output=True, text=True, check=True).stdout
        os.kill(int(child.split()[0]), signal.SIGKILL)

    def _tmux(self, *words: str, environment: Mapping[str, str] | None = None) -> str:
        ran = subprocess.run(
            ["tmux", "-L", self._server, *words], capture_output=True, text=True, env=environment, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

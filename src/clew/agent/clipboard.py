"""Is there a picture in the clipboard? Programs of the desktop tell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from clew.agent.pasting import NoPicture, Picture, picture_of

PATIENCE = 5
"""Seconds for one of them."""
NAME = "clipboard"
_HEX = re.compile(rb"PNGf([0-9A-Fa-f]+)")  # how AppleScript writes bytes


def picture_in_clipboard(environment: Mapping[str, str] = os.environ) -> Picture:
    """NoPicture says what is missing: a picture, or a program that could fetch it."""
    programs = [command for command in _commands(environment) if shutil.which(command[0])]
    if not programs:
        raise NoPicture("no program to read the clipboard: install wl-clipboard, xclip or pngpaste, or write @path.png")
    for command in programs:
        data = _output(command)
        if found := _HEX.search(data) if command[0] == "osascript" else None:
            data = bytes.fromhex(found[1].decode())
        if data:
            return picture_of(NAME, data)
    raise NoPicture("there is no picture in the clipboard")


def _commands(environment: Mapping[str, str]) -> list[Sequence[str]]:
    wayland, x11 = bool(environment.get("WAYLAND_DISPLAY")), bool(environment.get("DISPLAY"))
    commands: list[Sequence[str]] = [("wl-paste", "--type", "image/png")] if wayland else []
    commands += [("xclip", "-selection", "clipboard", "-t", "image/png", "-o")] if x11 else []
    return [*commands, ("pngpaste", "-"), ("osascript", "-e", "the clipboard as «class PNGf»")]


def _output(command: Sequence[str]) -> bytes:
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""

"""How do lines stay below a text that is still being written? They are wiped and drawn again, and nothing else is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from threading import RLock
from typing import NamedTuple

from rich.cells import cell_len

from clew.agent.standing import clipped

TAB = 8
_WIPE = "\x1b[J"  # from here to the end of the screen
_SAVE, _BACK = "\x1b7", "\x1b8"
_DOWN = "\x1bD"  # the next row, same column; the screen scrolls where there is none


class Line(NamedTuple):
    text: str
    style: str = ""
    """As a terminal numbers it: 2 is dim, 7 reverse."""


class Below:
    """A terminal that is written to at one place, with a few lines kept below it."""

    def __init__(
        self, put: Callable[[str], None], width: Callable[[], int] = lambda: shutil.get_terminal_size()[0]
    ) -> None:
        """`put` writes and flushes."""
        self._put = put
        self._width = width
        self._lines: tuple[Line, ...] = ()
        self._column = 0
        self._one_at_a_time = RLock()

    @property
    def width(self) -> int:
        return max(1, self._width())

    def write(self, text: str, styled: str | None = None) -> None:
        """Text, where the last one ended. `styled` is the same with colours."""
        with self._one_at_a_time:
            wiped = self._wiped()
            self._column = _column_after(text, self._column, self.width)
            self._put(wiped + (text if styled is None else styled) + self._drawn())

    def line(self, text: str, styled: str | None = None) -> None:
        """A line of its own."""
        with self._one_at_a_time:
            opened = "\n" if self._column else ""
            self.write(f"{opened}{text}\n", f"{opened}{text if styled is None else styled}\n")

    def end_line(self) -> None:
        """What comes next begins a line."""
        if self._column:
            self.write("\n")

    def keep(self, *lines: Line) -> None:
        """These below from now on, and no others."""
        with self._one_at_a_time:
            if lines != self._lines:
                wiped = self._wiped()
                self._lines = lines
                self._put(wiped + self._drawn())

    def _wiped(self) -> str:
        return _WIPE if self._lines and not self._at_the_edge else ""

    def _drawn(self) -> str:
        """The lines, and back. In the last column a terminal waits with its break: drawing would lose its place."""
        if not self._lines or self._at_the_edge:
            return ""
        rows = len(self._lines) - (self._column == 0)
        room = _DOWN * rows + (f"\x1b[{rows}A" if rows else "")
        lines = "\r\n".join(painted(clipped(line.text, self.width - 1), line.style) for line in self._lines)
        return f"{room}{_SAVE}\r{'' if self._column == 0 else chr(10)}{lines}{_BACK}"

    @property
    def _at_the_edge(self) -> bool:
        return self._column > 0 and self._column % self.width == 0


def is_dumb() -> bool:
    """Whether this terminal can only be written to, not drawn on."""
    return os.environ.get("TERM", "dumb") == "dumb"


def painted(text: str, style: str) -> str:
    """Unless the person wants no colours, see no-color.org."""
    return f"\x1b[{style}m{text}\x1b[0m" if text and style and not os.environ.get("NO_COLOR") else text


def _column_after(text: str, column: int, width: int) -> int:
    """How many columns the line takes by now, over all its rows."""
    start = text.rfind("\n") + 1
    column = 0 if start else column
    for sign in text[start:]:
        cells = TAB - column % TAB if sign == "\t" else cell_len(sign)
        left = width - column % width
        column += cells if cells <= left else left + cells  # a wide sign does not stand on two rows
    return column

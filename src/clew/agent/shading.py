"""Which parts of an answer are code? They are coloured as they come; not a character is added or moved."""

from __future__ import annotations

from clew.agent.below import painted
from clew.screen.shown import harmless

FENCE = "```"
DIM, CODE = "2", "36"


class Shading:
    """An answer on its way to a terminal."""

    def __init__(self) -> None:
        self._inside = False
        self._style = ""
        self._begins = True  # the next character is a line's first
        self._held = ""

    def take(self, text: str) -> tuple[str, str]:
        """More of it, plain and coloured. What may be the beginning of a fence waits for what follows."""
        plain, coloured, rest = "", "", self._held + harmless(text)
        self._held = ""
        while rest:
            if self._begins and _may_be_fence(rest):
                self._held = rest
                break
            line, newline, rest = rest.partition("\n")
            if self._begins:
                self._style = DIM if _is_fence(line) else CODE if self._inside else ""
                self._inside ^= _is_fence(line)
            self._begins = bool(newline)
            plain += line + newline
            coloured += painted(line, self._style) + newline
        return plain, coloured

    def end(self) -> str:
        """What still waited."""
        held, self._held = self._held, ""
        return held


def _is_fence(line: str) -> bool:
    return line.lstrip(" ").startswith(FENCE)


def _may_be_fence(text: str) -> bool:
    return len(text) < 8 and FENCE.startswith(text.lstrip(" ")) and text.lstrip(" ") != FENCE

"""What does a person, or a program behind a pipe, see of a turn while it runs?"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from clew.facts.messages import Message, ToolCall
from clew.facts.pieces import Beside, Grown, Piece, Said

SHOWN = 100
"""Characters of a call's arguments, and of its result, that are shown."""


class Plain:
    """Text as it comes; what is done on the way in lines of its own, apart from it."""

    def __init__(self, say: Callable[[str], None], note: Callable[[str], None]) -> None:
        """`say` writes text as it is, `note` a line beside it."""
        self._say = say
        self._note = note

    def piece(self, piece: Piece) -> None:
        if isinstance(piece, Said):
            self._say(piece.text)

    def calling(self, call: ToolCall) -> None:
        self._note(f"⚙ {call.name} {short(call.arguments)}")

    def called(self, call: ToolCall, result: Message, seconds: float) -> None:  # noqa: ARG002 it was named before
        sign = "✗" if result.raw.get("is_error") else "✓"
        self._note(f"{sign} {seconds:.1f} s  {short(result.text)}")

    def told(self, text: str) -> None:
        self._note(f"· {text}")


class Events:
    """One JSON object a line, for programs."""

    def __init__(self, put: Callable[[str], None]) -> None:
        self._put = put

    def piece(self, piece: Piece) -> None:
        if isinstance(piece, Said):
            self.event("text", text=piece.text)
        elif (thought := thought_in(piece)) is not None:
            self.event("thinking", text=thought)

    def calling(self, call: ToolCall) -> None:
        self.event("call", id=call.id, name=call.name, arguments=call.arguments)

    def called(self, call: ToolCall, result: Message, seconds: float) -> None:
        failed = bool(result.raw.get("is_error"))
        self.event("result", id=call.id, name=call.name, text=result.text, failed=failed, seconds=round(seconds, 3))

    def told(self, text: str) -> None:
        self.event("note", text=text)

    def event(self, kind: str, **fields: Any) -> None:
        self._put(json.dumps({"event": kind, **fields}, ensure_ascii=False))


def thought_in(piece: Piece) -> str | None:
    """What the model thinks aloud in this piece, if it is of that kind."""
    match piece:
        case Beside("reasoning_content" | "reasoning", str(text)) | Grown("thinking", str(text)):
            return text
    return None


def short(text: str, most: int = SHOWN) -> str:
    """As one line, of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"

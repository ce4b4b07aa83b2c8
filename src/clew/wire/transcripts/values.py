"""What is read from a transcript, and what stands between its bytes and a format's reader?"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]
"""One OpenAI-format message: role, content, and where they apply tool_calls, tool_call_id, name and extras."""


@dataclass(frozen=True)
class Problem:
    """Something in the file that could not be used as it stood."""

    line: int
    """1-based, as an editor counts."""
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@dataclass(frozen=True)
class Transcript:
    """A recorded conversation, whatever wrote it down."""

    messages: tuple[Message, ...]
    format: str
    problems: tuple[Problem, ...] = ()
    title: str | None = None
    model: str | None = None


class UnreadableTranscript(ValueError):
    """No message could be found; the text says what was seen and what is accepted."""


@dataclass(frozen=True)
class Row:
    """One JSON value of the file (a line of JSONL, or a message of a document) and the line it begins on."""

    line: int
    value: Any


@dataclass(frozen=True)
class Source:
    """A file taken apart, before anyone asked which program wrote it."""

    rows: tuple[Row, ...]
    around: dict[str, Any] = field(default_factory=dict)
    """What a document says beside its messages: system, tools, model, title, id."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Format:
    """One way of writing a conversation down. `knows` looks at content only; `read` never raises."""

    name: str
    title: str
    knows: Callable[[Source], bool]
    read: Callable[[Source], Transcript]


def word(holder: Any, key: str) -> str:
    """The text under `key`, or "" when there is none: files hold lists and numbers where names belong."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""

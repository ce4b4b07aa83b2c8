"""What goes to a model and what comes back: a prompt, then a reply or a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from clew.facts.messages import Message
from clew.facts.usage import Usage

Foreign: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Dialect → what only it can spell, carried through untouched and left out by the others."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything one model call carries, before a provider's spelling."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    """In chat's spelling, `{"type": "function", "function": {…}}`; a provider's own tools as they came."""
    max_output: int | None = None
    """None leaves it to the provider."""
    model: str = ""
    stream: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Knobs that more than one dialect has, by their names in chat: tool_choice, temperature, stop …"""
    foreign: Foreign = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, and what the provider reported about it."""

    message: Message
    usage: Usage | None = None
    """None: the provider reported nothing."""
    stop: str = "stop"
    """Why it ended, in chat's words: stop, length, tool_calls, content_filter."""
    id: str = ""
    model: str = ""
    foreign: Foreign = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Failed:
    """What every failure can say: numbers the provider stated, and its own words."""

    kind: ClassVar[str]
    limit: int | None = None
    """The most the provider takes, in the unit of its kind: tokens of the window, of the output, of a minute; bytes."""
    used: int | None = None
    requested_output: int | None = None
    room: int | None = None
    """What the output may be, when the provider said or its numbers tell."""
    retry_after: float | None = None
    """Seconds."""
    why: str = ""
    """The provider's words, without credentials, short enough to show."""
    status: int | None = None


class PromptTooLong(_Failed):
    """The input alone exceeds the window."""

    __slots__ = ()
    kind = "prompt_too_long"


class OutputTooLarge(_Failed):
    """The input fits; the asked-for output does not."""

    __slots__ = ()
    kind = "output_too_large"


class PayloadTooLarge(_Failed):
    """The body has too many bytes, whatever its tokens."""

    __slots__ = ()
    kind = "payload_too_large"


class RateLimited(_Failed):
    """Too much in too short a time; its numbers are a quota, never a window."""

    __slots__ = ()
    kind = "rate_limited"


class Unavailable(_Failed):
    """A passing fault of the provider or of the way there."""

    __slots__ = ()
    kind = "unavailable"


class Refused(_Failed):
    """The provider will not take this request, now or later."""

    __slots__ = ()
    kind = "refused"


Failure: TypeAlias = PromptTooLong | OutputTooLarge | PayloadTooLarge | RateLimited | Unavailable | Refused

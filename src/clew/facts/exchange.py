"""What goes to a model and what comes back: a prompt, then a reply or a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clew.facts.messages import Message
from clew.facts.usage import Usage


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything one model call carries, before a provider's spelling."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    max_output: int | None = None
    """None leaves it to the provider."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, and what the provider reported about it."""

    message: Message
    usage: Usage | None = None
    """None: the provider reported nothing."""


@dataclass(frozen=True, slots=True)
class PromptTooLong:
    """The input alone exceeds the window."""

    limit: int | None = None
    used: int | None = None


@dataclass(frozen=True, slots=True)
class OutputTooLarge:
    """The input fits; the asked-for output does not."""

    room: int | None = None
    """What the output may be, when the provider said or its numbers tell."""


@dataclass(frozen=True, slots=True)
class PayloadTooLarge:
    """The body has too many bytes, whatever its tokens."""

    limit: int | None = None


@dataclass(frozen=True, slots=True)
class RateLimited:
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A passing fault of the provider or of the way there."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The provider will not take this request, now or later."""

    why: str = ""


Failure = PromptTooLong | OutputTooLarge | PayloadTooLarge | RateLimited | Unavailable | Refused

"""The few things the core may ask for. Each is a value that knows the type of its answer; the runtime does them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from clew.facts.budget import Budget
from clew.facts.exchange import Failure, Prompt, Reply
from clew.facts.messages import Message, ToolCall
from clew.facts.model import Model
from clew.facts.session import Compaction, Opened, Prepared, Session

Answer = TypeVar("Answer")


class Effect(Generic[Answer]):
    """A wish of the core's, answered with an `Answer`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class CallModel(Effect[Reply | Failure]):
    """Send this prompt."""

    prompt: Prompt
    weight: int | None = None
    """The tokens we think it has: they explain a refusal without a word."""
    window: int | None = None
    """Those we think it may have."""


@dataclass(frozen=True, slots=True)
class Summarise(Effect[str | None]):
    """Have this written by the summariser, or by the main model if that fails. None: no one could."""

    prompt: str
    budget: int
    """Tokens the answer should stay within."""


@dataclass(frozen=True, slots=True)
class RunTools(Effect[tuple[Message, ...]]):
    """Run these calls; one result for each, in their order."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class Append(Effect[None]):
    """Write these messages to the session's log before anything else happens."""

    session: Session
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Continue(Effect[Opened]):
    """End the session with reason `compression` and open its child, in one transaction."""

    session: Session
    compaction: Compaction


@dataclass(frozen=True, slots=True)
class Prepare(Effect[Prepared | None]):
    """Have a compaction worked out beside the conversation. None: not yet."""

    session: Session
    budget: Budget
    due: bool
    """Whether it is taken when it is there."""
    wait: bool
    """Whether nothing goes on without it."""


@dataclass(frozen=True, slots=True)
class Consult(Effect[Any]):
    """Ask someone who is not of clew, a plug-in or a hook. The answer is theirs, or `Silent` with the reason."""

    whom: str
    question: Callable[[], Any]
    limit: float
    """Seconds it may take."""


@dataclass(frozen=True, slots=True)
class Silent:
    """Whoever was consulted failed, or took too long."""

    why: str


@dataclass(frozen=True, slots=True)
class Spill(Effect[str]):
    """Keep this text outside the window. Answer: where it can be read again."""

    text: str
    call_id: str


@dataclass(frozen=True, slots=True)
class Learn(Effect[None]):
    """The provider stated its real window: remember it, for this model at this place."""

    model: Model
    window: int
    said: str
    """Its words."""


@dataclass(frozen=True, slots=True)
class Sleep(Effect[None]):
    seconds: float


@dataclass(frozen=True, slots=True)
class Tell(Effect[None]):
    """Something a person should see."""

    text: str


def ask(effect: Effect[Answer]) -> Generator[Effect[Answer], Answer, Answer]:
    """Hand a wish to whoever drives, and return the answer with its type: `reply = yield from ask(CallModel(p))`."""
    return (yield effect)

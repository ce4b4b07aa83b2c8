"""What the core needs from outside and does not import: a way to count, an engine, the set-up of a session."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from clew.core.effects import Effect
from clew.facts.budget import Budget
from clew.facts.messages import Message
from clew.facts.model import Model, Policy, ResultLimits
from clew.facts.session import Compaction, Outlook, Session

Count: TypeAlias = Callable[[str], int]
"""Text → tokens."""

Asking: TypeAlias = Generator[Effect[Any], Any, Compaction]
"""A compaction under way: it asks for what it needs, such as a summary, and ends in its result."""


Deciding: TypeAlias = Generator[Effect[Any], Any, bool]


class Scale(Protocol):
    """Weighs text and messages in tokens; remembers what it weighed."""

    def text(self, text: str) -> int: ...

    def message(self, message: Message) -> int: ...

    def messages(self, messages: Iterable[Message]) -> int:
        """The sum over many; may sample where weighing each would cost more than the answer is worth."""
        ...


class Engine(Protocol):
    """A strategy for making room."""

    def is_due(self, session: Session, weight: int, budget: Budget) -> Deciding:
        """Whether a prompt of that weight should be compacted before it is sent."""
        ...

    def make_room(
        self, messages: tuple[Message, ...], budget: Budget, *, focus: str | None = None, pinned: tuple[str, ...] = ()
    ) -> Asking:
        """The messages to go on with. `pinned` texts stay in them, word for word."""
        ...

    def outlook(self, messages: tuple[Message, ...], budget: Budget) -> Outlook | None:
        """What `make_room` would do; None when it cannot tell beforehand."""
        ...


@dataclass(frozen=True, slots=True)
class Setup:
    """What stays the same over the turns of a session."""

    model: Model
    engine: Engine
    count: Callable[[Message], int]
    """Message → tokens, as the model's provider would charge them."""
    tools: tuple[Mapping[str, Any], ...] = ()
    tools_tokens: int = 0
    system_tokens: int = 0
    policy: Policy = field(default_factory=Policy)
    limits: ResultLimits = field(default_factory=ResultLimits)
    ahead: bool = False
    """Whether summaries may be prepared beside the conversation, so that it need not wait for them."""
    larger: Model | None = None
    """A model with a larger window, asked when compaction alone cannot help."""

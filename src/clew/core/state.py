"""Where a turn stands, and how it ends when nothing more can be done."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from clew.core.effects import Effect
from clew.core.ports import Setup
from clew.core.recover import Tried
from clew.core.weigh import weigh
from clew.facts.budget import Budget, share_out
from clew.facts.messages import Message
from clew.facts.model import Window
from clew.facts.session import Session

T = TypeVar("T")
Story: TypeAlias = Generator[Effect[Any], Any, T]


class ContextExhausted(Exception):
    """No remedy is left. The session is whole and takes the next message."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a turn stands."""

    session: Session
    setup: Setup
    window: Window
    """The model's, or a smaller one that the provider stated."""
    factor: float = 1.0
    """The provider's tokens for one of ours."""
    tried: Tried = field(default_factory=Tried)
    max_output: int | None = None
    """Lowered for one call when the provider has no room for more."""
    overflowed: bool = False
    """The provider refused this prompt as too long: room has to be made, whatever we think it weighs."""
    pictures: int | None = None
    """How many messages keep their pictures; None is all. Lowered when the provider takes no larger body."""

    def add(self, messages: Sequence[Message]) -> Turn:
        session = self.session
        for said in messages:
            session = session.add(said, self.setup.count(said))
        return replace(self, session=session)

    @property
    def budget(self) -> Budget:
        return share_out(self.window, self.setup.policy, system=self.setup.system_tokens, tools=self.setup.tools_tokens)


def exhausted(now: Turn, why: str) -> ContextExhausted:
    weight = weigh(now.session, now.setup, now.factor).tokens
    return ContextExhausted(
        f"session {now.session.id}: {why}; it weighs about {weight:,} of {now.window.size:,} tokens. "
        "Start fresh with /new, try /compress, or choose a model with a larger window"
    )

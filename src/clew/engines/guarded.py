"""An engine that asks first: whoever is hooked in may look at what is to be compacted, and say no."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from clew.core.effects import Consult, Silent, ask
from clew.core.ports import Asking, Deciding, Engine
from clew.facts.budget import Budget
from clew.facts.messages import Message
from clew.facts.session import Compaction, Outlook, Session

PATIENCE = 60.0
"""Seconds a hook may take."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """`engine`, with the consent of others."""

    engine: Engine
    objection: Callable[[tuple[Message, ...], str | None], str]
    """Given the messages and the focus: why not, or nothing."""

    def is_due(self, session: Session, weight: int, budget: Budget) -> Deciding:
        return self.engine.is_due(session, weight, budget)

    def outlook(self, messages: tuple[Message, ...], budget: Budget) -> Outlook | None:
        return self.engine.outlook(messages, budget)

    def make_room(
        self, messages: tuple[Message, ...], budget: Budget, *, focus: str | None = None, pinned: tuple[str, ...] = ()
    ) -> Asking:
        answer = yield from ask(Consult("a pre-compaction hook", partial(self.objection, messages, focus), PATIENCE))
        if answer and not isinstance(answer, Silent):
            return Compaction(messages, notes=(f"not compacted, a hook objects: {answer}",))
        done = yield from self.engine.make_room(messages, budget, focus=focus, pinned=pinned)
        if isinstance(answer, Silent):
            return replace(done, notes=(f"a pre-compaction hook failed ({answer.why})", *done.notes))
        return done

"""Which calls of a provider did a conversation make, one by one?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from clew.facts.usage import Usage
from clew.store.database import Row
from clew.store.ledger import PICO, By
from clew.store.store import Store

AT_ONCE = 500
"""Conversations asked for in one query."""


@dataclass(frozen=True, slots=True)
class Made:
    """One call, as the ledger has it."""

    conversation: str
    at: float
    provider: str
    model: str
    purpose: str
    usage: Usage
    cost: Decimal | None
    """None: no price is known."""


def calls_of(store: Store, conversation: str) -> list[Made]:
    """The calls of a conversation and of all it delegated, the oldest first."""
    family = [row.key for row in store.spent(By.CONVERSATION, conversation=conversation, family=True)]
    rows: list[Row] = []
    with store.database.read() as work:
        for start in range(0, len(family), AT_ONCE):
            some = family[start : start + AT_ONCE]
            rows += work.all(
                "SELECT c.id, l.at, l.provider, l.model, l.purpose, l.cost, l.input, l.output, l.cache_read, "
                "l.cache_write, l.reasoning FROM call l JOIN conversation c ON c.number = l.conversation "
                f"WHERE c.id IN ({', '.join('?' * len(some))})",
                some,
            )
    return sorted(map(_made, rows), key=lambda made: made.at)


def last_call(store: Store, conversation: str) -> tuple[float, Usage] | None:
    """When its newest turn went to the provider and came back, and what that took."""
    with store.database.read() as work:
        row = work.one(
            "SELECT l.at, l.input, l.output, l.cache_read, l.cache_write, l.reasoning FROM call l "
            "JOIN conversation c ON c.number = l.conversation "
            "WHERE c.id = ? AND l.purpose = 'turn' AND l.failed IS NULL ORDER BY l.number DESC LIMIT 1",
            (conversation,),
        )
    return (float(row[0]), Usage(*row[1:6])) if row else None


def turns_of(store: Store, conversation: str) -> int:
    """How often someone spoke to the model in it."""
    with store.database.read() as work:
        row = work.one(
            "SELECT COUNT(*) FROM message m JOIN conversation c ON c.number = m.conversation "
            "WHERE c.id = ? AND m.role = 'user' AND m.standing = 1 AND m.derived = 0",
            (conversation,),
        )
    return int(row[0]) if row else 0


def _made(row: Row) -> Made:
    conversation, at, provider, model, purpose, pico, *tokens = row
    cost = None if pico is None else Decimal(pico) / PICO
    return Made(conversation, at, provider, model, purpose, Usage(*tokens), cost)

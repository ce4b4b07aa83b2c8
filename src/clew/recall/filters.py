"""Among which messages is looked? Those of a conversation, a role, a tool, a time; with or without derived text."""

from __future__ import annotations

from typing import NamedTuple

from pyroaring import BitMap

from clew.recall.index import Answer
from clew.recall.terms import ALL, DERIVED, conversation_key, role_key, tool_key


class Filters(NamedTuple):
    conversation: str | None = None
    role: str | None = None
    tool: str | None = None
    after: float | None = None
    before: float | None = None
    derived: bool = False
    """Whether text that clew wrote itself is looked at, too."""

    def told(self) -> tuple[str, ...]:
        """The filters as a person reads them."""
        if self[:5] == EVERYTHING[:5]:
            return ()
        chosen = zip(self._fields[:5], self[:5], strict=True)
        return tuple(f"{name} {value}" for name, value in chosen if value is not None)


EVERYTHING = Filters()


def filter_keys(filters: Filters) -> list[bytes]:
    """The keys to ask the index for, to know what passes."""
    return [*_wanted(filters), ALL, DERIVED] if filters[:5] != EVERYTHING[:5] else []


def scope_of(filters: Filters, answer: Answer) -> BitMap | None:
    """The messages that pass; None where nothing is filtered but derived text, which has keys of its own."""
    if filters[:5] == EVERYTHING[:5]:
        return None
    scope = answer.docs.get(ALL, BitMap())
    for key in _wanted(filters):
        scope = scope & answer.docs.get(key, BitMap())
    if answer.within is not None:
        scope = scope & answer.within
    return scope if filters.derived else scope - answer.docs.get(DERIVED, BitMap())


def _wanted(filters: Filters) -> list[bytes]:
    named = (
        (filters.conversation, conversation_key),
        (filters.role, role_key),
        (filters.tool, tool_key),
    )
    return [key(value) for value, key in named if value is not None]

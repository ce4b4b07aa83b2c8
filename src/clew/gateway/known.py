"""What is known of a request: which conversation it goes on with, and what is new in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson

from clew.facts.usage import Usage
from clew.gateway.asked import Asked
from clew.gateway.prints import read_items
from clew.gateway.relation import Continues, Relation
from clew.gateway.talks import Talk


@dataclass(frozen=True, slots=True)
class New:
    """A conversation that no one has heard before."""


How: TypeAlias = New | Relation


@dataclass(slots=True)
class Known:
    """A request and its conversation."""

    asked: Asked
    talk: Talk
    how: How
    items: list[Any]
    """What is new, as the client spells it."""
    end: int = 0
    """Where the list ends in the body. 0: it is not all there, as when the provider keeps the history."""
    total: int = 0
    """How many items it has there."""
    shared: int = 0
    """Up to where the body is known byte for byte."""
    is_verbatim: bool = False
    """Whether all that stands behind that in the list is new."""
    of: str = ""
    """The conversation that this one was forked from."""
    messages: list[dict[str, Any]] | None = None
    """What is new, in clew's form, where it was read already."""
    last_usage: Callable[[str], Usage | None] = lambda conversation: None
    """What the ledger says of a conversation's last call."""

    @property
    def session(self) -> str:
        """The conversation's id: good for all its sessions."""
        return self.talk.conversation

    @property
    def known_items(self) -> int:
        """Items of the list that were heard before."""
        return self.total - len(self.items)

    @property
    def word(self) -> str:
        """In one word, for headers and logs."""
        return type(self.how).__name__.lower()

    def new_messages(self) -> list[dict[str, Any]]:
        """What is new, in clew's form. BadMessages names what cannot be."""
        if self.messages is None:
            if isinstance(self.how, New):
                return [message.to_dict() for message in self.asked.prompt.messages]
            return read_items(self.asked.dialect, self.items)
        return self.messages

    @property
    def told(self) -> bytes:
        """As much of the body as is not known from the request before: the new items where it only goes on."""
        if not isinstance(self.how, Continues):
            return self.asked.body
        if self.is_verbatim:
            return self.asked.body[self.shared + 1 : self.end]
        try:
            return orjson.dumps(self.items)[1:-1]
        except TypeError:  # half of a surrogate pair, or a number of more than 64 bits: Python's own writes both
            return json.dumps(self.items)[1:-1].encode()

    def measured(self) -> Usage | None:
        """What the provider last reported for this conversation; blocks on the store the first time after a start."""
        if self.talk.usage is None:
            self.talk.usage = self.last_usage(self.talk.conversation)
        return self.talk.usage

    def advance(self) -> None:
        """It was answered: the talk stands here now."""
        if self.end:
            self.talk.advance(self.asked.body, self.end, self.total, self.asked.fields, shared=self.shared)

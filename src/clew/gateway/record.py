"""What passed, as the scribe is told of it: one value, cheap to hand over, from which everything else can be read."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from clew.facts.exchange import Prompt
from clew.facts.usage import Usage
from clew.gateway.known import Known, New
from clew.gateway.passing import Passed
from clew.gateway.prints import read_items
from clew.gateway.relation import Continues, Relation
from clew.gateway.routes import LISTS
from clew.gateway.tap import Tap
from clew.wire.dialect import Dialect
from clew.wire.dialects import DIALECTS


class Record(NamedTuple):
    """One exchange."""

    number: int
    request: str
    path: str
    key: str
    spoken: str
    """The name of its dialect."""
    model: str
    provider: str
    conversation: str
    how: New | Relation
    of: str
    """The conversation that it was forked from."""
    body: bytes
    """The request's; of one that goes on, only the new items, as they stand in the list."""
    messages: list[dict[str, Any]] | None
    """What is new, where it was read already."""
    is_remote: bool
    """Whether the provider has the history, and the request only what is new."""
    status: int
    kind: str
    coding: str
    broke: str
    """How the answer ended before its end."""
    answer: bytes
    is_whole: bool
    """Whether the answer is all here."""
    used: Usage | None
    """What it took, where the answer does not tell it."""
    size: int
    """Bytes of the request."""
    began: float
    first_byte: float | None
    ended: float

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.spoken]

    def prompt(self) -> Prompt:
        """All of the request. BadMessages names what cannot be."""
        return self.dialect.decode(orjson.loads(self.body))

    def new_messages(self) -> list[dict[str, Any]]:
        """What is new in it. BadMessages names what cannot be."""
        if self.messages is not None:
            return self.messages
        if isinstance(self.how, Continues):
            return read_items(self.dialect, orjson.loads(b"[%b]" % self.body))
        return [message.to_dict() for message in self.prompt().messages]

    def first_messages(self, items: int) -> int:
        """How many messages of ours the first so many items of its list are."""
        whole = orjson.loads(self.body)
        name = LISTS[self.spoken]
        return len(self.dialect.decode({**whole, name: whole[name][:items]}).messages)

    def messages_behind(self, items: int) -> list[dict[str, Any]]:
        """The messages behind the first so many items of its list."""
        return read_items(self.dialect, orjson.loads(self.body)[LISTS[self.spoken]][items:])


class Written(NamedTuple):
    """What came of a record."""

    number: int
    counts: tuple[int, ...]
    """The buckets of its usage, and all that has to be paid for."""
    usd: float | None
    reply: str
    """The provider's id of the reply. Empty: there was none, or it has none."""
    error: str
    """Why it could not be written; empty when it was."""

    @property
    def usage(self) -> Usage:
        input_, output, read, write, reasoning, _ = self.counts
        return Usage(input_, output, read, write, reasoning)


def record_of(known: Known, passed: Passed, tap: Tap, provider: str, began: float, ended: float) -> Record:
    """`number` is given by who hands it over."""
    asked = known.asked
    return Record(
        0, asked.request, asked.path, asked.key.name, asked.dialect.name, asked.model, provider,
        known.session, known.how, known.of, known.told, known.messages, not known.end,
        passed.status, passed.kind, passed.coding, passed.ended, tap.read(), tap.is_whole, passed.usage,
        len(asked.sent), began, passed.first_byte, ended,
    )  # fmt: skip

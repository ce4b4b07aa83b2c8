"""What many conversations have to say, written in one transaction: one sync of the disk for all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from clew.facts.messages import read_message
from clew.facts.session import Origin
from clew.facts.usage import Usage
from clew.store import align, chain, ledger, log
from clew.store.chain import About, Head
from clew.store.database import Work
from clew.store.leases import Purpose, refuse_others
from clew.store.ledger import PICO, Call
from clew.store.spelling import fingerprint
from clew.store.store import Messages, Store
from clew.store.trouble import StoreError


@dataclass(frozen=True, slots=True)
class Begin:
    """A conversation begins."""

    about: About
    system: str = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """It begins with the first `upto` messages of another one's view."""

    of: str
    upto: int


@dataclass(frozen=True, slots=True)
class Align:
    """The whole list, as it was handed back: only what is new in it is written."""

    messages: Messages


@dataclass(frozen=True, slots=True)
class GoOn:
    """A session of it ends, for its host compacted it; the next opens with these messages."""

    messages: Messages


First: TypeAlias = Begin | Fork | Align | GoOn


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be written of one conversation."""

    conversation: str
    messages: Messages = ()
    """Behind its end."""
    call: Call | None = None
    first: First | None = None
    """What is done before that."""


def write_many(store: Store, entries: Sequence[Entry]) -> list[Exception | None]:
    """Write all of them; for each what kept it from being written. Durable when it returns.

    Where one of them cannot be, the others are written one by one: a conversation that was forgotten, or that someone
    else holds, is in no one's way.
    """
    try:
        with store.database.write() as work:
            for entry in _in_order(store, entries):
                _write(store, work, entry)
        return [None] * len(entries)
    except (StoreError, ValueError) as wrong:
        if len(entries) == 1:
            return [wrong]
    return [error for entry in entries for error in write_many(store, [entry])]


def last_usage(store: Store, conversation: str) -> Usage | None:
    """What the newest call of a conversation took that did not fail."""
    row = store.database.glance.one(
        "SELECT l.input, l.output, l.cache_read, l.cache_write, l.reasoning FROM call l "
        "JOIN conversation c ON c.number = l.conversation "
        "WHERE c.id = ? AND l.failed IS NULL AND l.purpose = 'turn' ORDER BY l.number DESC LIMIT 1",
        (conversation,),
    )
    return Usage(*row) if row else None


def spent_by_tag(store: Store, after: float) -> list[tuple[str, int, float]]:
    """For conversations with the same tags: the tags as JSON, the tokens and the dollars of their calls since then."""
    rows = store.database.glance.all(
        "SELECT c.tags, CAST(SUM(l.input + l.output + l.cache_read + l.cache_write) AS BIGINT), "
        "CAST(COALESCE(SUM(l.cost), 0) AS BIGINT) "
        "FROM call l JOIN conversation c ON c.number = l.conversation WHERE l.at >= ? GROUP BY c.tags",
        (after,),
    )
    return [(tags, int(tokens), float(pico / PICO)) for tags, tokens, pico in rows]


def _in_order(store: Store, entries: Sequence[Entry]) -> Sequence[Entry]:
    """Where rows are locked, in one order for all writers: two would else wait for each other's conversations."""
    return sorted(entries, key=lambda entry: entry.conversation) if store.database.row_lock else entries


def _write(store: Store, work: Work, entry: Entry) -> None:
    match entry.first:
        case Begin(about, system):
            chain.open_conversation(
                work, id_=entry.conversation, about=about, origin=Origin.NEW, parent=None, system=system
            )
        case Fork(of, upto):
            _fork(work, entry.conversation, of, upto)
        case Align(messages):
            _align(store, work, entry.conversation, messages)
        case GoOn(messages):
            head = _held(store, work, entry.conversation)
            kept = log.prepare(messages, store.shelf)
            seen = len(chain.view(work, head.tip))
            chain.go_on(work, head, kept, upto=seen, system=None, state={}, at=time.time())
            store._keep_shelved(kept, messages)
    # By the id of its first session all that has to be known is found in one look.
    head, end, leased = chain.end_of_talk(work, f"{entry.conversation}.0", store.database.row_lock)
    if entry.messages:
        if leased:
            _refuse_others(store, work, head)
        said = log.name_tool(work, head.number, log.prepare(entry.messages, store.shelf))
        log.write(work, head.number, said, end)
        store._keep_shelved(said, entry.messages)
    if entry.call:
        ledger.record(work, head.tip, head.number, entry.call)


def _held(store: Store, work: Work, conversation: str) -> Head:
    """The conversation, locked where rows can be, and no one else's to write to."""
    head = chain.head_of(work, conversation, store.database.row_lock)
    _refuse_others(store, work, head)
    return head


def _refuse_others(store: Store, work: Work, head: Head) -> None:
    refuse_others(work, head.number, (Purpose.WRITE,), owner=store.owner, now=store.database.now)


def _fork(work: Work, conversation: str, of: str, upto: int) -> None:
    head = chain.head_of(work, of)
    begun = chain.conversations(work, id_=head.conversation)[0]
    about = About(begun.title, begun.cwd, begun.model, begun.tags, begun.source)
    system, opening = chain.record_of(work, head.tip).system, chain.view(work, head.tip)[:upto]
    chain.open_conversation(
        work, id_=conversation, about=about, origin=Origin.BRANCH, parent=head.tip, system=system, opening=opening
    )


def _align(store: Store, work: Work, conversation: str, messages: Messages) -> None:
    head = _held(store, work, conversation)
    roles = [log.word(read_message(message, place).role) for place, message in enumerate(messages)]

    def ready(new: Messages) -> list[log.Prepared]:
        return log.name_tool(work, head.number, log.prepare(new, store.shelf))

    align.align(work, head, align.Handed(messages, [fingerprint(message) for message in messages], roles, ready))

"""What is to be written of one exchange: its conversation, the new messages, the reply, what it took."""

from __future__ import annotations

from typing import Any, Protocol

from clew.gateway.heard import Heard
from clew.gateway.known import New
from clew.gateway.prints import print_of
from clew.gateway.record import Record
from clew.gateway.relation import Again, Compacted, Continues, Edited, Forked, Strange
from clew.store.chain import About
from clew.store.ledger import Call
from clew.store.many import Align, Begin, Entry, First, Fork, GoOn

SOURCE = "gateway"

Messages = list[dict[str, Any]]


def owner_tag(key: str) -> str:
    """How the key that began a conversation is noted in its tags."""
    return f"key:{key}"


class Written(Protocol):
    """What was written of a conversation before."""

    def last_reply(self, conversation: str) -> bytes | None:
        """The print of the reply that stands at its end. None: something else stands there."""
        ...

    def view(self, conversation: str) -> Messages: ...


def entry_of(record: Record, heard: Heard, call: Call, before: Written) -> Entry:
    """The entry. A request that was not answered adds only its call, unless it begins something: the client sends what
    it said again."""
    reply = heard.reply.message.to_dict() if heard.reply else None
    if reply is None and not isinstance(record.how, New | Forked):
        return Entry(record.conversation, call=call)
    first, messages = _messages(record, [reply] if reply else [], before)
    return Entry(record.conversation, messages, call, first)


def _messages(record: Record, said: Messages, before: Written) -> tuple[First | None, Messages]:
    match record.how:
        case New():
            prompt = record.prompt()
            tags = (owner_tag(record.key),) if record.key else ()
            new = [message.to_dict() for message in prompt.messages]
            return Begin(About(model=record.model, tags=tags, source=SOURCE), prompt.system), [*new, *said]
        case Continues():
            return _going_on(record, said, before)
        case Forked(at) if record.messages is not None:  # read from the store, where both count alike
            return Fork(record.of, at), [*record.messages, *said]
        case Forked(at):
            return Fork(record.of, record.first_messages(at)), [*record.messages_behind(at), *said]
        case Again():
            return _again(record, said, before)
        case Compacted() | Strange():
            return GoOn(_all(record)), said
        case Edited():
            return Align([*_all(record), *said]), []


def _going_on(record: Record, said: Messages, before: Written) -> tuple[First | None, Messages]:
    """The new messages without the last reply, which the client sends back. Where it sends something else in its
    place, that stands for it; where the provider has the history, it sends nothing."""
    new, reply = record.new_messages(), before.last_reply(record.conversation)
    if reply is None or record.messages is not None or record.is_remote:
        return None, [*new, *said]
    if new and print_of(new[0]) == reply:
        return None, [*new[1:], *said]
    return Align([*before.view(record.conversation)[:-1], *new, *said]), []


def _again(record: Record, said: Messages, before: Written) -> tuple[First | None, Messages]:
    """Asked once more: another reply takes the place of the one before."""
    reply = before.last_reply(record.conversation)
    if reply is None:
        return None, said
    if said and print_of(said[0]) == reply:
        return None, []
    return Align([*before.view(record.conversation)[:-1], *said]), []


def _all(record: Record) -> Messages:
    return [message.to_dict() for message in record.prompt().messages]

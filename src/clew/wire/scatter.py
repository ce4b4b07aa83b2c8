"""In which pieces would a reply have come, that came whole?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from clew.facts.exchange import Reply
from clew.facts.messages import ToolCall
from clew.facts.pieces import Argued, Begun, Beside, Called, Counted, Ended, Part, Piece, Said
from clew.wire.content import items_of, plain


def scatter(reply: Reply) -> Iterator[Piece]:
    """The inverse of `gather`: one piece for everything that was said or called.

    >>> from clew.facts.messages import message
    >>> [piece for piece in scatter(Reply(message("assistant", "Hello"))) if isinstance(piece, Said)]
    [Said(text='Hello')]
    """
    yield Begun(reply.id, reply.model)
    for field, value in reply.message.raw.items():
        if field not in ("role", "content", "tool_calls") and value is not None:
            yield Beside(field, value)
    calls, speaking = count(), False
    for item in items_of(reply.message):
        if isinstance(item, ToolCall):
            yield from _calling(item, next(calls))
            speaking = False
        else:  # a text behind a text is a part of its own: as more of the same the two would be one
            is_plain = item == plain(item.get("text", ""))
            yield Said(item["text"]) if is_plain and not speaking else Part(item)
            speaking = item.get("type") == "text"
    if reply.usage:
        yield Counted(reply.usage)
    yield Ended(reply.stop, reply.foreign)


def _calling(call: ToolCall, place: int) -> Iterator[Piece]:
    more = {key: value for key, value in call.raw.items() if key not in ("id", "function", "custom")}
    yield Called(place, call.id, call.name, more)
    yield Argued(place, call.arguments)

"""What reply do these pieces come to?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clew.facts.exchange import Failure, Reply
from clew.facts.messages import ToolCall
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.wire.content import Item, composed, plain


def gather(pieces: Iterable[Piece]) -> Reply | Failure:
    """The whole of a stream. One that broke is its failure, whatever it had said by then.

    >>> gather([Said("Hel"), Said("lo"), Ended("stop")]).message.text
    'Hello'
    """
    items: list[list[str] | dict[str, Any] | Called] = []  # plain text is a list of its pieces
    arguments: dict[int, list[str]] = {}
    newest: dict[str, Any] = {}  # the part that `Grown` fills
    beside: dict[str, Any] = {}
    begun, ended, counted = Begun(), Ended("stop"), None
    speaking: list[str] = []  # the plain text that `Said` goes on with
    for piece in pieces:
        match piece:
            case Said(text):
                if not speaking:
                    items.append(speaking)
                speaking.append(text)
                continue
            case Part(raw):
                newest = dict(raw)
                items.append(newest)
            case Grown(field, value):
                _grow(newest, field, value)
            case Called(place):
                items.append(piece)
                arguments[place] = []
            case Argued(place, text):
                arguments[place].append(text)
                continue
            case Beside(field, value):
                beside[field] = beside.get(field, "") + value if isinstance(value, str) else value
                continue
            case Begun():
                begun = piece
                continue
            case Ended():
                ended = piece
                continue
            case Counted():
                counted = piece
                continue
            case Broken(failure):
                return failure
        speaking = []
    said = [_item(item, arguments) for item in items]
    return Reply(
        composed(said, **beside), counted.usage if counted else None, ended.stop, begun.id, begun.model, ended.foreign
    )


def _item(item: list[str] | dict[str, Any] | Called, arguments: Mapping[int, list[str]]) -> Item:
    match item:
        case list():
            return plain("".join(item))
        case Called(place):
            return _call(item, "".join(arguments[place]))
    return item


def _grow(holder: dict[str, Any], field: str, value: Any) -> None:
    if isinstance(value, str):
        holder[field] = (holder.get(field) or "") + value
    else:
        holder[field] = [*(holder.get(field) or ()), value]


def _call(call: Called, arguments: str) -> ToolCall:
    """Chat spells a call of a custom tool, whose input is free text, apart from that of a function."""
    if call.raw.get("type") == "custom":
        made: dict[str, Any] = {"type": "custom", "custom": {"name": call.name, "input": arguments}}
    else:
        made = {"type": "function", "function": {"name": call.name, "arguments": arguments}}
    return ToolCall(call.id, call.name, arguments, {**call.raw, "id": call.id, **made})

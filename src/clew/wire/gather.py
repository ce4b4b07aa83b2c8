"""What reply do these pieces come to?"""

from __future__ import annotations

from collections.abc import Iterable
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
    items: list[dict[str, Any] | Called] = []
    arguments: dict[int, list[str]] = {}
    beside: dict[str, str] = {}
    begun, ended, counted = Begun(), Ended("stop"), None
    speaking = False  # whether the newest item is plain text that `Said` goes on with
    for piece in pieces:
        match piece:
            case Said(text):
                if speaking:
                    items[-1]["text"] += text  # type: ignore[index]
                else:
                    items.append(plain(text))
                speaking = True
                continue
            case Part(raw):
                items.append(dict(raw))
            case Grown(field, value):
                _grow(items[-1], field, value)
            case Called(place):
                items.append(piece)
                arguments[place] = []
            case Argued(place, text):
                arguments[place].append(text)
                continue
            case Beside(field, text):
                beside[field] = beside.get(field, "") + text
                continue
            case Begun():
                begun = piece
            case Ended():
                ended = piece
            case Counted():
                counted = piece
                continue
            case Broken(failure):
                return failure
        speaking = False
    said: list[Item] = [
        _call(item, "".join(arguments[item.place])) if isinstance(item, Called) else item for item in items
    ]
    return Reply(
        composed(said, **beside), counted.usage if counted else None, ended.stop, begun.id, begun.model, ended.foreign
    )


def _grow(part: Any, field: str, value: Any) -> None:
    if isinstance(value, str):
        part[field] = part.get(field, "") + value
    else:
        part[field] = [*part.get(field, ()), value]


def _call(call: Called, arguments: str) -> ToolCall:
    function = {"name": call.name, "arguments": arguments}
    raw = {"id": call.id, "type": "function", "function": function, **call.raw}
    return ToolCall(call.id, call.name, arguments, raw)

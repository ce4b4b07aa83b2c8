"""In which pieces does a reply come over a stream?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clew.facts.exchange import Reply
from clew.facts.pieces import Argued, Begun, Beside, Counted, Grown, Part, Piece, Said
from clew.facts.usage import Usage
from clew.wire.scatter import scatter

GROWING = {"thinking": ("thinking", "signature")}
"""Type of a part → its fields that come little by little, in this order."""
_WORD = re.compile(r"\S+\s*|\s+")


def pieces_of(reply: Reply) -> Iterator[Piece]:
    """A reply word by word. What the prompt weighed is told before the first of them."""
    for piece in scatter(reply):
        match piece:
            case Begun():
                yield piece
                if reply.usage:
                    yield Counted(_so_far(reply.usage))
            case Said(text):
                yield from map(Said, _words(text))
            case Beside(field, str(text)):
                yield from (Beside(field, word) for word in _words(text))
            case Argued(place, text):
                yield from (Argued(place, word) for word in _words(text))
            case Part(raw):
                yield from _part(raw)
            case _:
                yield piece


def _part(raw: Mapping[str, Any]) -> Iterator[Piece]:
    growing = GROWING.get(raw.get("type", ""), ())
    yield Part({key: "" if key in growing else value for key, value in raw.items()})
    for field in growing:
        yield from (Grown(field, word) for word in _words(raw.get(field, "")))


def _words(text: str) -> list[str]:
    """Each word with the space behind it."""
    return _WORD.findall(text)


def _so_far(usage: Usage) -> Usage:
    """One token of output: that is what Anthropic reports before it has said anything."""
    raw = {**usage.raw, "output_tokens": 1} if isinstance(usage.raw, Mapping) and "output_tokens" in usage.raw else None
    return Usage(usage.input, 1, usage.cache_read, usage.cache_write, raw=raw)

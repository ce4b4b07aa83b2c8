"""The messages of a request in clew's form, and a print of each by which it is known again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import orjson

from clew.gateway.routes import LISTS
from clew.wire.dialect import Dialect
from clew.wire.same import same

_FIRST = {"role": "user", "content": "."}
"""Set before messages that go on with a conversation: those of the system would else be taken for its prompt."""


def read_items(dialect: Dialect, items: Sequence[Any]) -> list[dict[str, Any]]:
    """Items of a conversation that has begun, as messages of clew's. BadMessages names what cannot be."""
    if dialect.name == "chat":
        return list(items)
    decoded = dialect.decode({LISTS[dialect.name]: [_FIRST, *items]})
    return [message.to_dict() for message in decoded.messages[1:]]


def print_of(message: Mapping[str, Any]) -> bytes:
    """The same for two messages that say the same."""
    said = same(message)
    try:
        spelled = orjson.dumps(said, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half of a surrogate pair, or a number of more than 64 bits: Python's own writes both
        spelled = json.dumps(said, sort_keys=True).encode()
    return sha256(spelled).digest()[:16]

"""How a message becomes bytes and comes back the same, and what makes two messages one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from clew.store.lineage import digest

_dumps = orjson.dumps
_STRICT = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS  # what is no JSON is refused, not guessed
_TEXTS = {str}  # a message of texts alone, as most are: nothing in it needs a second look
_BY_PYTHON = b" "  # in front of what only Python's own decoder reads back the same: a space says nothing in JSON
_USUAL = {("role", "content"), ("role", "tool_call_id", "content"), ("role", "tool_call_id", "name", "content")}
"""How messages of texts alone mostly come: the order of keys that counts for the fingerprint of those that have them,
so that these are spelled once for both purposes."""
_MARKED = re.compile(b"cache_control").search  # a client moves this mark to its newest messages; it says nothing


def spell(message: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """The message as bytes, in the order its keys came in, and its fingerprint.

    The fingerprint is the same for two messages that say the same, whatever the order of their keys and wherever cache
    marks stand.
    """
    message = message if type(message) is dict else dict(message)
    if _TEXTS.issuperset(map(type, message.values())):
        try:
            body = _dumps(message)
            return body, digest(body if (*message,) in _USUAL else _in_order(message))
        except orjson.JSONEncodeError:
            pass
    body = spelled(message)
    if _MARKED(body) and (said := _without_marks(message)) != message:
        return body, fingerprint(said)
    if body.startswith(_BY_PYTHON):
        return body, digest(_by_python(message, sort_keys=True))
    return body, digest(_dumps(message, None, _STRICT | orjson.OPT_SORT_KEYS))


def fingerprint(message: Mapping[str, Any]) -> bytes:
    """The fingerprint alone."""
    return spell(message)[1]


def spelled(message: Mapping[str, Any]) -> bytes:
    """The message as bytes, by the fast encoder; by Python's own where that one refuses (half a surrogate pair, a very
    large number) or would write null for what is something (NaN)."""
    try:
        data = _dumps(message, None, _STRICT)
        if data.count(b"null") == [*message.values()].count(None) or orjson.loads(data) == message:
            return data
    except (orjson.JSONEncodeError, orjson.JSONDecodeError):
        pass
    return _by_python(message)


def read_back(body: bytes) -> Any:
    """What was spelled."""
    if body.startswith(_BY_PYTHON):
        return json.loads(body.decode("utf-8", "surrogatepass"))
    return orjson.loads(body)


def _in_order(message: dict[str, str]) -> bytes:
    """A message of texts alone with its keys in the one order that counts."""
    order = next((usual for usual in _USUAL if message.keys() == {*usual}), sorted(message))
    return _dumps({key: message[key] for key in order})


def _by_python(value: Any, *, sort_keys: bool = False) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)
    return _BY_PYTHON + text.encode("utf-8", "surrogatepass")


def _without_marks(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_marks(inner) for key, inner in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_without_marks(inner) for inner in value]
    return value

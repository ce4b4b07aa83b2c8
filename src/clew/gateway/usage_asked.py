"""Chat tells the usage of a stream only to who asks for it: we ask, and take it out again for who did not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

ASKING = b'"stream_options":{"include_usage":true}'
FIELD = "stream_options"
_NOTHING_USED = re.compile(rb',\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,\s*')
"""No text can hold it: there every quotation mark stands behind a backslash."""
_EVENT_END = re.compile(rb"\r?\n\r?\n")


def is_due(dialect: str, fields: Mapping[str, Any]) -> bool:
    """Whether the usage has to be asked for on the client's behalf."""
    return dialect == "chat" and fields.get("stream") is True and FIELD not in fields


def asking(body: bytes) -> bytes:
    """The body of an object, with one more field at its end and not another byte changed."""
    end = body.rindex(b"}")
    return b"%b,%b%b" % (body[:end], ASKING, body[end:])


class Unasked:
    """Takes out of a stream what the client did not ask for. What is not yet a whole event waits for its end."""

    def __init__(self) -> None:
        self._open = b""

    def feed(self, chunk: bytes) -> bytes:
        """The bytes for the client, as far as they are whole events."""
        data = self._open + chunk if self._open else chunk
        ends = data.rfind(b"\n\n")
        if ends < 0 and (found := [*_EVENT_END.finditer(data)]):
            ends = found[-1].end() - 2
        if ends < 0:
            self._open = data
            return b""
        whole, self._open = data[: ends + 2], data[ends + 2 :]
        return self._without(whole) if b'"usage"' in whole else whole

    def close(self) -> bytes:
        """What is left at the end of the stream."""
        left, self._open = self._open, b""
        return left

    def _without(self, events: bytes) -> bytes:
        events = events.replace(b',"usage":null', b"")  # as nearly everyone spells it
        if b'"usage"' in events:
            events = _NOTHING_USED.sub(b"", events)
        if b'"usage"' not in events:
            return events
        kept, start = [], 0
        for end in _EVENT_END.finditer(events):
            event = events[start : end.end()]
            start = end.end()
            if not _tells_usage_alone(event):
                kept.append(event)
        return b"".join((*kept, events[start:]))


def _tells_usage_alone(event: bytes) -> bool:
    data = event.strip().removeprefix(b"data:")
    if b'"usage"' not in data:
        return False
    try:
        told = orjson.loads(data)
    except ValueError:
        return False
    return isinstance(told, dict) and told.get("choices") == [] and isinstance(told.get("usage"), dict)

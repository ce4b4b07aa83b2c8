"""A stream's events with the deltas of one text put together: a tenth of the work for whoever reads the reply."""

from __future__ import annotations

import re

from clew.wire.sse import Event, EventReader

KINDS = 64
"""Texts of one stream that are put together: of blocks and calls that follow one another. Any more stay as they are."""
_PADDING = re.compile(rb',"obfuscation":"[^"\\]*"')
"""OpenAI hides how long each token is; the padding differs from event to event and says nothing."""
_TEXT = re.compile(
    rb'"(?:content|text|partial_json|thinking|reasoning_content|arguments)":\s?"(?:[^"\\\n]|\\.)*(?=")[^\n]*'
)
_END = b"\n\n"


def squeezed(stream: bytes) -> list[Event]:
    """The events of a stream, fewer of them, which say the same.

    Events that differ in one text alone become one whose text is all of theirs. What stands escaped in JSON may be put
    behind one another as it is, so all it takes is to cut out what stands between two texts: it holds an empty line,
    which no text can.
    """
    raw = _PADDING.sub(b"", stream) if b'"obfuscation"' in stream else stream
    raw = raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw
    start = 0
    for _ in range(KINDS):
        found = _TEXT.search(raw, start)
        if found is None:
            break
        raw = raw.replace(_seam(raw, found), b"")
        start = raw.find(_END, found.start()) + 1 or len(raw)
    reader = EventReader()
    return [*reader.feed(raw), *reader.close()]


def _seam(raw: bytes, found: re.Match[bytes]) -> bytes:
    """What stands between two texts of one kind: the end of an event and the beginning of the next."""
    text = raw.index(b'"', raw.index(b":", found.start())) + 1
    quote = text
    while raw[quote] != 34:  # its end: the first quotation mark that no backslash stands before
        quote += 2 if raw[quote] == 92 else 1
    begin = raw.rfind(_END, 0, text)
    return raw[quote : found.end()] + _END + raw[begin + 2 if begin >= 0 else 0 : text]

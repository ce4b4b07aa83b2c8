"""What did an answer say, of which only the bytes passed by? Read afterwards, out of everyone's way."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from clew.facts.exchange import Reply
from clew.facts.messages import message
from clew.facts.pieces import Counted, Piece
from clew.facts.usage import Usage
from clew.gateway.record import Record
from clew.gateway.squeezing import squeezed
from clew.gateway.tap import MOST
from clew.wire.dialect import Dialect
from clew.wire.errors import classify_error
from clew.wire.gather import gather
from clew.wire.usage import normalize_usage

MOST_ERROR = 64 * 1024
_LAST = (b'"type":"response.completed"', b'"type":"response.incomplete"')
"""These events of the Responses API hold the whole reply: nothing before them has to be read."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What was understood."""

    reply: Reply | None = None
    """None: there is none that is whole."""
    usage: Usage = field(default_factory=Usage)
    failed: str = ""
    """How the call failed; empty when it did not."""


def hear(record: Record) -> Heard:
    """Never raises: what cannot be read was passed on all the same."""
    try:
        heard = _hear(record, _unpacked(record.answer, record.coding))
        return heard if record.used is None else replace(heard, usage=record.used)
    except (ValueError, RecursionError, zlib.error):
        return Heard(failed=record.broke or "unreadable")


def _hear(record: Record, raw: bytes) -> Heard:
    dialect = record.dialect
    if record.status >= 400 or not record.status:
        told = raw[:MOST_ERROR].decode("utf-8", "replace")
        return Heard(failed=record.broke or classify_error(record.status or None, told).kind)
    if "event-stream" in record.kind:
        return _stream(record, raw)
    if record.broke or not record.is_whole:
        return Heard(failed=record.broke or "unread")
    told = orjson.loads(raw)
    reply = (_plainly(told) if dialect.name == "chat" else None) or dialect.decode_reply(told)
    return Heard(reply, reply.usage or Usage())


def _plainly(told: Any) -> Reply | None:
    """A reply of chat's that says a text and nothing else, as most do: a third of the work."""
    match told:
        case {"id": str(name), "choices": [{"message": {"role": str(role), "content": str(text), **rest}}], **around}:
            usage = around.get("usage")
            if not any(rest.values()) and isinstance(usage, dict):
                return Reply(message(role, text), normalize_usage(usage, api="chat"), id=name)
    return None


def _stream(record: Record, raw: bytes) -> Heard:
    dialect = record.dialect
    if dialect.name == "responses" and (reply := _told_at_the_end(dialect, raw)):
        return Heard(reply, reply.usage or Usage())
    reader = dialect.reader()
    pieces = [piece for event in squeezed(raw) for piece in reader.feed(event)]
    used = _counted(pieces)
    if record.broke or not record.is_whole:
        return Heard(usage=used, failed=record.broke or "unread")
    told = gather(pieces)
    if not isinstance(told, Reply):
        return Heard(usage=used, failed=told.kind)
    return Heard(told, used) if reader.ended else Heard(usage=used, failed="broken")


def _told_at_the_end(dialect: Dialect, raw: bytes) -> Reply | None:
    start = raw.rfind(b"\n\n", 0, max(raw.rfind(mark) for mark in _LAST))
    for line in raw[start + 2 :].splitlines() if start >= 0 else ():
        if line.startswith(b"data:") and any(mark in line[:80] for mark in _LAST):
            return dialect.decode_reply(orjson.loads(line[5:])["response"])
    return None


def _counted(pieces: Sequence[Piece]) -> Usage:
    return next((piece.usage for piece in reversed(pieces) if isinstance(piece, Counted)), Usage())


def _unpacked(raw: bytes, coding: str) -> bytes:
    """As it was before some provider packed it although we asked it not to."""
    if coding in ("", "identity"):
        return raw
    if coding not in ("gzip", "deflate"):
        raise ValueError(f"an answer packed as {coding}")
    return zlib.decompressobj(wbits=47 if coding == "gzip" else 15).decompress(raw, MOST)

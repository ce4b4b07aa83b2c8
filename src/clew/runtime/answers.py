"""What does an HTTP answer say: a reply, its pieces as they arrive, or a failure?"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from clew.facts.exchange import Failure, Refused, Reply, Unavailable
from clew.facts.pieces import Broken, Piece
from clew.runtime.deadline import Deadline, Late
from clew.runtime.http import Answer, CutOff
from clew.wire.dialect import Dialect, Reader
from clew.wire.errors import classify_error
from clew.wire.sse import Event, EventReader

MOST_BYTES = 64 * 1024 * 1024
"""Of one answer, unpacked. Long replies with pictures in them are a tenth of it."""
MOST_ERROR_BYTES = 256 * 1024
LINGER = 2.0
"""Seconds that a server has to hang up after its last word, or to finish telling what went wrong."""
SHOWN = 200
"""Characters of an answer that is not what it should be, quoted in the failure."""


class TooMuch(Exception):
    """More bytes came than anyone would want to hold."""


INTERRUPTIONS = (CutOff, Late, TooMuch)


@dataclass(frozen=True, slots=True)
class Terms:
    """How an answer is to be read."""

    dialect: Dialect
    provider: str
    streamed: bool
    """Whether a stream was asked for."""
    idle: float
    """Seconds of silence after which it has broken off."""
    deadline: Deadline
    most_bytes: int
    weight: int | None = None
    """Tokens the prompt is thought to have, and those it may have: they explain an error that has no words."""
    window: int | None = None


async def read(answer: Answer, terms: Terms) -> AsyncGenerator[Piece | Reply, None]:
    """A whole reply, or pieces of which the last may be `Broken`; never nothing."""
    kind = answer.headers.get("content-type", "").lower()
    if answer.status >= 300:
        yield Broken(await _refusal(answer, terms))
    elif "event-stream" in kind or (terms.streamed and not ("json" in kind or "html" in kind)):
        async for piece in _pieces(answer, terms):
            yield piece
    else:
        yield await _whole(answer, terms)


async def _refusal(answer: Answer, terms: Terms) -> Failure:
    """What a server said instead of an answer; as much of it as came."""
    if answer.status < 400:
        place = answer.headers.get("location", "an unnamed place").partition("?")[0]
        return Refused(why=f"the server redirects to {place}; set the base URL to where it leads", status=answer.status)
    body, _ = await _collected(_Bytes(answer, terms.deadline, MOST_ERROR_BYTES), LINGER)
    return _classified(answer, body, terms)


async def _whole(answer: Answer, terms: Terms) -> Reply | Broken:
    body, broken = await _collected(_Bytes(answer, terms.deadline, terms.most_bytes), terms.idle)
    if broken:
        return Broken(_broken_off(answer, f"the answer broke off after {len(body):,} bytes", broken))
    said = _json(body)
    if not isinstance(said, dict):
        return Broken(_unexpected(answer, body))
    if said.get("error"):  # some gateways say every error with status 200
        return Broken(_classified(answer, body, terms))
    try:
        return terms.dialect.decode_reply(said)
    except ValueError as error:
        return Broken(Unavailable(why=f"the reply cannot be read: {error}", status=answer.status))


async def _pieces(answer: Answer, terms: Terms) -> AsyncGenerator[Piece, None]:
    reader, events, passed = terms.dialect.reader(), EventReader(), 0
    arriving = _Bytes(answer, terms.deadline, terms.most_bytes)
    broken: Exception | None = None
    chunk = b" "
    while chunk and not broken:
        try:
            chunk = await arriving.more(LINGER if reader.ended else terms.idle)
        except INTERRUPTIONS as error:
            broken = error
            continue
        for piece in _told(reader, events.feed(chunk) if chunk else events.close()):
            yield piece
            if isinstance(piece, Broken):
                return
            passed += 1
    if not passed or not reader.ended:
        yield Broken(_broken_off(answer, f"the stream broke off after {passed} pieces", broken))


class _Bytes:
    """An answer's bytes as they arrive, each wait for them and their sum bounded."""

    def __init__(self, answer: Answer, deadline: Deadline, most: int) -> None:
        self._answer = answer
        self._deadline = deadline
        self._most = most
        self._left = most

    async def more(self, idle: float) -> bytes:
        """The next ones; none at the end."""
        chunk = await self._deadline.within(idle, self._answer.chunk, "nothing more came")
        self._left -= len(chunk)
        if self._left < 0:
            raise TooMuch(f"it has more than {self._most:,} bytes")
        return chunk


async def _collected(arriving: _Bytes, idle: float) -> tuple[bytes, Exception | None]:
    """All that came, and what ended it before its end."""
    chunks: list[bytes] = []
    try:
        while chunk := await arriving.more(idle):
            chunks.append(chunk)
    except INTERRUPTIONS as error:
        return b"".join(chunks), error
    return b"".join(chunks), None


def _told(reader: Reader, events: Iterable[Event]) -> Iterator[Piece]:
    for event in events:
        try:
            yield from reader.feed(event)
        except ValueError as error:
            yield Broken(Unavailable(why=f"an event of the stream cannot be read: {error}"))


def _broken_off(answer: Answer, what: str, broken: Exception | None) -> Failure:
    why = f"{what}: {broken or 'the connection was closed'}"
    return (Refused if isinstance(broken, TooMuch) else Unavailable)(why=why, status=answer.status)


def _classified(answer: Answer, body: bytes, terms: Terms) -> Failure:
    said = _json(body)
    told = body.decode("utf-8", "replace") if said is None else said
    return classify_error(
        answer.status,
        told,
        headers=answer.headers,
        provider=terms.provider or None,
        prompt_tokens=terms.weight,
        context_length=terms.window,
    )


def _unexpected(answer: Answer, body: bytes) -> Failure:
    """An answer that no provider would give. A page for people means a wrong address: waiting does not mend that."""
    start = body[: 4 * SHOWN].decode("utf-8", "replace").strip()[:SHOWN]
    if start.startswith("<"):
        return Refused(why=f"the server answered with a web page; is the base URL right? {start}", status=answer.status)
    return Unavailable(why=f"the server answered with something that is no reply: {start}", status=answer.status)


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError:
        return None

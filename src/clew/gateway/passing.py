"""Bytes up, bytes down: one chunk in, one chunk out, no queue; whoever leaves takes the other end along."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from clew.facts.usage import Usage
from clew.gateway.down import Down
from clew.gateway.headers import coming_down
from clew.gateway.refusals import Refusal
from clew.gateway.silence import Patience, Silence
from clew.gateway.tap import Tap
from clew.gateway.upstream import Answer, Upstream
from clew.gateway.usage_asked import FIELD, Unasked
from clew.runtime.http import CutOff, Unreached

MOST_ERROR = 256 * 1024


@dataclass(frozen=True, slots=True)
class Going:
    """What goes up."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes | None
    streamed: bool = False
    original: bytes | None = None
    """The client's own body, where ours asks for the usage of a stream as well."""


@dataclass(slots=True)
class Passed:
    """What came of it."""

    status: int = 0
    """The provider's. 0: it gave none."""
    kind: str = ""
    """The content type of its answer."""
    coding: str = ""
    first_byte: float | None = None
    """When its head came, in seconds since 1970."""
    ended: str = ""
    """How the answer ended before its end: `cancelled` by the client, `broken` by the provider. Empty: whole."""
    usage: Usage | None = None
    """What it took, where that is known otherwise. None: the answer tells."""
    refused_asking: bool = False
    """Whether the provider would not be asked for the usage."""


async def pass_on(going: Going, upstream: Upstream, down: Down, tap: Tap | None, patience: Patience) -> Passed:
    """Send it up and the answer down, byte for byte. Refusal when there is none; else all that happened is told.

    A task that is cancelled meanwhile hangs up on the provider at once, in every phase.
    """
    task = asyncio.current_task()
    assert task is not None
    passed = Passed()
    silence = Silence(down, patience, task, streamed=going.streamed)
    answer: Answer | None = None
    try:
        answer = await _answer(going, upstream, passed)
        silence.heard()
        silence.begun = True
        passed.first_byte = time.time()
        await _relay(answer, going, down, tap, silence, passed)
    except asyncio.CancelledError:
        passed.ended = "broken" if silence.late else "cancelled"
        if not silence.late:
            raise Left(passed) from None
        task.uncancel()
        await _tell_late(down, passed, patience)
    except (Unreached, CutOff) as error:
        passed.ended = "broken"
        if not passed.status:
            raise Refusal(502, f"the provider cannot be reached: {error}") from None
        await _tell_broken(down, passed, f"the provider's answer broke off: {error}", 502)
    finally:
        silence.end()
        if answer is not None:
            answer.close()
    return passed


class Left(Exception):
    """The task was cancelled, by a client that left or by an end of everything; it tells how far things had come."""

    def __init__(self, passed: Passed) -> None:
        super().__init__()
        self.passed = passed


async def _answer(going: Going, upstream: Upstream, passed: Passed) -> Answer:
    """The provider's answer. One that will not be asked for the usage gets the client's own words."""
    answer = await upstream.send(going.method, going.url, going.headers, going.body)
    if going.original is None or answer.status not in (400, 422):
        return answer
    refusal = await _collected(answer)
    answer.close()
    if FIELD.encode() not in refusal:
        return _Told(answer, refusal)
    passed.refused_asking = True
    return await upstream.send(going.method, going.url, going.headers, going.original)


async def _relay(answer: Answer, going: Going, down: Down, tap: Tap | None, silence: Silence, passed: Passed) -> None:
    passed.status, passed.kind = answer.status, answer.value_of("content-type").lower()
    passed.coding = answer.value_of("content-encoding").lower()
    is_stream = "event-stream" in passed.kind
    if down.status and (answer.status != 200 or not is_stream):
        await _tell_too_late(answer, down, tap)
        return
    unasked = Unasked() if is_stream and going.original is not None and not passed.refused_asking else None
    silence.streamed = is_stream
    if silence.pinging:
        await silence.pinging
    if not down.status:
        headers = coming_down(answer.headers, down.headers, streamed=is_stream, changed=unasked is not None)
        await down.start(answer.status, headers)
    if not is_stream:
        await _whole(answer, down, tap, silence)
        return
    while chunk := await answer.chunk():
        silence.heard()
        if tap is not None:
            tap.take(chunk)
        if unasked is not None and not (chunk := unasked.feed(chunk)):
            continue
        if silence.pinging is not None:
            await silence.pinging
        await down.chunk(chunk)
    await down.end(unasked.close() if unasked else b"")


async def _whole(answer: Answer, down: Down, tap: Tap | None, silence: Silence) -> None:
    """What is no stream: each chunk waits for the next, so that the last, mostly the only one, is sent as such."""
    last = b""
    while chunk := await answer.chunk():
        silence.heard()
        if tap is not None:
            tap.take(chunk)
        if last:
            await down.chunk(last)
        last = chunk
    await down.end(last)


async def _tell_late(down: Down, passed: Passed, patience: Patience) -> None:
    if not passed.status and not down.status:
        raise Refusal(504, f"the provider gave no answer within {patience.first_byte:g} s")
    await _tell_broken(down, passed, f"nothing more came from the provider for {patience.idle:g} s", 504)


async def _tell_broken(down: Down, passed: Passed, why: str, status: int) -> None:
    """In a stream it can be said; half of anything else just ends."""
    if "event-stream" in passed.kind or not passed.kind:
        await down.refuse(Refusal(status, why))
    else:
        await down.cut()


async def _tell_too_late(answer: Answer, down: Down, tap: Tap | None) -> None:
    """A client that was told to wait hears the provider's error as an event: the status is gone."""
    body = await _collected(answer)
    if tap is not None:
        tap.take(body)
    line = b" ".join(body.splitlines())
    if not line.startswith(b"{"):
        await down.refuse(Refusal(502, f"the provider answered with status {answer.status}"))
        return
    named = b"event: error\n" if down.dialect.name == "anthropic" else b""
    await down.cut(b"%bdata: %b\n\n" % (named, line))


async def _collected(answer: Answer) -> bytes:
    body = b""
    while len(body) < MOST_ERROR and (chunk := await answer.chunk()):
        body += chunk
    return body


class _Told(Answer):
    """An answer whose body was read already."""

    __slots__ = ("_body",)

    def __init__(self, answer: Answer, body: bytes) -> None:
        super().__init__(answer._response)
        self._body = body

    async def chunk(self) -> bytes:
        body, self._body = self._body, b""
        return body

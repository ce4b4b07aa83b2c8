"""One exchange with a provider over real connections: what comes back, and what each fault becomes."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from clew.core.effects import CallModel, Sleep
from clew.facts.exchange import Prompt, RateLimited, Refused, Reply, Unavailable
from clew.facts.messages import message
from clew.facts.pieces import Begun, Broken, Ended, Piece, Said
from clew.runtime.drive import adrive, drive
from clew.runtime.endpoints import Endpoint, Patience, Secret
from clew.runtime.http import Pool
from clew.runtime.transport import hands
from clew.wire.gather import gather
from tests.runtime.servers import Visit, serving
from tests.runtime.tiny import HELLO, KEY, asynchronous, at, event, say_ok, stream_ok, transport


async def failed(script: Any, *, stream: bool = False, **named: Any) -> Any:
    """What a call comes to where the script fails it."""
    async with serving(script) as server, transport() as sending:
        prompt = HELLO if not stream else Prompt("", HELLO.messages, stream=True)
        answer = await sending.call(prompt, at(server, **named))
        assert not isinstance(answer, Reply), answer
        return answer


# what goes out and what comes back


@asynchronous
async def test_a_prompt_goes_out_in_the_endpoints_dialect_with_its_key_and_the_reply_comes_back() -> None:
    async with serving(say_ok) as server, transport() as sending:
        reply = await sending.call(HELLO, at(server, headers={"X-Trace": "7", "User-Agent": "mine"}))
    assert reply == Reply(message("assistant", "ok"))
    (visit,) = server.visits
    assert visit.path == "/v1/say"
    assert visit.asked == {"said": "hello", "stream": False}
    assert visit.headers["authorization"] == f"Bearer {KEY}"
    assert visit.headers["content-type"] == "application/json"
    assert (visit.headers["x-trace"], visit.headers["user-agent"]) == ("7", "mine")


@asynchronous
async def test_a_prompt_with_half_a_surrogate_pair_is_sent_as_its_escape() -> None:
    async with serving(say_ok) as server, transport() as sending:
        await sending.call(Prompt("", (message("user", "a\ud83d"),)), at(server))
    assert server.visits[0].asked["said"] == "a\ud83d"


@asynchronous
async def test_pieces_are_handed_over_while_the_server_is_still_speaking() -> None:
    heard = asyncio.Event()

    async def script(visit: Visit) -> None:
        assert visit.asked["stream"] is True
        await visit.stream()
        await visit.chunk(event(text="Hel"))
        await heard.wait()  # the rest is said only when the first piece has been heard
        await visit.chunk(event(text="lo") + event(end=True))
        await visit.end()

    async with serving(script) as server, transport() as sending:
        pieces: list[Piece] = []
        reply = await sending.call(HELLO, at(server), on_piece=lambda piece: (pieces.append(piece), heard.set())[0])
    assert pieces == [Said("Hel"), Said("lo"), Ended("stop")]
    assert reply == gather(pieces)


@asynchronous
async def test_a_consumer_of_pieces_may_be_async() -> None:
    pieces: list[Piece] = []

    async def take(piece: Piece) -> None:
        await asyncio.sleep(0)
        pieces.append(piece)

    async with serving(stream_ok) as server, transport() as sending:
        await sending.call(HELLO, at(server), on_piece=take)
    assert pieces == [Said("Hel"), Said("lo"), Ended("stop")]


@asynchronous
async def test_a_stream_cut_at_every_byte_says_the_same() -> None:
    said = event(text="naïve 必须 🧵") + event(end=True)

    async def script(visit: Visit) -> None:
        await visit.stream()
        for byte in said:
            await visit.chunk(bytes([byte]))
        await visit.end()

    async with serving(script) as server, transport() as sending:
        pieces = [piece async for piece in sending.stream(HELLO, at(server))]
    assert pieces == [Said("naïve 必须 🧵"), Ended("stop")]


@asynchronous
async def test_a_server_that_streams_unasked_or_not_although_asked_is_understood() -> None:
    async with serving(stream_ok) as server, transport() as sending:
        reply = await sending.call(HELLO, at(server))
        assert isinstance(reply, Reply)
        assert reply.message.text == "Hello"
    async with serving(say_ok) as server, transport() as sending:
        pieces: list[Piece] = []
        reply = await sending.call(HELLO, at(server), on_piece=pieces.append)
        assert reply == Reply(message("assistant", "ok"))
        assert pieces == [Begun(), Said("ok"), Ended("stop")]
        assert [piece async for piece in sending.stream(HELLO, at(server))] == pieces
    assert [visit.asked["stream"] for visit in server.visits] == [True, True]


@asynchronous
async def test_a_whole_reply_keeps_what_no_stream_could_tell() -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(200, {"text": "ok", "more": {"kept": [1]}})

    async with serving(script) as server, transport() as sending:
        for on_piece in (None, lambda piece: None):
            reply = await sending.call(HELLO, at(server), on_piece=on_piece)
            assert isinstance(reply, Reply)
            assert reply.message.raw["tiny"] == {"kept": [1]}


def brotli(said: bytes) -> bytes:
    """One block that is stored as it is: the form without the packing."""
    return (0x80000B | len(said) - 1 << 7).to_bytes(3, "little") + said + b"\x03"


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("br", brotli)])
@asynchronous
async def test_a_packed_body_is_unpacked_also_in_a_stream(coding: str, pack: Callable[[bytes], bytes]) -> None:
    async def script(visit: Visit) -> None:
        assert coding in visit.headers["accept-encoding"]
        if visit.asked["stream"]:
            said = pack(event(text="packed") + event(end=True))
            await visit.head(content_type="text/event-stream", content_encoding=coding, transfer_encoding="chunked")
            await visit.chunk(said[:15])
            await visit.chunk(said[15:])
            await visit.end()
        else:
            await visit.answer(200, pack(b'{"text": "packed"}'), content_encoding=coding)

    async with serving(script) as server, transport() as sending:
        for on_piece in (None, lambda piece: None):
            reply = await sending.call(HELLO, at(server), on_piece=on_piece)
            assert isinstance(reply, Reply), reply
            assert reply.message.text == "packed"


# faults become failures


@asynchronous
async def test_a_refused_connection_is_unavailable_after_three_attempts() -> None:
    async with serving(say_ok) as server:
        pass  # nobody listens there any more
    drawn: list[float] = []
    async with transport(chance=lambda: drawn.append(0.0) or 0.0) as sending:
        failure = await sending.call(HELLO, at(server))
    assert isinstance(failure, Unavailable)
    assert "refused" in failure.why
    assert failure.why.startswith(server.url.removeprefix("http://"))
    assert "/say" not in failure.why
    assert len(drawn) == 2


@asynchronous
async def test_a_server_that_is_up_again_at_the_second_attempt_is_reached() -> None:
    async with serving(say_ok) as server:
        port = int(server.url.rpartition(":")[2])
    back: list[asyncio.Server] = []

    async def come_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}")
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 14\r\nconnection: close\r\n\r\n{"text": "up"}')
        await writer.drain()
        writer.close()

    class Http(Pool):
        async def post(self, *args: Any) -> Any:
            try:
                return await super().post(*args)
            finally:
                if not back:
                    back.append(await asyncio.start_server(come_back, "127.0.0.1", port))

    async with transport(Http(), chance=lambda: 0.1) as sending:
        reply = await sending.call(HELLO, at(server))
    back[0].close()
    assert isinstance(reply, Reply), reply


@asynchronous
async def test_a_reset_by_a_server_that_was_never_met_is_not_tried_again() -> None:
    seen: list[Visit] = []

    async def script(visit: Visit) -> None:
        seen.append(visit)
        visit.reset()

    assert isinstance(await failed(script), Unavailable)
    assert len(seen) == 1  # it may have been at work already


@asynchronous
async def test_a_stale_connection_of_the_pool_is_replaced_without_a_word() -> None:
    stale: list[Visit] = []

    async def script(visit: Visit) -> None:
        if visit.number == 2 and not stale:
            stale.append(visit)
            visit.reset()
        else:
            await say_ok(visit)

    async with serving(script) as server, transport() as sending:
        while not stale:  # until a connection has come back to the pool and was used again
            assert isinstance(await sending.call(HELLO, at(server)), Reply)
            await asyncio.sleep(0.01)
    assert server.visits[-1].connection > stale[0].connection


@asynchronous
async def test_a_reset_while_the_server_worked_on_it_is_not_tried_again() -> None:
    async def script(visit: Visit) -> None:
        if len(server.visits) == 1:
            await say_ok(visit)
        else:
            ticks.append(5.0)
            visit.reset()

    ticks = [0.0]
    async with serving(script) as server, transport(clock=lambda: ticks[-1]) as sending:
        assert isinstance(await sending.call(HELLO, at(server)), Reply)
        assert isinstance(await sending.call(HELLO, at(server)), Unavailable)
    assert len(server.visits) == 2


@asynchronous
async def test_half_a_body_is_unavailable() -> None:
    async def script(visit: Visit) -> None:
        await visit.head(content_type="application/json", content_length="100")
        await visit.write(b'{"text": "ha')
        visit.hang_up()

    failure = await failed(script)
    assert isinstance(failure, Unavailable)
    assert "broke off after 12 bytes" in failure.why


@asynchronous
async def test_half_a_stream_is_unavailable_and_tells_that_something_was_delivered() -> None:
    async def script(visit: Visit) -> None:
        await visit.stream()
        await visit.chunk(event(text="Hel") + event(text="lo") + b'data: {"te')
        visit.hang_up()

    async with serving(script) as server, transport() as sending:
        pieces: list[Piece] = []
        failure = await sending.call(HELLO, at(server), on_piece=pieces.append)
    assert isinstance(failure, Unavailable)
    assert failure.why.startswith("the stream broke off after 2 pieces")
    assert pieces == [Said("Hel"), Said("lo"), Broken(failure)]
    assert len(server.visits) == 1


@asynchronous
async def test_a_stream_that_closes_politely_before_its_end_is_unavailable_too() -> None:
    async def script(visit: Visit) -> None:
        await visit.stream()
        await visit.chunk(event(text="Hel"))
        await visit.end()

    failure = await failed(script, stream=True)
    assert isinstance(failure, Unavailable)
    assert "after 1 pieces: the connection was closed" in failure.why


@asynchronous
async def test_an_empty_stream_is_unavailable() -> None:
    async def script(visit: Visit) -> None:
        await visit.stream()
        await visit.end()

    assert "after 0 pieces" in (await failed(script, stream=True)).why


@asynchronous
async def test_a_stream_without_the_last_blank_line_is_whole() -> None:
    async def script(visit: Visit) -> None:
        await visit.stream()
        await visit.chunk((event(text="Hello") + event(end=True)).rstrip())
        await visit.end()

    async with serving(script) as server, transport() as sending:
        assert isinstance(await sending.call(HELLO, at(server)), Reply)


@asynchronous
async def test_a_server_that_does_not_hang_up_after_its_last_word_has_still_answered() -> None:
    async def script(visit: Visit) -> None:
        if visit.headers["x-phase"] == "reply":
            await visit.stream()
            await visit.chunk(event(text="Hello") + event(end=True))
        else:
            await visit.head(503, content_length="100")
            await visit.write(b"overloaded")
        await visit.gone()

    async with serving(script) as server, transport() as sending:
        calls = [sending.call(HELLO, at(server, headers={"x-phase": phase})) for phase in ("reply", "error")]
        reply, failure = await asyncio.gather(*calls)
    assert isinstance(reply, Reply)
    assert isinstance(failure, Unavailable)
    assert "overloaded" in failure.why


@asynchronous
async def test_silence_before_and_within_the_answer_is_unavailable() -> None:
    async def nothing(visit: Visit) -> None:
        await visit.gone()

    async def a_word(visit: Visit) -> None:
        await visit.stream()
        await visit.chunk(event(text="Hel"))
        await visit.gone()

    failure = await failed(nothing, patience=Patience(first_byte=0.2))
    assert isinstance(failure, Unavailable)
    assert "no answer within 0.2 s" in failure.why
    failure = await failed(a_word, stream=True, patience=Patience(idle=0.2))
    assert isinstance(failure, Unavailable)
    assert failure.why == "the stream broke off after 1 pieces: nothing more came within 0.2 s"


@asynchronous
async def test_one_deadline_bounds_every_wait() -> None:
    async def drip(visit: Visit) -> None:
        await visit.stream()
        while not visit.writer.is_closing():
            await visit.chunk(event(text="."))
            await asyncio.sleep(0.02)

    async def nothing(visit: Visit) -> None:
        await visit.gone()

    async def half(visit: Visit) -> None:
        await visit.head(500, content_length="100")
        await visit.gone()

    for script in (drip, nothing, half):
        async with serving(script) as server, transport() as sending:
            began = time.monotonic()
            failure = await sending.call(HELLO, at(server), deadline=began + 0.3)
            assert isinstance(failure, Unavailable)
            assert time.monotonic() - began < 5
            assert script is half or "before the deadline" in failure.why
    failure = await failed(drip, stream=True, patience=Patience(total=0.3))
    assert "before the deadline" in failure.why


@asynchronous
async def test_a_deadline_that_has_passed_sends_nothing() -> None:
    async with serving(say_ok) as server, transport() as sending:
        failure = await sending.call(HELLO, at(server), deadline=time.monotonic() - 1)
    assert isinstance(failure, Unavailable)
    assert not server.visits


@asynchronous
async def test_a_server_error_with_a_page_for_people_is_unavailable() -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(502, b"<html><h1>Bad gateway</h1></html>", content_type="text/html")

    failure = await failed(script)
    assert isinstance(failure, Unavailable)
    assert failure.status == 502


@asynchronous
async def test_a_rate_limit_keeps_the_time_to_wait() -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(429, {"error": {"message": "slow down"}}, retry_after="7")

    failure = await failed(script)
    assert isinstance(failure, RateLimited)
    assert failure.retry_after == 7.0


@asynchronous
async def test_an_error_told_with_status_200_is_a_failure() -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(200, {"error": {"message": "the upstream is overloaded", "code": 503}})

    for stream in (False, True):
        assert "overloaded" in (await failed(script, stream=stream)).why


@asynchronous
async def test_an_answer_that_is_no_reply_is_a_failure_that_shows_its_start() -> None:
    async def page(visit: Visit) -> None:
        await visit.answer(200, b"<!doctype html><title>Welcome</title>", content_type="text/html")

    async def cut(visit: Visit) -> None:
        await visit.answer(200, b'{"text": "ha', content_type="application/json")

    async def odd(visit: Visit) -> None:
        await visit.answer(200, {"unknown": 1})

    for stream in (False, True):
        failure = await failed(page, stream=stream)
        assert isinstance(failure, Refused)
        assert "is the base URL right" in failure.why
    failure = await failed(cut)
    assert isinstance(failure, Unavailable)
    assert '{"text": "ha' in failure.why
    assert "the reply has no text" in (await failed(odd)).why


@asynchronous
async def test_an_event_that_cannot_be_read_ends_the_stream() -> None:
    async def script(visit: Visit) -> None:
        await visit.stream()
        await visit.chunk(event(text="Hel") + b"data: {not json}\n\n" + event(text="lo") + event(end=True))
        await visit.end()

    async with serving(script) as server, transport() as sending:
        pieces: list[Piece] = []
        failure = await sending.call(HELLO, at(server), on_piece=pieces.append)
    assert isinstance(failure, Unavailable)
    assert pieces == [Said("Hel"), Broken(failure)]


@asynchronous
async def test_an_enormous_answer_is_not_held() -> None:
    async def body(visit: Visit) -> None:
        await visit.head(content_type="application/json", transfer_encoding="chunked")
        await flood(visit, b" " * 10_000)

    async def stream(visit: Visit) -> None:
        await visit.stream()
        await flood(visit, b"data: " + b"x" * 10_000)

    async def error(visit: Visit) -> None:
        await visit.head(500, transfer_encoding="chunked")
        await flood(visit, b"x" * 100_000)

    async def flood(visit: Visit, said: bytes) -> None:
        while not visit.writer.is_closing():
            await visit.chunk(said)

    async with transport(most_bytes=1_000_000) as sending:
        for script, kind in ((body, Refused), (stream, Refused), (error, Unavailable)):
            async with serving(script) as server:
                failure = await sending.call(HELLO, at(server))
                assert type(failure) is kind
                assert len(failure.why) < 2_000


@asynchronous
async def test_a_redirect_is_not_followed() -> None:
    async with serving(say_ok) as elsewhere:

        async def script(visit: Visit) -> None:
            await visit.answer(307, b"", location=f"{elsewhere.url}/v2?secret=1")

        failure = await failed(script)
    assert isinstance(failure, Refused)
    assert f"redirects to {elsewhere.url}/v2;" in failure.why
    assert not elsewhere.visits


# leaving


@asynchronous
async def test_cancelling_closes_the_connection_in_every_phase() -> None:
    left = asyncio.Event()

    async def script(visit: Visit) -> None:
        if visit.headers["x-phase"] != "head":
            await visit.stream()
        if visit.headers["x-phase"] == "pieces":
            await visit.chunk(event(text="Hel"))
        begun.set()
        await visit.gone()
        left.set()

    async with serving(script) as server, transport() as sending:
        for phase in ("head", "body", "pieces"):
            begun = asyncio.Event()
            left.clear()
            calling = asyncio.create_task(sending.call(HELLO, at(server, headers={"x-phase": phase})))
            await begun.wait()
            await asyncio.sleep(0.05)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            async with asyncio.timeout(3):
                await left.wait()


@asynchronous
async def test_a_stream_that_is_closed_early_closes_its_connection() -> None:
    left = asyncio.Event()

    async def script(visit: Visit) -> None:
        await visit.stream()
        await visit.chunk(event(text="Hel"))
        await visit.gone()
        left.set()

    async with serving(script) as server, transport() as sending:
        async with aclosing(sending.stream(HELLO, at(server))) as pieces:
            assert await anext(pieces) == Said("Hel")
        async with asyncio.timeout(3):
            await left.wait()


@asynchronous
async def test_cancelled_calls_leave_room_for_others_in_the_pool() -> None:
    async def script(visit: Visit) -> None:
        if visit.asked["said"] == "hang":
            await visit.gone()
        else:
            await say_ok(visit)

    async with serving(script) as server, transport(Pool(connections=2)) as sending:
        for _ in range(4):
            hang = Prompt("", (message("user", "hang"),))
            calls = [asyncio.create_task(sending.call(hang, at(server))) for _ in range(2)]
            await asyncio.sleep(0.05)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(await sending.call(HELLO, at(server)), Reply)


@asynchronous
async def test_fifty_calls_at_once_share_the_connections_of_the_pool() -> None:
    at_once: list[int] = [0]

    async def script(visit: Visit) -> None:
        at_once.append(at_once[-1] + 1)
        await asyncio.sleep(0.01)
        at_once.append(at_once[-1] - 1)
        await say_ok(visit)

    async with serving(script) as server, transport(Pool(connections=5)) as sending:
        replies = await asyncio.gather(*(sending.call(HELLO, at(server)) for _ in range(50)))
    assert all(isinstance(reply, Reply) for reply in replies)
    assert max(at_once) == 5
    assert server.connections <= 10  # one that is just on its way back to the pool is not yet free


@asynchronous
async def test_two_hundred_streams_at_once_leave_nothing_open() -> None:
    async with serving(stream_ok) as server:
        before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        async with transport(Pool(connections=200)) as sending:
            replies = await asyncio.gather(*(sending.call(HELLO, at(server)) for _ in range(200)))
        assert all(isinstance(reply, Reply) for reply in replies)
        async with asyncio.timeout(5):
            while os.path.isdir("/proc/self/fd") and len(os.listdir("/proc/self/fd")) > before + 20:
                await asyncio.sleep(0.05)


def test_one_transport_serves_one_event_loop_after_another() -> None:
    sending = transport(Pool(connections=1))

    async def ask(port: int) -> int:
        async with serving(say_ok, port=port) as server:
            replies = await asyncio.gather(*(sending.call(HELLO, at(server)) for _ in range(3)))
        assert all(isinstance(reply, Reply) for reply in replies), replies
        return int(server.url.rpartition(":")[2])

    port = asyncio.run(ask(0))
    for _ in range(2):
        asyncio.run(ask(port))
    asyncio.run(sending.aclose())


# secrets


@asynchronous
async def test_no_key_is_in_any_failure_log_or_text(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def script(visit: Visit) -> None:
        echo = json.dumps(visit.headers)
        match visit.headers["x-phase"]:
            case "error":
                await visit.answer(401, {"error": {"message": f"bad key in {echo}"}})
            case "page":
                await visit.answer(500, f"<pre>{echo}</pre>".encode(), content_type="text/html")
            case "ok":
                await visit.answer(200, {"error": {"message": echo}})
            case "odd":
                await visit.answer(200, echo.encode())
            case "stream":
                await visit.stream()
                await visit.chunk(event(error=echo))
                await visit.end()
            case "redirect":
                await visit.answer(302, b"", location=f"http://elsewhere.example/{KEY}")
            case "reset":
                visit.reset()

    told: list[str] = []
    async with serving(script) as server, transport() as sending:
        for phase in ("error", "page", "ok", "odd", "stream", "redirect", "reset"):
            headers = {"x-phase": phase, "X-Other-Token": "tok-secret-77"}
            endpoint = at(server, headers=headers, base_url=f"{server.url}/v1?key={KEY}")
            failure = await sending.call(HELLO, endpoint)
            assert not isinstance(failure, Reply)
            told += [repr(failure), str(failure), repr(endpoint), str(endpoint), repr(sending), f"{endpoint.key}"]
    endpoint = Endpoint("gone", f"http://127.0.0.1:1/?key={KEY}", dialect="tiny", key=Secret(KEY))
    async with transport() as sending:
        told.append(repr(await sending.call(HELLO, endpoint)))
    text = "\n".join(told) + caplog.text
    assert KEY not in text
    assert "tok-secret-77" not in text
    assert "[REDACTED]" in text


# in the hands of a driver


def a_story() -> Iterator[Any]:
    yield Sleep(0.001)
    return (yield CallModel(HELLO))


@asynchronous
async def test_a_story_is_driven_over_the_network() -> None:
    async with serving(stream_ok) as server, transport() as sending:
        pieces: list[Piece] = []
        reply = await adrive(a_story(), hands(sending, at(server), on_piece=pieces.append))  # type: ignore[arg-type]
        assert isinstance(reply, Reply)
        assert len(pieces) == 3
        again = await asyncio.to_thread(drive, a_story(), hands(sending, at(server)))  # type: ignore[arg-type]
        assert again == reply

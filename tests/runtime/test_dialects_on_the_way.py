"""Every real dialect over a real connection, whole and streamed, there and back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clew.facts.exchange import Prompt, RateLimited, Reply
from clew.facts.messages import message, read_message
from clew.facts.pieces import Piece
from clew.facts.usage import Usage
from clew.runtime.endpoints import Endpoint, Secret
from clew.runtime.transport import Transport
from clew.wire.dialects import DIALECTS
from clew.wire.scatter import scatter
from clew.wire.sse import spell
from tests.runtime.servers import Visit, serving
from tests.runtime.tiny import KEY, asynchronous

PROMPT = Prompt("Be brief.", (message("user", "Hi"),), max_output=100, model="m")
REPLY = Reply(
    read_message(
        {
            "role": "assistant",
            "content": "必须 look 🧵",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "é"}'}}],
        }
    ),
    Usage(input=7, output=3),
    "tool_calls",
    "r1",
    "m",
)


@pytest.mark.parametrize("name", sorted(DIALECTS))
@asynchronous
async def test_a_prompt_and_its_reply_arrive_as_they_were_sent(name: str) -> None:
    dialect = DIALECTS[name]

    async def script(visit: Visit) -> None:
        asked = dialect.decode(visit.asked)
        assert replace(asked, stream=False) == PROMPT
        if not asked.stream:
            await visit.answer(200, dialect.encode_reply(REPLY))
            return
        writer = dialect.writer(asked)
        await visit.stream()
        for piece in scatter(REPLY):
            for event in writer.feed(piece):
                await visit.chunk(spell(event))
        for event in writer.close():
            await visit.chunk(spell(event))
        await visit.end()

    async with serving(script) as server, Transport() as sending:
        endpoint = Endpoint("here", server.url, dialect=name, key=Secret(KEY))
        whole = await sending.call(PROMPT, endpoint)
        pieces: list[Piece] = []
        streamed = await sending.call(PROMPT, endpoint, on_piece=pieces.append)
    for reply in (whole, streamed):
        assert isinstance(reply, Reply), reply
        assert (reply.message.text, reply.message.calls) == (REPLY.message.text, REPLY.message.calls)
        assert (reply.usage, reply.stop) == (REPLY.usage, REPLY.stop)
    assert len(pieces) > 3
    assert {visit.path for visit in server.visits} == {f"/v1{dialect.path}"}


@pytest.mark.parametrize("name", sorted(DIALECTS))
@asynchronous
async def test_a_failure_arrives_as_the_provider_tells_it(name: str) -> None:
    async def script(visit: Visit) -> None:
        status, body = DIALECTS[name].encode_failure(RateLimited(why="too many requests", status=429))
        await visit.answer(status, body, retry_after="3")

    async with serving(script) as server, Transport() as sending:
        failure = await sending.call(PROMPT, Endpoint("here", server.url, dialect=name))
    assert isinstance(failure, RateLimited), failure
    assert failure.retry_after == 3.0


@pytest.mark.parametrize("name", sorted(DIALECTS))
@asynchronous
async def test_half_a_stream_of_any_dialect_is_told_as_broken(name: str) -> None:
    dialect = DIALECTS[name]

    async def script(visit: Visit) -> None:
        writer = dialect.writer(dialect.decode(visit.asked))
        await visit.stream()
        for piece in list(scatter(REPLY))[:3]:
            for event in writer.feed(piece):
                await visit.chunk(spell(event))
        await visit.end()  # politely, as a proxy does whose upstream was lost

    async with serving(script) as server, Transport() as sending:
        failure = await sending.call(replace(PROMPT, stream=True), Endpoint("here", server.url, dialect=name))
    assert not isinstance(failure, Reply)
    assert "broke off" in failure.why

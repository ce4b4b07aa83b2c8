"""Does Anthropic's own client understand what we write, and do we understand what it asks?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from clew.facts.exchange import PromptTooLong, RateLimited, Reply, Unavailable
from clew.facts.messages import read_message
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Piece, Said
from clew.facts.usage import Usage
from clew.wire.anthropic import ANTHROPIC
from clew.wire.scatter import scatter
from clew.wire.sse import spell

anthropic = pytest.importorskip("anthropic", reason="Anthropic's own client is not installed")

asked: dict[str, Any] = {
    "model": "some-model",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Is the lamp lit?"}],
    "tools": [{"name": "look", "input_schema": {"type": "object"}}],
}
REPLY = ANTHROPIC.decode_reply(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "some-model",
        "content": [
            {"type": "thinking", "thinking": "I should look.", "signature": "c2ln"},
            {"type": "text", "text": "I look."},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "必"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            {"type": "text", "text": "So:", "citations": [{"type": "char_location", "cited_text": "log"}]},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"deck": [1, {"b": None}]}},
            {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 9,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 3,
            "output_tokens": 8,
        },
    }
)


def talk(status: int, kind: str, body: bytes, ask: Callable[[Any], Awaitable[Any]]) -> tuple[Any, Any]:
    """What the client makes of this answer of a server, and what it had sent."""
    requests: list[Any] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        requests.append(json.loads(await reader.readexactly(int(length.split(b":")[1]))))
        first = f"HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"
        writer.write(first.encode() + body)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def both() -> Any:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server, anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0) as client:
            return await ask(client)

    return asyncio.run(both()), requests[0]


async def whole(client: Any) -> Any:
    return as_said(await client.messages.create(**asked))


async def in_pieces(client: Any) -> Any:
    async with client.messages.stream(**asked) as stream:
        return as_said(await stream.get_final_message())


def as_said(message: Any) -> dict[str, Any]:
    """The client's reading of a reply, without the fields it puts in by itself."""
    found: dict[str, Any] = message.to_dict(exclude_unset=True)
    return {key: value for key, value in found.items() if key != "stop_details"}


def streamed(pieces: list[Piece]) -> dict[str, Any]:
    writer = ANTHROPIC.writer(ANTHROPIC.decode(asked))
    events = [event for piece in pieces for event in writer.feed(piece)] + writer.close()
    found: dict[str, Any]
    found, _ = talk(200, "text/event-stream", b"".join(map(spell, events)), in_pieces)
    return found


def test_the_client_reads_a_reply_and_we_read_its_request() -> None:
    made = ANTHROPIC.encode_reply(REPLY)
    reply, request = talk(200, "application/json", json.dumps(made).encode(), whole)
    assert reply == made
    assert ANTHROPIC.encode(ANTHROPIC.decode(request)) == request == asked


def test_the_client_reads_a_stream_as_the_whole_reply() -> None:
    assert streamed(list(scatter(REPLY))) == ANTHROPIC.encode_reply(REPLY)


def test_the_client_reads_what_a_chat_provider_said() -> None:
    usage = Usage(input=5, output=6)
    pieces: list[Piece] = [
        Begun("chatcmpl-1", "gpt-5.2"),
        Beside("reasoning_content", "I should look."),
        Said("I "),
        Said("look."),
        Called(0, "a", "look"),
        Called(1, "b", "look"),
        Argued(0, '{"deck"'),
        Argued(1, '{"deck": 2}'),
        Argued(0, ": 1}"),
        Ended("tool_calls"),
        Counted(usage),
    ]
    calls = [
        {"id": name, "type": "function", "function": {"name": "look", "arguments": f'{{"deck": {deck}}}'}}
        for deck, name in ((1, "a"), (2, "b"))
    ]
    said = {"role": "assistant", "content": "I look.", "reasoning_content": "I should look.", "tool_calls": calls}
    reply = Reply(read_message(said), usage, "tool_calls", "chatcmpl-1", "gpt-5.2")
    assert streamed(pieces) == ANTHROPIC.encode_reply(reply)


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (PromptTooLong(limit=200_000, used=204_000), anthropic.BadRequestError),
        (RateLimited(), anthropic.RateLimitError),
        (Unavailable(), anthropic.APIStatusError),
    ],
)
def test_the_client_understands_a_failure(failure: Any, error: Any) -> None:
    status, made = ANTHROPIC.encode_failure(failure)
    with pytest.raises(error) as raised:
        talk(status, "application/json", json.dumps(made).encode(), whole)
    assert raised.value.body == made


def test_the_client_understands_a_stream_that_breaks() -> None:
    with pytest.raises(anthropic.APIStatusError, match="gone"):
        streamed([Begun(), Said("Hi"), Broken(Unavailable(why="gone"))])

"""Does OpenAI's own SDK understand what is written for clients of chat?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from clew.facts.exchange import Failure, PromptTooLong, Reply, Unavailable
from clew.facts.messages import read_message
from clew.facts.pieces import Broken, Said
from clew.facts.usage import Usage
from clew.wire.chat import CHAT
from clew.wire.scatter import scatter
from clew.wire.sse import spell

openai = pytest.importorskip("openai", reason="the openai SDK is not installed")

ASKS = {"model": "m", "messages": [{"role": "user", "content": "Look."}]}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
CALLS = [
    {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": json.dumps({"必须": n})}}
    for n in (1, 2)
]
WORDS = Reply(
    read_message({"role": "assistant", "content": "naïve 🧵", "reasoning_content": "hm"}), Usage(7, 3, 2), id="r"
)
CALLING = Reply(
    read_message({"role": "assistant", "content": None, "tool_calls": CALLS}), Usage(7, 3), "tool_calls", "r"
)


def ask(answer: Reply | Failure, use: Callable[[Any], Awaitable[Any]]) -> Any:
    """What a client gets that asks a server which answers so."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length:")[1].split()[0])
        prompt = CHAT.decode(json.loads(await reader.readexactly(length)))
        status, kind, body = 200, "application/json", b""
        if isinstance(answer, Reply) and prompt.stream:
            out = CHAT.writer(prompt)
            events = [*(event for piece in scatter(answer) for event in out.feed(piece)), *out.close()]
            kind, body = "text/event-stream", b"".join(map(spell, events))
        elif isinstance(answer, Reply):
            body = json.dumps(CHAT.encode_reply(answer)).encode()
        elif prompt.stream:
            out = CHAT.writer(prompt)
            kind, body = "text/event-stream", b"".join(map(spell, [*out.feed(Said("So")), *out.feed(Broken(answer))]))
        else:
            status, failed = CHAT.encode_failure(answer)
            body = json.dumps(failed).encode()
        lines = (
            f"HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        writer.write(lines.encode() + body)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def run() -> Any:
        async with await asyncio.start_server(serve, "127.0.0.1") as server:
            port = server.sockets[0].getsockname()[1]
            base = f"http://127.0.0.1:{port}/v1"
            async with openai.AsyncOpenAI(base_url=base, api_key="none", max_retries=0) as client:
                return await use(client.chat.completions)

    return asyncio.run(run())


def test_a_whole_reply_is_understood() -> None:
    got = ask(WORDS, lambda chat: chat.create(**ASKS))
    message = got.choices[0].message
    assert (message.content, message.reasoning_content, got.choices[0].finish_reason) == ("naïve 🧵", "hm", "stop")
    assert (got.usage.prompt_tokens, got.usage.prompt_tokens_details.cached_tokens, got.usage.total_tokens) == (
        9,
        2,
        12,
    )


def test_whole_calls_are_understood() -> None:
    got = ask(CALLING, lambda chat: chat.create(**ASKS, tools=[TOOL]))
    assert [call.model_dump() for call in got.choices[0].message.tool_calls] == CALLS


async def _chunks(chat: Any, **more: Any) -> list[Any]:
    return [chunk async for chunk in await chat.create(**ASKS, stream=True, **more)]


def test_a_streamed_reply_is_understood() -> None:
    got = ask(WORDS, _chunks)
    deltas = [chunk.choices[0].delta for chunk in got]
    assert "".join(delta.content or "" for delta in deltas) == "naïve 🧵"
    assert deltas[0].role == "assistant"
    assert got[-1].choices[0].finish_reason == "stop"
    assert all(chunk.usage is None for chunk in got)


def test_the_usage_of_a_stream_comes_last_when_it_was_asked_for() -> None:
    got = ask(WORDS, lambda chat: _chunks(chat, stream_options={"include_usage": True}))
    assert (got[-1].choices, got[-1].usage.prompt_tokens) == ([], 9)
    assert all(chunk.usage is None for chunk in got[:-1])


def test_streamed_calls_are_put_together_by_the_sdk_itself() -> None:
    async def use(chat: Any) -> Any:
        async with chat.stream(**ASKS, tools=[TOOL]) as stream:
            return await stream.get_final_completion()

    got = ask(CALLING, use)
    made = [(call.id, call.function.name, call.function.arguments) for call in got.choices[0].message.tool_calls]
    assert made == [(call["id"], "look", call["function"]["arguments"]) for call in CALLS]
    assert (got.choices[0].finish_reason, got.choices[0].message.content) == ("tool_calls", None)


def test_a_failure_is_the_error_that_clients_look_for() -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        ask(PromptTooLong(limit=8_192, used=9_000), lambda chat: chat.create(**ASKS))
    assert refused.value.code == "context_length_exceeded"


def test_an_error_in_mid_stream_is_raised() -> None:
    with pytest.raises(openai.APIError, match="Overloaded"):
        ask(Unavailable(why="Overloaded"), _chunks)

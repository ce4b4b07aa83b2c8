"""OpenAI's own client, spoken to by our codec over a real connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from openai import AsyncOpenAI

from clew.facts.exchange import Prompt, RateLimited, Reply
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.facts.usage import Usage
from clew.wire.gather import gather
from clew.wire.responses import RESPONSES
from clew.wire.sse import spell

TOOL = {"type": "function", "name": "ls", "parameters": {"type": "object", "properties": {}}, "strict": False}
ANSWER: list[Piece] = [
    Begun("resp_1", "some-model"),
    Beside("reasoning_content", "They want files."),
    Said("Let me "),
    Said("look."),
    Called(0, "call_a", "ls"),
    Argued(0, '{"path"'),
    Called(1, "call_b", "cat"),
    Argued(1, '{"file": "a"}'),
    Argued(0, ': "."}'),
    Counted(Usage(input=100, output=20, cache_read=900, reasoning=5)),
    Ended("tool_calls"),
]


def asking(pieces: list[Piece], use: Callable[[AsyncOpenAI], Awaitable[Any]]) -> tuple[Any, list[Prompt]]:
    """What `use` makes of a client whose server answers with these pieces, and what the server was asked."""
    asked: list[Prompt] = []

    async def run() -> Any:
        async with serving(pieces, asked) as client:
            return await use(client)

    return asyncio.run(run()), asked


@asynccontextmanager
async def serving(pieces: list[Piece], asked: list[Prompt]) -> AsyncIterator[AsyncOpenAI]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = int(head.split("content-length:")[1].split("\r\n")[0])
        asked.append(RESPONSES.decode(json.loads(await reader.readexactly(size))))
        kind, body = streamed(pieces, asked[-1]) if asked[-1].stream else whole(pieces)
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, AsyncOpenAI(api_key="none", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0) as client:
        yield client


def streamed(pieces: Iterable[Piece], prompt: Prompt) -> tuple[str, bytes]:
    writer = RESPONSES.writer(prompt)
    events = [event for piece in pieces for event in writer.feed(piece)] + writer.close()
    return "text/event-stream", b"".join(map(spell, events))


def whole(pieces: Iterable[Piece]) -> tuple[str, bytes]:
    reply = gather(pieces)
    assert isinstance(reply, Reply)
    return "application/json", json.dumps(RESPONSES.encode_reply(reply)).encode()


def summary_of(response: Any) -> dict[str, Any]:
    """What a client sees of a response."""
    return {
        "id": response.id,
        "status": response.status,
        "text": response.output_text,
        "thoughts": [part.text for item in response.output if item.type == "reasoning" for part in item.summary],
        "calls": [
            (item.call_id, item.name, item.arguments) for item in response.output if item.type == "function_call"
        ],
        "usage": response.usage.model_dump(),
    }


SEEN = {
    "id": "resp_1",
    "status": "completed",
    "text": "Let me look.",
    "thoughts": ["They want files."],
    "calls": [("call_a", "ls", '{"path": "."}'), ("call_b", "cat", '{"file": "a"}')],
    "usage": {
        "input_tokens": 1_000,
        "input_tokens_details": {
            "cached_tokens": 900,
            "cache_write_tokens": 0,
            "cache_write_tokens_details": None,
        },
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 1_020,
    },
}


def test_a_whole_reply() -> None:
    async def use(client: AsyncOpenAI) -> Any:
        return await client.responses.create(model="m", instructions="Be brief.", input="What is here?", tools=[TOOL])  # type: ignore[list-item]

    response, (prompt,) = asking(ANSWER, use)
    assert summary_of(response) == SEEN
    assert (prompt.system, prompt.messages[0].text, prompt.tools[0]["function"]["name"]) == (
        "Be brief.",
        "What is here?",
        "ls",
    )


def test_a_streamed_reply() -> None:
    async def use(client: AsyncOpenAI) -> Any:
        stream = await client.responses.create(model="m", input="What is here?", tools=[TOOL], stream=True)  # type: ignore[call-overload]
        return [event async for event in stream]

    events, _ = asking(ANSWER, use)
    assert events[0].type == "response.created"
    assert summary_of(events[-1].response) == SEEN


def test_a_streamed_reply_that_the_client_puts_together() -> None:
    async def use(client: AsyncOpenAI) -> Any:
        async with client.responses.stream(model="m", input="What is here?", tools=[TOOL]) as stream:  # type: ignore[list-item]
            snapshots = [event.snapshot async for event in stream if event.type == "response.output_text.delta"]
            return snapshots, await stream.get_final_response()

    (snapshots, response), _ = asking(ANSWER, use)
    assert snapshots == ["Let me ", "Let me look."]
    assert summary_of(response) == SEEN


def test_thinking_of_anthropic_and_a_custom_tool() -> None:
    pieces: list[Piece] = [
        Begun("msg_01", "claude-opus-5"),
        Part({"type": "thinking", "thinking": "", "signature": ""}),
        Grown("thinking", "A patch."),
        Grown("signature", "EqQB"),
        Called(0, "toolu_1", "patch", {"type": "custom"}),
        Argued(0, "*** Begin"),
        Ended("tool_calls"),
    ]

    async def use(client: AsyncOpenAI) -> Any:
        async with client.responses.stream(model="m", input="Patch it.") as stream:
            return await stream.get_final_response()

    response, _ = asking(pieces, use)
    assert [item.type for item in response.output] == ["reasoning", "custom_tool_call"]
    assert (response.output[0].summary[0].text, response.output[1].input) == ("A patch.", "*** Begin")


def test_the_clients_answer_to_a_call_comes_back_as_a_tools_message() -> None:
    async def use(client: AsyncOpenAI) -> Any:
        first = await client.responses.create(model="m", input="What is here?")
        given = [item.model_dump(exclude_none=True) for item in first.output]
        results = [
            {"type": "function_call_output", "call_id": call_id, "output": "a.py"} for call_id in ("call_a", "call_b")
        ]
        return await client.responses.create(model="m", input=[*given, *results])  # type: ignore[arg-type]

    _, (_, prompt) = asking(ANSWER, use)
    said, *answers = prompt.messages
    assert [call.id for call in said.calls] == ["call_a", "call_b"]
    assert [(answer.role, answer.call_id, answer.text) for answer in answers] == [
        ("tool", "call_a", "a.py"),
        ("tool", "call_b", "a.py"),
    ]


def test_a_failure_on_the_way_is_seen_as_one() -> None:
    pieces: list[Piece] = [Begun("resp_1"), Said("Hel"), Broken(RateLimited(why="Slow down."))]

    async def use(client: AsyncOpenAI) -> Any:
        stream = await client.responses.create(model="m", input="Hi", stream=True)
        return [event async for event in stream]

    events, _ = asking(pieces, use)
    assert (events[-1].type, events[-1].response.error.code) == ("response.failed", "rate_limit_exceeded")

"""A dialect of two words and what speaks it, so that tests of the way are not about the letters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any

from clew.facts.exchange import Prompt, Reply, Unavailable
from clew.facts.messages import message, read_message
from clew.facts.pieces import Broken, Ended, Piece, Said
from clew.runtime.endpoints import Endpoint, Secret
from clew.runtime.http import Pool
from clew.runtime.transport import Transport
from clew.wire.dialect import Dialect
from clew.wire.sse import Event
from tests.runtime.servers import Server, Visit

KEY = "sk-live-0123456789abcdefghij"
HELLO = Prompt("", (message("user", "hello"),), model="m")


class TinyReader:
    """`{"text": …}` says more, `{"end": true}` ends."""

    def __init__(self) -> None:
        self.ended = False

    def feed(self, event: Event) -> list[Piece]:
        told = json.loads(event.data)
        self.ended = self.ended or "end" in told
        if "error" in told:
            return [Broken(Unavailable(why=told["error"]))]
        return [Ended("stop")] if "end" in told else [Said(told["text"])]


def no_such(*_: Any) -> Any:
    raise NotImplementedError


def tiny() -> Dialect:
    return Dialect(
        name="tiny",
        path="/say",
        encode=lambda prompt: {"said": prompt.messages[-1].text, "stream": prompt.stream},
        decode=no_such,
        encode_reply=no_such,
        decode_reply=decode_reply,
        reader=TinyReader,
        writer=no_such,
        encode_failure=no_such,
    )


def decode_reply(body: Mapping[str, Any]) -> Reply:
    if "text" not in body:
        raise ValueError("the reply has no text")
    more = {"tiny": body["more"]} if "more" in body else {}
    return Reply(read_message({"role": "assistant", "content": body["text"], **more}))


def asynchronous(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """The test in an event loop of its own, which ends with nothing left over."""

    @wraps(test)
    def run(*args: Any, **named: Any) -> None:
        async def whole() -> None:
            async with asyncio.timeout(20):
                await test(*args, **named)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert not left, left

        asyncio.run(whole())

    return run


def transport(http: Pool | None = None, **named: Any) -> Transport:
    return Transport(http, dialects={"tiny": tiny()}, **named)


def at(server: Server, **named: Any) -> Endpoint:
    return Endpoint("here", **{"base_url": f"{server.url}/v1", "dialect": "tiny", "key": Secret(KEY), **named})


def event(**told: Any) -> bytes:
    return b"data: " + json.dumps(told, ensure_ascii=False).encode() + b"\n\n"


async def say_ok(visit: Visit) -> None:
    await visit.answer(200, {"text": "ok"})


async def stream_ok(visit: Visit) -> None:
    await visit.stream()
    await visit.chunk(event(text="Hel") + event(text="lo"))
    await visit.chunk(event(end=True))
    await visit.end()

"""What the transport costs: `python bench/transport.py`. CPU and wall time beside other clients, taken in one run.

A server in a process of its own answers on 127.0.0.1. Small: a request of 1 kB and its short reply, one after another
and 20 at once. Streams: 500 events, one each millisecond as a fast model speaks, and 1,000 as fast as they go. The last
row is the whole transport: encoding, connection, events, pieces, reply. Clients that are not installed are left out.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from clew.facts.exchange import Prompt, Reply
from clew.facts.messages import message
from clew.runtime.endpoints import Endpoint, Secret
from clew.runtime.http import Pool
from clew.runtime.transport import Transport

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 1_000}]}).encode()
HEADERS = {"authorization": "Bearer bench", "content-type": "application/json"}
Client = tuple[Callable[[str], Awaitable[int]], Callable[[], Awaitable[Any]]]
"""Sends one request to a path and reads all of the answer; closes."""


def main() -> int:
    if "--serve" in sys.argv:
        asyncio.run(serve())
        return 0
    server = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    assert server.stdout
    try:
        asyncio.run(measure(f"http://127.0.0.1:{server.stdout.readline().strip()}"))
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
    return 0


async def measure(url: str) -> None:
    clients: dict[str, Client] = {}
    for name, build in (("aiohttp", aiohttp), ("httpx2", httpx2), ("pyreqwest", pyreqwest)):
        try:
            clients[name] = build(importlib.import_module(name), url)
        except ImportError:
            print(f"{name} is not installed")
    clients |= {"clew's pool": pool(url), "clew's transport": transport(url)}
    costs = {name: [(float("inf"), float("inf"))] * len(LOADS) for name in clients}
    for _ in range(3):
        for name, (send, _close) in clients.items():
            await send("/small")
            for place, (_title, times, load) in enumerate(LOADS):
                cpu, wall = time.process_time(), time.perf_counter()
                await load(send)
                taken = (time.process_time() - cpu) / times * 1e3, (time.perf_counter() - wall) / times * 1e3
                costs[name][place] = min(costs[name][place], taken)
    for place, (title, _times, _load) in enumerate(LOADS):
        base = next(iter(costs.values()))[place][0]
        print(title)
        for name, row in costs.items():
            cpu, wall = row[place]
            print(f"  {name:18} CPU {cpu:8.3f} ms ({cpu / base:5.2f})   wall {wall:8.3f} ms")
    for _send, close in clients.values():
        await close()


async def one_by_one(send: Callable[[str], Awaitable[int]]) -> None:
    for _ in range(200):
        assert await send("/small")


async def together(send: Callable[[str], Awaitable[int]]) -> None:
    for _ in range(20):
        await asyncio.gather(*(send("/small") for _ in range(20)))


async def as_spoken(send: Callable[[str], Awaitable[int]]) -> None:
    assert await send("/spoken")


async def at_full_speed(send: Callable[[str], Awaitable[int]]) -> None:
    assert await send("/fast")


LOADS = [
    ("a small request, one after another", 200, one_by_one),
    ("a small request, 20 at once", 400, together),
    ("a stream of 500 events, one each millisecond", 1, as_spoken),
    ("a stream of 1,000 events at full speed", 1, at_full_speed),
]


def aiohttp(library: Any, url: str) -> Client:
    session = library.ClientSession()

    async def send(path: str) -> int:
        async with session.post(url + path, data=BODY, headers=HEADERS) as answer:
            return sum([len(chunk) async for chunk in answer.content.iter_any()])

    return send, session.close


def httpx2(library: Any, url: str) -> Client:
    session = library.AsyncClient()

    async def send(path: str) -> int:
        async with session.stream("POST", url + path, content=BODY, headers=HEADERS) as answer:
            return sum([len(chunk) async for chunk in answer.aiter_raw()])

    return send, session.aclose


def pyreqwest(_library: Any, url: str) -> Client:
    session = importlib.import_module("pyreqwest.client").ClientBuilder().build()

    async def send(path: str) -> int:
        read = 0
        request = session.post(url + path).headers(HEADERS).body_bytes(BODY).streamed_read_buffer_limit(0)
        async with request.build_streamed() as answer:
            while (chunk := await answer.body_reader.read_chunk()) is not None:
                read += len(chunk)
        return read

    return send, session.close


def pool(url: str) -> Client:
    made = Pool()

    async def send(path: str) -> int:
        answer, read = await made.post(url + path, HEADERS, BODY), 0
        while chunk := await answer.chunk():
            read += len(chunk)
        await answer.aclose()
        return read

    return send, made.aclose


def transport(url: str) -> Client:
    sending = Transport()
    prompt = Prompt("", (message("user", "x" * 1_000),), model="m")
    places = {
        path: Endpoint("bench", f"{url}{path}/chat/completions", key=Secret("bench"))
        for path in ("/small", "/spoken", "/fast")
    }

    async def send(path: str) -> int:
        reply = await sending.call(prompt, places[path])
        assert isinstance(reply, Reply), reply
        return len(reply.message.text)

    return send, sending.aclose


# the server


async def serve() -> None:
    listening = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


class Answering(asyncio.Protocol):
    """Just enough HTTP/1.1 to answer what this file sends."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.heard, self.streaming = transport, b"", set[asyncio.Task[None]]()

    def data_received(self, data: bytes) -> None:
        self.heard += data
        head, end, rest = self.heard.partition(b"\r\n\r\n")
        length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")), 0)
        if not end or len(rest) < length:
            return
        self.heard = b""
        path = head.split(b" ", 2)[1]
        if path.startswith(b"/small"):
            said = {
                "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]
            }
            body = json.dumps(said).encode()
            kind = b"content-type: application/json\r\ncontent-length: %d" % len(body)
            self.transport.write(b"HTTP/1.1 200 OK\r\n%s\r\n\r\n%s" % (kind, body))
        else:
            events, pause = (500, 0.001) if path.startswith(b"/spoken") else (1_000, 0.0)
            task = asyncio.ensure_future(self.stream(events, pause))
            self.streaming.add(task)
            task.add_done_callback(self.streaming.discard)

    async def stream(self, events: int, pause: float) -> None:
        self.transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for _ in range(events):
            self.event({"choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]})
            await asyncio.sleep(pause)
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.chunk(b"data: [DONE]\n\n")
        self.transport.write(b"0\r\n\r\n")

    def event(self, told: dict[str, Any]) -> None:
        self.chunk(b"data: " + json.dumps({"id": "c", "object": "chat.completion.chunk", **told}).encode() + b"\n\n")

    def chunk(self, said: bytes) -> None:
        self.transport.write(b"%x\r\n%s\r\n" % (len(said), said))


if __name__ == "__main__":
    sys.exit(main())

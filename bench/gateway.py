"""What the gateway costs: `python bench/gateway.py`. Beside a bare proxy on the same libraries, in one run, by turns.

A provider's stub, a proxy that only passes bytes on, and `clew serve` with everything recorded, each in a process of
its own on 127.0.0.1. Conversations grow as an agent's do: each request is the one before, the reply, something new.
1 KB: four turns of 0.6 to 2.9 KB, then a new conversation. 400 KB: a long one that goes on. Streams have 120 events.
At the end 200 clients ask for long streams and do not read them. Exit 1 when a line is not as wanted.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, cycle, islice
from typing import Any

import uvloop

RATE, LATENCY = 0.7, 1.5
"""Wanted: at least this share of the bare proxy's requests per second, at most so many times its median. The scribe
works beside the gateway: with fewer than three free cores it takes them from the load, the stub and the gateway."""
MOST_MEMORY = 300
"""Megabytes of resident memory with 200 clients that do not read."""
EVENTS = 120
ROUNDS = 5
LINES = [
    (kind, size, together, times)
    for kind, size, times in (("whole", 1, 400), ("whole", 400, 120), ("stream", 1, 160), ("stream", 400, 80))
    for together in (1, 8, 32)
]


def main() -> int:
    role = sys.argv[1] if len(sys.argv) > 1 else ""
    if role == "--stub":
        uvloop.run(stub())
    elif role == "--bare":
        bare(sys.argv[2])
    elif role == "--clew":
        clew(*sys.argv[2:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            return uvloop.run(measure(folder))
    return 0


async def measure(folder: str) -> int:
    running: list[subprocess.Popen[str]] = []
    failed = 0
    try:
        up = started(running, "--stub")
        places = {"bare": started(running, "--bare", up), "clew": started(running, "--clew", up, folder)}
        print(f"{'':25}{'bare':>24}{'clew serve':>26}{'scribe':>8}{'clew / bare':>14}")
        titles = "".join(f"{'/s':>9}{'p50 ms':>9}{'CPU ms':>8}" for _ in places)
        print(f"{'':10}{'size':>7}{'at once':>8}{titles}{'CPU ms':>8}{'rate':>7}{'p50':>7}")
        pids = {"bare": running[-2].pid, "clew": running[-1].pid}
        for kind, size, together, times in LINES:
            failed += await line(places, pids, kind, size, together, times)
        failed += await slow_readers(places["clew"], running[-1].pid)
    finally:
        for process in running:
            process.kill()
            process.wait()
            assert process.stdout
            process.stdout.close()
    return 1 if failed else 0


def started(running: list[subprocess.Popen[str]], *role: str) -> str:
    with open(os.devnull, "w") as nowhere:  # a line for each request; the gateway writes them all the same
        process = subprocess.Popen([sys.executable, __file__, *role], stdout=subprocess.PIPE, stderr=nowhere, text=True)
    running.append(process)
    assert process.stdout
    return f"http://127.0.0.1:{process.stdout.readline().strip()}"


async def line(places: dict[str, str], pids: dict[str, int], kind: str, size: int, together: int, times: int) -> bool:
    """One line of the table; whether it is not as wanted."""
    spent = {name: [0.0, 0.0] for name in places}
    rates: dict[str, list[float]] = {name: [] for name in places}
    waits: dict[str, list[float]] = {name: [] for name in places}
    talking = {name: [Talking(size, kind == "stream") for _ in range(together)] for name in places}
    lines = {name: [await connected(url) for _ in range(together)] for name, url in places.items()}
    for turn in range(ROUNDS + 1):
        for name in places if turn % 2 else reversed(places):
            left = iter(range(times // ROUNDS // (5 if turn == 0 else 1)))
            before, began = cpu(pids[name]), time.perf_counter()
            pairs = zip(lines[name], talking[name], strict=True)
            took = await asyncio.gather(*(worker(client, talk, left) for client, talk in pairs))
            heard = [seconds for seconds_of_one in took for seconds in seconds_of_one]
            if turn:  # the first round warms up
                rates[name].append(len(heard) / (time.perf_counter() - began))
                waits[name] += heard
                spent[name] = [sum(pair) for pair in zip(spent[name], minus(cpu(pids[name]), before), strict=True)]
    for client in (client for clients in lines.values() for client in clients):
        client.transport.close()
    rate = {name: statistics.median(found) for name, found in rates.items()}
    wait = {name: statistics.median(found) * 1e3 for name, found in waits.items()}
    share, longer = rate["clew"] / rate["bare"], wait["clew"] / wait["bare"]
    bad = share < RATE or longer > LATENCY
    each = {name: [seconds / len(waits[name]) * 1e3 for seconds in spent[name]] for name in places}
    numbers = "".join(f"{rate[name]:9,.0f}{wait[name]:9.2f}{each[name][0]:8.2f}" for name in places)
    told = f"{numbers}{each['clew'][1]:8.2f}{share:7.2f}{longer:7.2f}{'  <- not as wanted' if bad else ''}"
    print(f"{kind:10}{size:>4} KB{together:>8}{told}", flush=True)
    return bad


async def worker(client: Client, talk: Talking, left: Iterator[int]) -> list[float]:
    took = []
    for _ in left:
        body = talk.next()
        began = time.perf_counter()
        await client.ask(body)
        took.append(time.perf_counter() - began)
    return took


_NUMBERS = count()


@dataclass
class Talking:
    """A conversation that grows from request to request."""

    size: int
    streamed: bool
    said: bytearray = field(default_factory=bytearray)
    turns: int = 0

    def next(self) -> bytes:
        if not self.said or (self.size == 1 and self.turns % 4 == 0):
            self.said = bytearray(b",".join(spelled(message) for message in self.beginning()))
        else:
            self.said += b"," + spelled({"role": "assistant", "content": REPLY})
            self.said += b"," + spelled({"role": "user", "content": f"Go on with step {self.turns}. " + "x" * 80})
        self.turns += 1
        stream = b',"stream":true' if self.streamed else b""
        return b'{"messages":[%b],"model":"gpt-5"%b}' % (self.said, stream)

    def beginning(self) -> Iterator[dict[str, Any]]:
        yield {"role": "user", "content": f"Conversation {next(_NUMBERS)}. " + "Port the parser to Rust. " * 20}
        for step in range(self.size * 1_000 // 2_100):
            call = {"name": "read", "arguments": json.dumps({"path": f"src/part{step}.py"})}
            yield {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{step}", "type": "function", "function": call}],
            }
            yield {"role": "tool", "tool_call_id": f"c{step}", "content": 'def f(x):\n    return "y"\n' * 65}


def spelled(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


class Client(asyncio.Protocol):
    """Just enough of an HTTP client: it sends a body and knows when the answer has ended."""

    def connection_made(self, transport: Any) -> None:
        self.transport, self.heard, self.done = transport, bytearray(), None

    def ask(self, body: bytes) -> asyncio.Future[None]:
        self.heard.clear()
        self.done = asyncio.get_running_loop().create_future()
        self.transport.write(HEAD % len(body) + body)
        return self.done

    def data_received(self, data: bytes) -> None:
        self.heard += data
        head = self.heard.find(b"\r\n\r\n")
        if head < 0 or self.done is None or self.done.done():
            return
        sized = self.heard.find(b"content-length: ", 0, head)
        if sized < 0:
            whole = self.heard.endswith(b"0\r\n\r\n")
        else:
            whole = len(self.heard) >= head + 4 + int(self.heard[sized + 16 : self.heard.index(b"\r\n", sized)])
        if whole:
            assert self.heard.startswith(b"HTTP/1.1 200"), bytes(self.heard[:300])
            self.done.set_result(None)


HEAD = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer bench\r\nuser-agent: bench\r\n"
    b"accept: application/json\r\nx-stainless-lang: python\r\nx-stainless-runtime: CPython\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n"
)


async def connected(url: str) -> Client:
    host, _, port = url.removeprefix("http://").partition(":")
    _, client = await asyncio.get_running_loop().create_connection(Client, host, int(port))
    return client


async def slow_readers(url: str, process: int) -> bool:
    """200 clients ask for ten megabytes each and do not read; whether that takes too much memory."""
    before = resident(process)
    host, _, port = url.removeprefix("http://").partition(":")
    body = json.dumps({"model": "gpt-5", "stream": True, "messages": [{"role": "user", "content": "big"}]}).encode()
    open_ = []
    for _ in range(200):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 * 1024)
        sock.connect((host, int(port)))
        sock.sendall(HEAD % len(body) + body)
        open_.append(sock)
    await asyncio.sleep(4)
    during = resident(process)
    for sock in open_:
        sock.close()
    bad = during > MOST_MEMORY
    told = f"200 clients that do not read: {before} MB before, {during} MB then"
    print(told + (f"  <- more than {MOST_MEMORY}" if bad else ""))
    return bad


def cpu(process: int) -> list[float]:
    """Seconds that a process has had of the processors, and those of its children."""
    with open(f"/proc/{process}/task/{process}/children") as file:
        children = [int(child) for child in file.read().split()]
    return [seconds_of(process), sum(map(seconds_of, children))]


def seconds_of(process: int) -> float:
    with open(f"/proc/{process}/stat") as file:
        used = file.read().rpartition(")")[2].split()
    return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


def minus(now: list[float], before: list[float]) -> list[float]:
    return [after - first for after, first in zip(now, before, strict=True)]


def resident(process: int) -> int:
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1_000_000


# The provider's stub

WORDS = [f"{word} " for word in ("The parser has one rule more.".split() * EVENTS)[: EVENTS - 1]] + ["Done."]
REPLY = "".join(WORDS)


async def stub() -> None:
    listening = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


class Answering(asyncio.Protocol):
    """Just enough HTTP/1.1 to answer what comes."""

    def connection_made(self, transport: Any) -> None:
        self.transport, self.heard, self.needed, self.open = transport, bytearray(), 0, asyncio.Event()
        self.open.set()

    def pause_writing(self) -> None:
        self.open.clear()

    def resume_writing(self) -> None:
        self.open.set()

    def connection_lost(self, _: Exception | None) -> None:
        self.open.set()

    def data_received(self, data: bytes) -> None:
        self.heard += data
        if not self.needed:
            head = self.heard.find(b"\r\n\r\n")
            sized = self.heard.lower().find(b"content-length: ", 0, head)
            self.needed = head + 4 + int(self.heard[sized + 16 : self.heard.index(b"\r\n", sized)])
        if len(self.heard) < self.needed:
            return
        asked, self.heard, self.needed = bytes(self.heard), bytearray(), 0
        if b'"stream":' in asked:
            times = 10_000_000 // 250 if b'"content": "big"' in asked else 1
            self.task = asyncio.ensure_future(self.stream(times, b"include_usage" in asked))
            return
        body = spelled(
            {
                "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5",
                "choices": [
                    {"index": 0, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}
                ],
                "usage": USED,
            }
        )  # fmt: skip
        head = b"content-type: application/json\r\ncontent-length: %d" % len(body)
        self.transport.write(b"HTTP/1.1 200 OK\r\n%b\r\n\r\n%b" % (head, body))

    async def stream(self, times: int, usage: bool) -> None:
        kind = b"content-type: text/event-stream\r\ntransfer-encoding: chunked"
        self.transport.write(b"HTTP/1.1 200 OK\r\n" + kind + b"\r\n\r\n")
        more = {"usage": None} if usage else {}
        for word in islice(cycle(WORDS), max(EVENTS, times)):
            self.event([{"index": 0, "delta": {"content": word}, "finish_reason": None}], more)
            await asyncio.sleep(0)
            await self.open.wait()
            if self.transport.is_closing():
                return
        self.event([{"index": 0, "delta": {}, "finish_reason": "stop"}], more)
        if usage:
            self.event([], {"usage": USED})
        self.chunk(b"data: [DONE]\n\n")
        self.transport.write(b"0\r\n\r\n")

    def event(self, choices: list[Any], more: dict[str, Any]) -> None:
        told = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5", "choices": choices}
        self.chunk(b"data: " + spelled({**told, **more}) + b"\n\n")

    def chunk(self, said: bytes) -> None:
        self.transport.write(b"%x\r\n%b\r\n" % (len(said), said))


USED = {"prompt_tokens": 900, "completion_tokens": 120, "total_tokens": 1_020}


# The two that are compared


def bare(up: str) -> None:
    """The least that a proxy on these libraries does: nothing is read, nothing is kept."""
    import aiohttp
    import uvicorn

    not_up = (b"host", b"content-length", b"connection", b"accept-encoding", b"transfer-encoding")
    not_down = (b"transfer-encoding", b"connection")
    session: aiohttp.ClientSession | None = None

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal session
        session = session or aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), auto_decompress=False)
        parts = []
        while True:
            message = await receive()
            parts.append(message["body"])
            if not message["more_body"]:
                break
        headers = [(name.decode(), value.decode()) for name, value in scope["headers"] if name not in not_up]
        async with session.post(up + scope["path"], data=b"".join(parts), headers=headers) as answer:
            down = [(name, value) for name, value in answer.raw_headers if name.lower() not in not_down]
            await send({"type": "http.response.start", "status": answer.status, "headers": down})
            while chunk := await answer.content.readany():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, loop="uvloop", http="httptools", lifespan="off", log_config=None, access_log=False)
    uvicorn.Server(config).run(sockets=[listening])


def clew(up: str, folder: str) -> None:
    from clew.gateway.app import Gateway
    from clew.gateway.keys import Keyring
    from clew.gateway.rules import rules_of
    from clew.gateway.serving import listen, serve
    from clew.runtime.settings import Settings
    from clew.store.address import open_store

    rules = rules_of(Settings({}), Keyring(), upstream=up)
    with open_store(f"{folder}/store.db") as store:
        listening = listen("127.0.0.1", 0)
        print(listening.getsockname()[1], flush=True)
        serve(Gateway(rules, store, f"{folder}/store.db"), listening, drain=5, reread=lambda: rules)


if __name__ == "__main__":
    sys.exit(main())

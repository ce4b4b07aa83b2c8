"""Servers on this machine that answer as a script says, also wrongly, and a proxy in front of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Visit:
    """One request, and the ways to answer it."""

    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    """Which of the server's connections it came on, counted from 1."""
    number: int
    """Which of the connection's requests it is, counted from 1."""
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    keeps: bool = field(default=True, init=False)

    @property
    def asked(self) -> Any:
        return json.loads(self.body)

    async def answer(self, status: int, body: bytes | dict[str, Any], **headers: str) -> None:
        """A whole answer; header names are written with `_`."""
        said = json.dumps(body).encode() if isinstance(body, dict) else body
        kind = "application/json" if isinstance(body, dict) else "text/plain"
        named = {"content_type": kind, "content_length": str(len(said)), **headers}
        await self.head(status, **named)
        await self.write(said)

    async def head(self, status: int = 200, **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items())]
        await self.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def stream(self) -> None:
        """The head of a stream of events."""
        await self.head(content_type="text/event-stream", transfer_encoding="chunked")

    async def chunk(self, said: bytes) -> None:
        await self.write(b"%x\r\n%s\r\n" % (len(said), said))

    async def end(self) -> None:
        await self.write(b"0\r\n\r\n")

    async def write(self, said: bytes) -> None:
        self.writer.write(said)
        await self.writer.drain()

    def reset(self) -> None:
        """The connection is torn down, as by a crash."""
        self.keeps = False
        self.writer.transport.abort()

    def hang_up(self) -> None:
        self.keeps = False

    async def gone(self) -> None:
        """Waits until the client has left."""
        self.keeps = False
        with suppress(ConnectionError):
            while await self.reader.read(1024):
                pass


Script = Callable[[Visit], Awaitable[None]]


@dataclass
class Server:
    """A running server."""

    url: str
    visits: list[Visit] = field(default_factory=list)
    connections: int = 0


@asynccontextmanager
async def serving(script: Script, *, port: int = 0) -> AsyncIterator[Server]:
    """A server that answers each request by the script, as long as the block runs."""
    server = Server("")

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        number, keeps = server.connections, True
        try:
            while keeps:
                visit = await _visit(reader, writer, number, sum(v.connection == number for v in server.visits) + 1)
                server.visits.append(visit)
                await script(visit)
                keeps = visit.keeps
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client is gone
        finally:
            await _closed(writer)

    async with _listening(connection, port) as taken:
        server.url = f"http://127.0.0.1:{taken}"
        yield server


@asynccontextmanager
async def proxying() -> AsyncIterator[Server]:
    """A proxy that forwards to servers on this machine; `visits` are what it was asked for, CONNECT included."""
    proxy = Server("")

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        proxy.connections += 1
        opened = [writer]
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            method, target = head.split(b" ", 2)[:2]
            proxy.visits.append(Visit(target.decode(), _headers(head), b"", proxy.connections, 1, reader, writer))
            place = target.removeprefix(b"http://").split(b"/")[0].decode()
            there, back = await asyncio.open_connection("127.0.0.1", int(place.rpartition(":")[2]))
            opened.append(back)
            if method == b"CONNECT":
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            else:
                back.write(head)
            await asyncio.gather(_pump(reader, back), _pump(there, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            await _closed(*opened)

    async with _listening(connection) as port:
        proxy.url = f"http://127.0.0.1:{port}"
        yield proxy


@asynccontextmanager
async def _listening(
    connection: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]], port: int = 0
) -> AsyncIterator[int]:
    tasks: list[asyncio.Task[None]] = []

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.get_running_loop().create_task(connection(reader, writer)))

    listening = await asyncio.start_server(begin, "127.0.0.1", port)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)
    wrong = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    if wrong:
        raise wrong[0]  # a script that failed must not look like a fault that was scripted


async def _visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int, number: int) -> Visit:
    head = await reader.readuntil(b"\r\n\r\n")
    headers = _headers(head)
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Visit(head.split(b" ")[1].decode(), headers, body, connection, number, reader, writer)


def _headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:-2]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


async def _closed(*ends: asyncio.StreamWriter) -> None:
    for end in ends:
        end.close()
    for end in ends:
        with suppress(ConnectionError):
            await end.wait_closed()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while said := await reader.read(65536):
            writer.write(said)
            await writer.drain()
    writer.close()

"""Where does the simulator live? In a thread of its own, on a free port of 127.0.0.1.

HTTP/1.1 is uvicorn's, run on a loop of ours: what it leaves out, the socket under a request, is what faults need.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from uvicorn.config import Config
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.server import ServerState

from clew.testing.simulator.answers import Answer, Cut, Step, Wait

Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]

KEPT_ALIVE = 75
"""Seconds an idle connection stays open."""
ARRIVING = 0.02
"""Seconds for what was sent to reach the client: a reset overtakes what is still on its way."""
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER, on, for 0 seconds: a socket so closed sends RST and drops what was not yet sent."""


@dataclass(frozen=True, slots=True)
class Request:
    """What came in."""

    method: str
    path: str
    headers: dict[str, str]
    """By their names in small letters."""
    body: bytes


Reply: TypeAlias = Callable[[Request], Answer]


class Server:
    """Answers requests until it is closed; leaves no thread, task or connection behind."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name=f"simulator at {self.url}", daemon=True)
        self._thread.start()
        self._started.result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._listening.close()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
                runner.run(self._serve())
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        config = Config(
            self._app, lifespan="off", ws="none", log_config=None, interface="asgi3", timeout_keep_alive=KEPT_ALIVE
        )
        config.load()
        state = ServerState()
        server = await self._loop.create_server(
            lambda: _Reachable(config=config, server_state=state, app_state={}), sock=self._listening
        )
        self._started.set_result(None)
        await self._stop.wait()
        server.close()
        while state.connections:  # each leaves the set in a later round of the loop
            for connection in tuple(state.connections):
                connection.transport.abort()
            await asyncio.sleep(0)
        for task in tuple(state.tasks):
            task.cancel()
        await asyncio.gather(*state.tasks)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        with suppress(asyncio.CancelledError):  # the server is being closed
            body = await _body(receive)
            if body is not None:
                headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
                answer = self._reply(Request(scope["method"], scope["path"], headers, body))
                await _Line(receive, send, scope["state"]["transport"]).say(answer)


class _Reachable(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol, with the transport handed to the application."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.app_state = {"transport": transport}
        super().connection_made(transport)


async def _body(receive: Receive) -> bytes | None:
    """All of the request's body; None when its sender has gone."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


@dataclass(frozen=True, slots=True)
class _Line:
    """The way back to whoever asked."""

    receive: Receive
    send: Send
    transport: asyncio.Transport

    async def say(self, answer: Answer) -> None:
        for step in answer.before:
            if not await self._take(step):
                return
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in _headers(answer).items()]
        await self.send({"type": "http.response.start", "status": answer.status, "headers": headers})
        for step in answer.steps:
            if not await self._take(step):
                return
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _take(self, step: Step) -> bool:
        """Do one step; whether the connection is still there afterwards."""
        match step:
            case Wait(seconds):
                await asyncio.sleep(seconds)
            case Cut(reset):
                await self._cut(reset)
            case _:
                await self.send({"type": "http.response.body", "body": step, "more_body": True})
        return not self.transport.is_closing()

    async def _cut(self, reset: bool) -> None:
        if reset:
            await asyncio.sleep(ARRIVING)
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.transport.abort()
        else:
            self.transport.close()
        while (await self.receive())["type"] != "http.disconnect":
            pass


def _headers(answer: Answer) -> dict[str, str]:
    """A body that comes in chunks has no length, any other says how long it would have been."""
    if answer.streamed:
        return dict(answer.headers)
    length = sum(len(step) for step in answer.steps if isinstance(step, bytes))
    return {**answer.headers, "content-length": str(length)}


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop

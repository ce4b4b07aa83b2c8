"""A gateway that runs, and what tests want to know of it."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvicorn
import uvloop

from clew.gateway.app import Gateway
from clew.gateway.keys import Key, Keyring
from clew.gateway.rules import Rules, rules_of
from clew.gateway.serving import config_of, listen
from clew.gateway.silence import Patience
from clew.runtime.settings import Settings
from clew.store.address import open_store
from clew.store.store import Store


@dataclass
class Running:
    """A gateway in a thread of its own."""

    gateway: Gateway
    url: str
    log: list[dict[str, Any]]
    server: uvicorn.Server
    loop: asyncio.AbstractEventLoop | None = None

    @property
    def store(self) -> Store:
        return self.gateway.store

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").partition(":")
        return host, int(port)

    def lead(self, upstream: str, *keys: Key, patience: Patience | None = None, **named: Any) -> None:
        """Requests go there from now on, with these keys and no others."""
        environment = {"OPENAI_API_KEY": "sk-of-the-house", "ANTHROPIC_API_KEY": "sk-ant-of-the-house"}
        rules = rules_of(Settings({}), Keyring(keys), upstream=upstream, environment=environment)
        self.gateway.rules = replace(rules, patience=patience or Patience(), **named)

    def settle(self) -> None:
        """All that has passed is on the disk."""
        assert self.loop
        asyncio.run_coroutine_threadsafe(self.gateway.settle(), self.loop).result(20)

    def said(self, conversation: str) -> list[tuple[str, Any]]:
        """What was written of a conversation."""
        self.settle()
        tip = self.store.get_compression_tip(conversation)
        return [(stored.role, stored.message.get("content")) for stored in self.store.messages(tip)]


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    url = f"sqlite:///{folder}/store.db"
    log: list[dict[str, Any]] = []
    rules: Rules = rules_of(Settings({}), Keyring(), upstream="http://127.0.0.1:9", environment={})
    with open_store(url) as store, listen("127.0.0.1", 0) as listening:
        gateway = Gateway(rules, store, url, log=lambda event, **fields: log.append({"event": event, **fields}))
        server = uvicorn.Server(config_of(gateway, drain=5))
        place = f"http://127.0.0.1:{listening.getsockname()[1]}"
        one = Running(gateway, place, log, server)

        def run() -> None:
            async def serve() -> None:
                one.loop = asyncio.get_running_loop()
                await server.serve(sockets=[listening])

            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(serve())

        thread = threading.Thread(target=run)
        thread.start()
        wait_for(lambda: server.started)
        try:
            yield one
        finally:
            server.should_exit = True
            thread.join()


def wait_for(what: Callable[[], Any], seconds: float = 6.0) -> Any:
    """What it comes to, once it is something."""
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.005)
    return found


def raw(address: tuple[str, int], *parts: bytes) -> bytes:
    """All that a server says to these bytes, until it hangs up."""
    heard = b""
    with socket.create_connection(address, timeout=20) as line:
        for part in parts:
            line.sendall(part)
        try:
            while data := line.recv(65536):
                heard += data
        except ConnectionResetError:
            pass
    return heard

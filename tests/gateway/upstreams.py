"""Providers that do exactly what a test says, down to the bytes."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

LINES: list[tuple[str, dict[str, str], bytes]] = []
"""What scripted providers were asked: the request's line, its headers, its body."""


@contextmanager
def scripted(reply: Callable[[bytes], tuple[int, bytes]], extra: bytes = b"") -> Iterator[str]:
    """A provider that answers each body as the script says."""

    def talk(line: socket.socket) -> None:
        with line, suppress(OSError):
            while asked := _request(line):
                status, said = reply(asked[2])
                LINES.append(asked)
                head = b"HTTP/1.1 %d Told\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%b\r\n"
                body = b"" if asked[0].startswith("HEAD") else said
                line.sendall(head % (status, len(said), extra) + body)

    with _listening(talk) as port:
        yield f"http://127.0.0.1:{port}"


@dataclass
class Waiting:
    """A provider that never comes to an end."""

    port: int = 0
    asked: bool = False
    left: bool = False


@contextmanager
def waiting_server(*, speaks: bool, streams: bool) -> Iterator[Waiting]:
    """It says nothing, or begins and says no more; and notes when the other side has left."""
    server = Waiting()

    def talk(line: socket.socket) -> None:
        with line, suppress(OSError):
            _request(line)
            server.asked = True
            if speaks:
                kind = b"text/event-stream" if streams else b"application/json"
                line.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ntransfer-encoding: chunked\r\n\r\n" % kind)
                line.sendall(b'18\r\ndata: {"choices": [] }\n\n\r\n')
            with suppress(OSError):
                while line.recv(1024):
                    pass
            server.left = True

    with _listening(talk) as server.port:
        yield server


@contextmanager
def stuttering(parts: list[bytes], pause: float) -> Iterator[str]:
    """A provider of a stream that is silent for a while before each part of it, wherever that is cut."""

    def talk(line: socket.socket) -> None:
        with line, suppress(OSError):
            _request(line)
            line.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            for part in parts:
                time.sleep(pause)
                line.sendall(b"%x\r\n%b\r\n" % (len(part), part))
            line.sendall(b"0\r\n\r\n")

    with _listening(talk) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _listening(talk: Callable[[socket.socket], None]) -> Iterator[int]:
    listening = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []
    lines: list[socket.socket] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                line, _ = listening.accept()
                lines.append(line)
                threads.append(threading.Thread(target=talk, args=(line,)))
                threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield listening.getsockname()[1]
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        accepting.join()
        for line in lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()


def _request(line: socket.socket) -> tuple[str, dict[str, str], bytes] | None:
    heard = b""
    while b"\r\n\r\n" not in heard:
        data = line.recv(65536)
        if not data:
            return None
        heard += data
    head, _, body = heard.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
    while len(body) < int(headers.get("content-length", "0")):
        body += line.recv(65536)
    return first, headers, body

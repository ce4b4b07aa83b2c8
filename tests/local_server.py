"""A server on this machine that answers every path with what it was given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@contextmanager
def serving(answers: Mapping[str, Any]) -> Iterator[str]:
    """The address of a server. `POST /path` is answered to a POST, the rest to a GET; a function gets the body."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(answers.get(self.path))

        def do_POST(self) -> None:
            said = self.rfile.read(int(self.headers["content-length"]))
            told = answers.get(f"POST {self.path}")
            self.answer(told(json.loads(said)) if callable(told) else told)

        def answer(self, told: Any) -> None:
            body = told if isinstance(told, bytes) else json.dumps(told or {"error": "not found"}).encode()
            self.send_response(404 if told is None else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *told: Any) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()

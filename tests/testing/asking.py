"""Asking a simulated provider over plain HTTP, as bytes, without an SDK between."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from clew.facts.exchange import Failure, Prompt, Reply
from clew.facts.messages import message
from clew.testing.simulator import ProviderSimulator
from clew.wire.dialects import DIALECTS
from clew.wire.gather import gather
from clew.wire.sse import Event, EventReader

NAMES = tuple(DIALECTS)


@dataclass(frozen=True)
class Got:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Event]:
        reader = EventReader()
        return [*reader.feed(self.body), *reader.close()]


def post(sim: ProviderSimulator, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Got:
    """One request on a connection of its own."""
    with closing(http.client.HTTPConnection(sim.url.removeprefix("http://"), timeout=20)) as line:
        spelled = body if isinstance(body, bytes) else json.dumps(body).encode()
        line.request("POST", path, spelled, {"content-type": "application/json", **(headers or {})})
        response = line.getresponse()
        return Got(response.status, dict(response.headers), response.read())


def get(sim: ProviderSimulator, path: str, headers: Mapping[str, str] | None = None) -> Got:
    with closing(http.client.HTTPConnection(sim.url.removeprefix("http://"), timeout=20)) as line:
        line.request("GET", path, headers=dict(headers or {}))
        response = line.getresponse()
        return Got(response.status, dict(response.headers), response.read())


def asking(text: str = "Hi", **fields: Any) -> Prompt:
    """A prompt that says one thing."""
    given: dict[str, Any] = {"model": "some-model", "max_output": 500, **fields}
    return Prompt(given.pop("system", ""), given.pop("messages", (message("user", text),)), **given)


def ask(sim: ProviderSimulator, prompt: Prompt, dialect: str = "chat", headers: Mapping[str, str] | None = None) -> Got:
    spoken = DIALECTS[dialect]
    return post(sim, "/v1" + spoken.path, spoken.encode(prompt), headers)


def reply_in(got: Got, dialect: str = "chat") -> Reply | Failure:
    """The reply that a response holds, whole or streamed."""
    assert got.status == 200, got.body
    if not got.headers["content-type"].startswith("text/event-stream"):
        return DIALECTS[dialect].decode_reply(got.json)
    reader = DIALECTS[dialect].reader()
    return gather(piece for event in got.events for piece in reader.feed(event))

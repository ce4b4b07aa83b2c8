"""A prompt goes to a provider and its reply comes back: one exchange over the network, failures as data."""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeAlias

import orjson

from clew.core.effects import CallModel, Effect, Sleep
from clew.facts.exchange import Failure, Prompt, Reply, Unavailable
from clew.facts.pieces import Broken, Piece
from clew.runtime.answers import MOST_BYTES, Terms, read
from clew.runtime.deadline import Deadline, Late
from clew.runtime.endpoints import BadEndpoint, Endpoint, cleared, headers_of, url_of
from clew.runtime.http import Answer, CutOff, Http, Pool, Unreached
from clew.wire.dialect import Dialect
from clew.wire.dialects import DIALECTS
from clew.wire.gather import gather
from clew.wire.scatter import scatter

PAUSES = (0.25, 0.5)
"""Seconds, at most, before the first and the second new connection; there is no third."""
STALE_WITHIN = 1.0
"""Seconds. A pooled connection that the server has closed says so within a round trip; what ends later was at work."""

OnPiece: TypeAlias = Callable[[Piece], Awaitable[None] | None]


class Transport:
    """Sends prompts over one pool of connections, from any number of tasks, and from one event loop after another.

    It tries again only what no server has seen. Waiting for a busy one is for the core, or for `call_patiently`.
    """

    def __init__(
        self,
        http: Http | None = None,
        *,
        dialects: Mapping[str, Dialect] = DIALECTS,
        most_bytes: int = MOST_BYTES,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._http = http or Pool()
        self._dialects = dialects
        self._most_bytes = most_bytes
        self._clock = clock
        self._chance = chance
        self._met: set[str] = set()  # hosts of which the pool may hold a connection, and so a stale one

    async def call(
        self,
        prompt: Prompt,
        endpoint: Endpoint,
        *,
        deadline: float | None = None,
        on_piece: OnPiece | None = None,
        weight: int | None = None,
        window: int | None = None,
    ) -> Reply | Failure:
        """The reply, or what came in its way; `deadline` is a time of the clock. The `weight` that the prompt is
        thought to have in its `window` explains a refusal that has no words.

        With `on_piece` the reply is streamed and each piece goes there as it arrives. A stream that breaks off ends in
        a `Broken` piece and is not begun again: only whoever has seen the pieces knows what to do with them.
        """
        pieces: list[Piece] = []
        asked = replace(prompt, stream=True) if on_piece else prompt
        async with aclosing(self._arriving(asked, endpoint, deadline, weight, window)) as arriving:
            async for came in arriving:
                for piece in scatter(came) if isinstance(came, Reply) else (came,):
                    pieces.append(piece)
                    if on_piece and (done := on_piece(piece)) is not None:
                        await done
        return came if isinstance(came, Reply) else gather(pieces)

    async def stream(
        self, prompt: Prompt, endpoint: Endpoint, *, deadline: float | None = None
    ) -> AsyncGenerator[Piece, None]:
        """The reply piece by piece; a failure is the last piece, `Broken`. Whoever stops early closes it, as with
        `contextlib.aclosing`, and with it the connection."""
        async with aclosing(self._arriving(replace(prompt, stream=True), endpoint, deadline)) as arriving:
            async for came in arriving:
                for piece in scatter(came) if isinstance(came, Reply) else (came,):
                    yield piece

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Transport:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _arriving(
        self,
        prompt: Prompt,
        endpoint: Endpoint,
        deadline: float | None,
        weight: int | None = None,
        window: int | None = None,
    ) -> AsyncGenerator[Piece | Reply, None]:
        """A whole reply, or pieces of which the last may be `Broken`; never nothing, and no credentials."""
        dialect = self._dialect_of(endpoint)
        until = self._deadline_of(endpoint, deadline)
        try:
            answer = await self._sent(endpoint, url_of(endpoint, dialect.path), _spelled(dialect.encode(prompt)), until)
        except (Unreached, CutOff, Late) as error:
            yield Broken(cleared(Unavailable(why=f"{endpoint.host}: {error}"), endpoint))
            return
        patience = endpoint.patience.idle
        terms = Terms(dialect, endpoint.provider, prompt.stream, patience, until, self._most_bytes, weight, window)
        try:
            async with aclosing(read(answer, terms)) as arriving:
                async for came in arriving:
                    yield Broken(cleared(came.failure, endpoint)) if isinstance(came, Broken) else came
        finally:
            await answer.aclose()

    async def _sent(self, endpoint: Endpoint, url: str, body: bytes, until: Deadline) -> Answer:
        """The server's answer, of which the head is here. What no server has seen goes again over a new connection."""
        headers, patience = headers_of(endpoint), endpoint.patience.first_byte
        for pause in (*PAUSES, None):
            began = self._clock()
            try:
                answer = await until.within(patience, lambda: self._http.post(url, headers, body), "no answer")
            except (Unreached, CutOff) as error:
                unseen = isinstance(error, Unreached) or self._was_stale(endpoint, began)
                if pause is None or not unseen or (wait := self._chance() * pause) >= until.left:
                    raise
                await asyncio.sleep(wait)
            else:
                self._met.add(endpoint.host)
                return answer
        raise AssertionError("the last attempt answers or raises")

    def _was_stale(self, endpoint: Endpoint, began: float) -> bool:
        return endpoint.host in self._met and self._clock() - began < STALE_WITHIN

    def _dialect_of(self, endpoint: Endpoint) -> Dialect:
        if endpoint.dialect not in self._dialects:
            known = ", ".join(sorted(self._dialects))
            raise BadEndpoint(f"endpoint {endpoint.name}: no dialect is called {endpoint.dialect!r}; there are {known}")
        return self._dialects[endpoint.dialect]

    def _deadline_of(self, endpoint: Endpoint, deadline: float | None) -> Deadline:
        total = endpoint.patience.total
        own = math.inf if total is None else self._clock() + total
        return Deadline(min(own, math.inf if deadline is None else deadline), self._clock)


def hands(
    transport: Transport,
    endpoint: Endpoint,
    *,
    deadline: float | None = None,
    on_piece: OnPiece | None = None,
    marked: Callable[[Prompt], Prompt] = lambda prompt: prompt,
) -> dict[type[Effect[Any]], Callable[[Any], Any]]:
    """What `adrive` needs to talk to a model; `drive` takes it as well. `marked` sets cache points, where they pay."""
    return {
        CallModel: lambda wish: transport.call(
            marked(wish.prompt), endpoint, deadline=deadline, on_piece=on_piece, weight=wish.weight, window=wish.window
        ),
        Sleep: lambda wish: asyncio.sleep(wish.seconds),
    }


def _spelled(body: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:  # half of a surrogate pair, or a number of more than 64 bits: Python's own writes both
        return json.dumps(body).encode()

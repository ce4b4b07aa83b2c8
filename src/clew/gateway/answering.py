"""How is a client answered in its dialect by someone other than its provider? For what is managed on its behalf."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import orjson

from clew.facts.exchange import Failure, Reply
from clew.facts.pieces import Broken, Counted, Piece
from clew.facts.usage import Usage
from clew.gateway.asked import Asked
from clew.gateway.down import Down
from clew.gateway.known import Known
from clew.gateway.passing import Going, Passed, pass_on
from clew.gateway.silence import Patience
from clew.gateway.tap import Tap
from clew.gateway.upstream import Upstream
from clew.wire.scatter import scatter
from clew.wire.sse import spell


@dataclass(frozen=True, slots=True)
class Answering:
    """The ways to answer one request. Exactly one of them is used, once."""

    asked: Asked
    down: Down
    tap: Tap
    """What is said to the client, as it is recorded."""
    going: Going
    upstream: Upstream
    patience: Patience

    async def relay(self, body: bytes) -> Passed:
        """Let the provider answer, to another body than the client's."""
        return await pass_on(
            replace(self.going, body=body, original=None), self.upstream, self.down, self.tap, self.patience
        )

    async def reply(self, reply: Reply) -> Passed:
        """A whole reply: as it is, or as the stream that the client asked for."""
        if self.asked.streamed:
            return await self.pieces(_each(reply))
        return await self._whole(200, orjson.dumps(self.asked.dialect.encode_reply(reply)), reply.usage)

    async def failure(self, failure: Failure) -> Passed:
        """A failure as the provider would tell it."""
        status, body = self.asked.dialect.encode_failure(failure)
        return await self._whole(status, orjson.dumps(body))

    async def pieces(self, pieces: AsyncIterator[Piece]) -> Passed:
        """A stream, piece by piece. `Broken` as the first piece is a failure with its status; later it breaks the
        stream off."""
        writer = self.asked.dialect.writer(self.asked.prompt)
        used: Usage | None = None  # a client of chat that did not ask for it is not told
        async for piece in pieces:
            used = piece.usage if isinstance(piece, Counted) else used
            if isinstance(piece, Broken) and not self.down.status:
                return await self.failure(piece.failure)
            if not self.down.status:
                kind = (b"content-type", b"text/event-stream; charset=utf-8")
                quiet = [(b"cache-control", b"no-cache, no-transform"), (b"x-accel-buffering", b"no")]
                await self.down.start(200, [kind, *quiet, *self.down.headers])
            await self._say(b"".join(map(spell, writer.feed(piece))))
            if isinstance(piece, Broken):
                await self.down.cut()
                return Passed(200, "text/event-stream", ended="broken", usage=used)
        await self._say(b"".join(map(spell, writer.close())))
        await self.down.end()
        return Passed(200, "text/event-stream", usage=used)

    async def _whole(self, status: int, body: bytes, used: Usage | None = None) -> Passed:
        size = (b"content-length", str(len(body)).encode())
        await self.down.start(status, [(b"content-type", b"application/json"), size, *self.down.headers])
        self.tap.take(body)
        await self.down.end(body)
        return Passed(status, "application/json", usage=used)

    async def _say(self, data: bytes) -> None:
        if data:
            self.tap.take(data)
            await self.down.chunk(data)


async def _each(reply: Reply) -> AsyncIterator[Piece]:
    for piece in scatter(reply):
        yield piece


Managed: TypeAlias = Callable[[Answering], Awaitable[Passed]]
"""Answers one request, and says what came of it."""
Manager: TypeAlias = Callable[[Asked, Known], Awaitable[Managed | None]]
"""Looks at a request that is known: None lets it pass, byte for byte."""


async def pass_all(asked: Asked, known: Known) -> Managed | None:  # noqa: ARG001
    """The manager of a gateway that manages nothing."""
    return None

"""How are passing failures waited out, for callers without a core that does it?"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

from clew.facts.exchange import Failure, Prompt, RateLimited, Reply, Unavailable
from clew.facts.pieces import Broken, Piece
from clew.runtime.endpoints import Endpoint
from clew.runtime.transport import OnPiece, Transport

FIRST_WAIT = 1.0
"""Seconds; each further wait may be twice as long."""
LONGEST_WAIT = 30.0


async def call_patiently(
    transport: Transport,
    prompt: Prompt,
    endpoint: Endpoint,
    *,
    deadline: float,
    attempts: int = 5,
    on_piece: OnPiece | None = None,
    clock: Callable[[], float] = time.monotonic,
    chance: Callable[[], float] = random.random,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Reply | Failure:
    """The reply, waited for through busy and broken moments of the provider.

    The wait is at least what the provider asked for; where that would pass the deadline, its failure is given at once.
    So it is when a piece has reached `on_piece`: a second reply behind half of a first would be neither.
    """
    shown = False

    def show(piece: Piece) -> Awaitable[None] | None:
        nonlocal shown
        shown = shown or not isinstance(piece, Broken)
        return on_piece(piece) if on_piece else None

    for attempt in range(attempts):
        answer = await transport.call(prompt, endpoint, deadline=deadline, on_piece=show if on_piece else None)
        if not isinstance(answer, RateLimited | Unavailable) or shown or attempt == attempts - 1:
            return answer
        wait = wait_before(attempt, answer.retry_after, chance())
        if clock() + wait >= deadline:
            return answer
        await sleep(wait)
    raise ValueError("attempts must be at least 1")


def wait_before(attempt: int, retry_after: float | None, chance: float) -> float:
    """Seconds until the next attempt. The random part keeps callers who failed together from coming back together."""
    return (retry_after or 0.0) + chance * min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)

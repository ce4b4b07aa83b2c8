"""Who writes summaries: the model named for it, else the main one, else for a while no one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from clew.core.effects import Summarise
from clew.facts.exchange import Failure, Prompt, RateLimited, Reply, Unavailable
from clew.facts.messages import Message, message
from clew.runtime.providers import Who
from clew.runtime.retries import call_patiently
from clew.runtime.transport import Transport

LONGEST = 300.0
"""Seconds a summary may take before rules write it."""
SHORT_REST = 60.0
"""Seconds for which one who failed in passing is left alone."""
LONG_REST = 600.0
"""The same for one who refused: a wrong key does not mend itself."""


class Summariser:
    """Asks in turn, and does not ask again so soon whoever failed."""

    def __init__(
        self,
        transport: Transport,
        whom: Sequence[Who],
        record: Callable[[Who, Reply | Failure], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._whom = [who for place, who in enumerate(whom) if who not in whom[:place]]
        self._record = record
        self._clock = clock
        self._rests = [0.0] * len(self._whom)

    async def summarise(self, wish: Summarise) -> str | None:
        """The words of the first who answers; None where nobody does, and rules write instead."""
        return await self.write(wish.prompt, wish.budget * 2)

    async def write(self, prompt: str, most: int) -> str | None:
        return await self.answer((message("user", prompt),), most)

    async def answer(self, messages: Sequence[Message], most: int) -> str | None:
        """The same for a whole conversation; `most` is in tokens."""
        system = "\n\n".join(said.text for said in messages if said.is_system)
        said = tuple(said for said in messages if not said.is_system)
        for place, who in enumerate(self._whom):
            if self._clock() < self._rests[place]:
                continue
            asked = Prompt(system, said, max_output=most, model=who.model)
            until = time.monotonic() + LONGEST
            answer = await call_patiently(self._transport, asked, who.endpoint, deadline=until, attempts=2)
            self._record(who, answer)
            if isinstance(answer, Reply) and answer.message.text.strip():
                return answer.message.text
            passing = isinstance(answer, Reply | RateLimited | Unavailable)
            self._rests[place] = self._clock() + (SHORT_REST if passing else LONG_REST)
        return None

    def wake(self) -> None:
        """A person asks: nobody is put off."""
        self._rests = [0.0] * len(self._whom)

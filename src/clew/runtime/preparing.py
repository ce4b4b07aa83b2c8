"""A compaction worked out beside the conversation, at most one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from clew.core.effects import Prepare
from clew.facts.session import Compaction, Prepared


class Preparing:
    """Begins when first asked, is there when it is done, and forgets what belongs to a session that has ended."""

    def __init__(self, work: Callable[[Prepare], Awaitable[Compaction]]) -> None:
        self._work = work
        self._session = ""
        self._task: asyncio.Task[Prepared] | None = None

    async def prepare(self, wish: Prepare) -> Prepared | None:
        if self._task is None or self._session != wish.session.id:
            self.drop()
            self._session, self._task = wish.session.id, asyncio.ensure_future(self._prepared(wish))
        if wish.wait:
            await asyncio.shield(self._task)  # a person who stops the turn does not stop the summary
        if not wish.due or not self._task.done():
            return None
        done, self._task = self._task, None
        return done.result()

    def drop(self) -> None:
        """Whatever is under way is not wanted any more."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _prepared(self, wish: Prepare) -> Prepared:
        return Prepared(wish.session, await self._work(wish))

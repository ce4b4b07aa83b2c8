"""The lossless engine, put together: a tree of summaries over a log of everything, and four tools to find it again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from clew.core.effects import Summarise
from clew.core.speaker import newest_said_by_person
from clew.engines.lossless.condensing import Habits
from clew.engines.lossless.effects import Ailing, Publish, Rows, Sources
from clew.engines.lossless.lossless import Lossless
from clew.engines.lossless.seen import Seen
from clew.engines.lossless.shares import share
from clew.facts.model import Policy
from clew.facts.session import Compaction
from clew.runtime.drive import drive, settled
from clew.runtime.lossless_footing import Footing
from clew.runtime.lossless_tools import SCHEMAS, answered
from clew.runtime.own_engine import REST, Count, Messages, OwnEngine, Summariser
from clew.store.memory import memory_store
from clew.store.publishing import NotPublished
from clew.store.store import Store
from clew.wire.usage import normalize_usage

TRIES = 20
"""Passes that are begun at most: each that ends because someone else published first finds more done."""
MEASURED = 3
"""Reports without a cached token that show that the provider caches nothing."""


class LosslessEngine(OwnEngine):
    """Keeps every message in a store; the window has summaries that lead back to each, and the newest messages.

    `summarise` takes a prompt and returns text, plain or async; without it, or when it fails, rules write the summary,
    and it is written again when a model answers. Without a store it keeps everything in memory.

    >>> engine = LosslessEngine(context_length=32_000)
    >>> history = [{"role": "user", "content": "Never touch prod.py."}]
    >>> history += [{"role": "assistant", "content": f"Step {n}: " + "done. " * 400} for n in range(60)]
    >>> short = engine.compress([*history, {"role": "user", "content": "Now finish."}])
    >>> "Never touch prod.py." in str(short), short[-1]["content"], len(short) < 40
    (True, 'Now finish.', True)
    """

    works_ahead = True  # what is published while the conversation goes on covers only what was handed in

    def __init__(
        self,
        context_length: int = 200_000,
        store: Store | None = None,
        summarise: Summariser | None = None,
        *,
        threshold: float = 0.50,
        count: Count | None = None,
        cache_prices: tuple[float, float] = (0.10, 1.25),
    ) -> None:
        """`cache_prices`: of a token read from the provider's cache and of one written to it; a plain one is 1."""
        super().__init__(context_length, Policy(threshold), summarise, count)
        self.cache_prices = cache_prices
        self._store = store
        self._footing: Footing | None = None
        self._calls = self._cached = 0

    @property
    def name(self) -> str:
        return "lossless"

    @property
    def store(self) -> Store:
        """Where everything is kept."""
        return self._at.store

    @property
    def session(self) -> str | None:
        """The store's session in which the conversation goes on; None: none has begun."""
        return self._at.session

    @property
    def _at(self) -> Footing:
        if self._footing is None:
            self._footing = Footing(self._store or memory_store())
        return self._footing

    # When

    def update_from_response(self, usage: Mapping[str, Any]) -> None:
        """Take the prompt's weight from the report, and whether the provider caches."""
        super().update_from_response(usage)
        if usage:
            self._calls += 1
            self._cached += bool(usage.get("cache_read_tokens") or normalize_usage(usage).cache_read)

    # How

    def compress(
        self,
        messages: Messages,
        current_tokens: int | None = None,  # noqa: ARG002 what a host weighed decides when, not how
        focus_topic: str | None = None,
        pinned: tuple[str, ...] = (),
    ) -> list[dict[str, Any]]:
        """The history to go on with: summaries in the order of time, then the newest messages as they are.

        Whatever leaves is in the store before this returns. `pinned` texts stay in the result, word for word.
        """
        return [said.to_dict() for said in self.compacted(messages, focus_topic, pinned).messages]

    def compacted(self, messages: Messages, focus: str | None = None, pinned: tuple[str, ...] = ()) -> Compaction:
        """`compress`, with the account of what it did."""
        if not messages and not pinned:
            return Compaction(())
        done = self._tried(messages, focus, tuple(pinned))
        if done.progress:
            self._at.go_on([said.to_dict() for said in done.messages])
            self.compression_count += 1
            self.last_prompt_tokens = 0  # nothing reported since: an estimate never stands in for a report
        return done

    def remember(self, messages: Messages) -> str:
        """Write down what is new in a list, and nothing else. The store's session."""
        return self._at.keep(messages)

    def _tried(self, messages: Messages, focus: str | None, pinned: tuple[str, ...]) -> Compaction:
        """A pass; another one where someone else published first: his nodes are then there to be used."""
        for _ in range(TRIES - 1):
            with suppress(NotPublished):
                return self._pass(messages, focus, pinned)
        return self._pass(messages, focus, pinned)

    def _pass(self, messages: Messages, focus: str | None, pinned: tuple[str, ...]) -> Compaction:
        seen = self._at.stand(messages)
        rested = focus is not None or time.monotonic() >= self._rests_until  # a person who asks is never put off
        engine = Lossless(
            shares=share(self.budget, self._held(seen, pinned)),
            scale=self.scale,
            habits=self._habits(),
            window=self.context_length,
            model=getattr(self.summarise, "model", "a model") if self.summarise is not None and rested else None,
        )
        return drive(engine.make_room(seen, focus=focus, pinned=pinned), self._hands())

    def _held(self, seen: Seen, pinned: tuple[str, ...]) -> int:
        """Tokens that stay in any case: the newest request of a person, and what is pinned."""
        place = newest_said_by_person(seen.messages)
        request = 0 if place is None else self.scale.message(seen.messages[place])
        return request + sum(map(self.scale.text, pinned))

    def _hands(self) -> dict[Any, Callable[[Any], Any]]:
        nodes, session = self.store.nodes, self._at.session or ""
        return {
            Rows: lambda wish: nodes.rows(session, wish.first, wish.last),
            Sources: lambda wish: tuple(nodes.sources(session, wish.id)),
            Ailing: lambda wish: tuple(nodes.ailing(session, wish.limit, degraded=wish.degraded)),
            Publish: lambda wish: nodes.publish(session, wish.draft),
            Summarise: self._written,
        }

    def _written(self, wish: Summarise) -> str | None:
        """The summariser's answer. One that fails is answered for, and left alone for a while."""
        try:
            answer = settled(self.summarise(wish.prompt)) if self.summarise is not None else None
        except Exception:
            answer = None
        if not answer:
            self._rests_until = time.monotonic() + REST
        return answer

    def _habits(self) -> Habits:
        read, write = self.cache_prices
        usual = Habits()
        calls = self._calls / self.compression_count if self.compression_count else usual.calls
        return Habits(read, write, max(calls, 1.0), is_cached=self._calls < MEASURED or self._cached > 0)

    # Sessions

    def on_session_start(self, session_id: str, **kwargs: Any) -> None:
        """A conversation begins, or goes on: by the store's own ids, or by those of a host that knows nothing of it."""
        goes_on = kwargs.get("boundary_reason") == "compression"
        self._at.start(session_id, goes_on=goes_on, old=kwargs.get("old_session_id"))

    def on_session_end(self, session_id: str, messages: list[dict[str, Any]]) -> None:  # noqa: ARG002
        """Keep what was said last."""
        if messages:
            self.remember(messages)

    def on_session_reset(self) -> None:
        super().on_session_reset()
        self._at.leave()
        self._calls = self._cached = 0

    # Finding it again

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Tools by which the model finds and reads what left the window."""
        return [dict(schema) for schema in SCHEMAS]

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """The answer to a call of one of them, as JSON; never an exception. `messages` is the live list."""
        return answered(self._at, self.scale.text, name, args, kwargs.get("messages"))

    def get_status(self) -> dict[str, Any]:
        nodes = self.store.nodes.standing(self.session) if self.session else []
        return {**super().get_status(), "session": self.session, "summaries": len(nodes)}

    def close(self) -> None:
        """Let go of the store, if it is the engine's own."""
        if self._store is None and self._footing is not None:
            self._footing.store.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> LosslessEngine:
        copy = LosslessEngine(
            self.context_length,
            self._store,
            self.summarise,
            threshold=self.policy.threshold,
            cache_prices=self.cache_prices,
        )
        copy.scale = self.scale
        return copy

"""The default engine, put together for people who bring a list of messages."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from clew.core.effects import Summarise
from clew.core.ports import Asking
from clew.engines import boundaries
from clew.engines.boundaries import Plan
from clew.engines.compressor import Compressor
from clew.engines.handoff import WITHOUT_MODEL
from clew.engines.prune import prune
from clew.facts.budget import share_out
from clew.facts.messages import read_messages
from clew.facts.model import Policy, Window
from clew.facts.session import Compaction
from clew.runtime.drive import adrive, drive, settled
from clew.runtime.own_engine import REST, Count, Messages, OwnEngine, Summariser
from clew.runtime.scales import Scale


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """What a compaction came to."""

    messages: list[dict[str, Any]]
    """The history to go on with."""
    summary: str
    """The text that stands for what left; empty when nothing did."""
    tokens_before: int
    tokens_after: int
    kept: tuple[int, ...]
    """Places, in the history handed in, of the messages that stayed."""
    dropped: tuple[int, ...]
    """Places of those the summary stands for."""
    report: tuple[str, ...]
    """What happened, in sentences for a person."""


def compact(
    messages: Messages,
    *,
    context_length: int,
    threshold: float = 0.50,
    target_ratio: float = 0.20,
    protect_first_n: int = 3,
    protect_last_n: int = 20,
    focus: str | None = None,
    summarise: Summariser | None = None,
    count: Count | None = None,
) -> CompactionResult:
    """Compact a history for a window of `context_length` tokens. The list handed in stays as it was.

    >>> history = [{"role": "user", "content": "Never touch prod.py."}]
    >>> history += [{"role": "assistant", "content": f"Step {n}: " + "done. " * 400} for n in range(60)]
    >>> history += [{"role": "user", "content": "Now finish."}]
    >>> done = compact(history, context_length=32_000)
    >>> done.messages[-1]["content"], done.tokens_after < done.tokens_before / 2
    ('Now finish.', True)
    """
    engine = ContextCompressor(
        context_length,
        threshold=threshold,
        target_ratio=target_ratio,
        protect_first_n=protect_first_n,
        protect_last_n=protect_last_n,
        summarise=summarise,
        count=count,
    )
    return engine.compacted(messages, focus)


def plan(
    messages: Messages,
    *,
    context_length: int,
    threshold: float = 0.50,
    target_ratio: float = 0.20,
    protect_first_n: int = 3,
    protect_last_n: int = 20,
    count: Count | None = None,
) -> Plan:
    """What `compact` would keep and what it would hand over, without doing it.

    >>> where = plan([{"role": "user", "content": "hello"}], context_length=200_000)
    >>> where.tail, where.middle
    ((0,), ())
    """
    policy = Policy(threshold, target_ratio, protect_first_n, protect_last_n)
    return boundaries.plan(read_messages(messages), share_out(Window(context_length), policy), policy, Scale(count))


class ContextCompressor(OwnEngine):
    """The default engine: keeps both ends of a conversation and hands the middle over as a summary.

    `summarise` takes a prompt and returns text, plain or async; without it the summary is written by rules.

    >>> engine = ContextCompressor(context_length=200_000)
    >>> engine.threshold_tokens, engine.should_compress(99_999), engine.should_compress(100_000)
    (100000, False, True)
    """

    def __init__(
        self,
        context_length: int = 200_000,
        *,
        threshold: float = 0.50,
        target_ratio: float = 0.20,
        protect_first_n: int = 3,
        protect_last_n: int = 20,
        summarise: Summariser | None = None,
        count: Count | None = None,
    ) -> None:
        policy = Policy(threshold, target_ratio, protect_first_n, protect_last_n)
        super().__init__(context_length, policy, summarise, count)

    @property
    def name(self) -> str:
        return "compressor"

    def prune_tool_results_only(
        self,
        messages: Messages,
        current_tokens: int | None = None,  # noqa: ARG002
    ) -> tuple[list[dict[str, Any]], int]:
        """Old tool output as one line each, nothing else changed, no model asked; and the tokens that this frees."""
        before = read_messages(messages)
        tail = boundaries.plan(before, self.budget, self.policy, self.scale).tail
        pruned = prune(before, before=min(tail, default=len(before)))
        freed = self.scale.messages(before) - self.scale.messages(pruned)
        return [said.to_dict() for said in pruned], max(freed, 0)

    def has_content_to_compress(self, messages: Messages) -> bool:
        where = boundaries.plan(read_messages(messages), self.budget, self.policy, self.scale)
        return bool(where.middle or where.shortened)

    def compress(
        self,
        messages: Messages,
        current_tokens: int | None = None,  # noqa: ARG002 what a host weighed decides when, not how
        focus_topic: str | None = None,
    ) -> list[dict[str, Any]]:
        """The history to go on with. Always legal, never heavier; the newest user message stays word for word."""
        return self.compacted(messages, focus_topic).messages

    def compacted(self, messages: Messages, focus: str | None = None) -> CompactionResult:
        """`compress`, with the account of what it did."""
        return self._took(drive(self._asking(messages, focus), _hands(self.summarise)))

    async def acompress(self, messages: Messages, focus_topic: str | None = None) -> list[dict[str, Any]]:
        """`compress` for callers with an event loop."""
        done = await adrive(self._asking(messages, focus_topic), _hands(self.summarise, wait=False))
        return self._took(done).messages

    def _asking(self, messages: Messages, focus: str | None) -> Asking:
        rested = focus is not None or time.monotonic() >= self._rests_until  # a person who asks is never put off
        engine = Compressor(self.policy, self.scale, has_summariser=self.summarise is not None and rested)
        return engine.make_room(read_messages(messages), self.budget, focus=focus)

    def _took(self, done: Compaction) -> CompactionResult:
        if WITHOUT_MODEL in done.notes:
            self._rests_until = time.monotonic() + REST
        if done.progress:
            self.compression_count += 1
            self.last_prompt_tokens = 0  # nothing reported since: an estimate never stands in for a report
        return _result(done, self.compression_count)


def _hands(summarise: Summariser | None, *, wait: bool = True) -> dict[Any, Callable[[Any], Any]]:
    """The one wish of a compaction. A summariser that fails is answered for: rules take over."""

    def write(wish: Summarise) -> Any:
        if summarise is None:
            return None
        try:
            answer = summarise(wish.prompt)
            return settled(answer) if wait else _forgiven(answer)
        except Exception:
            return None

    return {Summarise: write}


async def _forgiven(answer: Any) -> Any:
    try:
        return await answer if isinstance(answer, Awaitable) else answer
    except Exception:
        return None


def _result(done: Compaction, times: int) -> CompactionResult:
    left, short = len(done.dropped), len(done.shortened)
    told = [f"{len(done.kept)} messages kept, {left} summed up, {done.tokens_before:,} → {done.tokens_after:,} tokens"]
    if short:
        told.append(f"{short} too large to keep whole: shown in part, with a pointer")
    if times >= 2:
        told.append(f"compacted {times} times by now: details may blur, a new session starts fresh")
    return CompactionResult(
        messages=[said.to_dict() for said in done.messages],
        summary=done.summary,
        tokens_before=done.tokens_before,
        tokens_after=done.tokens_after,
        kept=done.kept,
        dropped=done.dropped,
        report=(*told, *done.notes),
    )

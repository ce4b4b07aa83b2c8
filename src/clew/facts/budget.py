"""How the tokens of a window are shared out: when to compact, what the tail and the summary may weigh."""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.facts.model import SMALLEST_WINDOW, Policy, Unsatisfiable, Window, refuse_outside

SAFE_SHARE = 0.85
"""Of what is usable. The rest is for what an estimate gets wrong and for one more turn of tool results."""
SUMMARY_FLOOR = 2_000
SUMMARY_CEILING = 12_000
SUMMARY_SHARE = 0.05
SMALL_WINDOW_SUMMARY_SHARE = 0.08
SMALL_WINDOW_SUMMARY = 4_750
"""Below a 100,000-token window one twentieth cannot carry the exact strings of a day's work: there the summary may take
8 % up to this, which is 5,000 with the words around it. Both rules meet at 95,000: no size is worse off than its
neighbour."""
CONTENT_SHARE = 0.20
LEAST_ROOM = 1_500
"""Tokens of conversation below which compaction could only chase its own tail."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What each part of the prompt may weigh, in tokens."""

    window: int
    trigger: int
    """A prompt this heavy is due to be compacted."""
    hard: int
    """A prompt this heavy is not sent before room was made, however long that takes."""
    fixed: int
    """System prompt and tool schemas: sent every time, never compacted."""
    tail: int
    """The newest messages, kept word for word."""
    summary: int
    """The most a summary may weigh."""

    @property
    def soft(self) -> int:
        """From here on a summary may be prepared, so that it is there when it is due."""
        return self.trigger * 4 // 5

    @property
    def room(self) -> int:
        """What the conversation may weigh before compaction fires."""
        return self.trigger - self.fixed

    @property
    def tail_ceiling(self) -> int:
        """The protected messages may stretch the tail to this when the last n are heavy."""
        return max(self.tail, min(self.tail * 3 // 2, self.room // 2))

    @property
    def head(self) -> int:
        """The opening exchange, kept on the first compaction."""
        return min(self.tail // 2, self.room // 10)

    @property
    def target(self) -> int:
        """The conversation's weight after a compaction never exceeds this, so that the next one is far away."""
        return self.room * 4 // 5

    def counted_in(self, factor: float) -> Budget:
        """The same budget in tokens of which a provider makes `factor` each."""
        sizes = (self.window, self.trigger, self.hard, self.fixed, self.tail, self.summary)
        return Budget(*(int(size / factor) for size in sizes))

    def holding(self, pinned: int) -> Budget:
        """The same budget with so many tokens of the conversation that may not leave."""
        return replace(self, fixed=self.fixed + pinned)

    def summary_for(self, content: int, previous: int = 0) -> int:
        """The summary's share for `content` tokens: a fifth of them, on top of the summary that stood before; neither
        too short to be useful nor above its cap."""
        return min(max(previous + int(content * CONTENT_SHARE), SUMMARY_FLOOR), self.summary)


def share_out(window: Window, policy: Policy, *, system: int = 0, tools: int = 0) -> Budget:
    """The budget of a window under a policy. Refuses, with the reason, what could never settle."""
    refuse_outside("context_length", window.size, SMALLEST_WINDOW, 100_000_000)
    refuse_outside("reserved output", window.reserved_output, 0, window.size - SMALLEST_WINDOW // 2)
    hard = int(window.usable * SAFE_SHARE)
    trigger = min(int(window.size * policy.threshold), hard)
    fixed = system + tools
    room = trigger - fixed
    if room < LEAST_ROOM:
        raise Unsatisfiable(
            f"the system prompt ({system:,} tokens) and the tool schemas ({tools:,}) leave {max(room, 0):,} of the "
            f"{trigger:,} tokens at which a {window.size:,}-token window is compacted; {LEAST_ROOM:,} are needed: "
            "use fewer tools, a shorter system prompt, a higher threshold or a larger window"
        )
    return Budget(
        window=window.size,
        trigger=trigger,
        hard=hard,
        fixed=fixed,
        tail=min(int(trigger * policy.target_ratio), room // 2),
        summary=min(largest_summary(window.size), room * 18 // 100),
    )


def largest_summary(window: int) -> int:
    """5 % of the window up to 12,000 tokens; small windows get a little more."""
    small = min(SMALL_WINDOW_SUMMARY, window * SMALL_WINDOW_SUMMARY_SHARE)
    return int(min(SUMMARY_CEILING, max(window * SUMMARY_SHARE, small)))

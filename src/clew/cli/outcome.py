"""What came of replaying one recording?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from clew.cli.account import Change, by_kind
from clew.cli.recordings import Recording
from clew.core.ports import Engine
from clew.facts.messages import read_messages
from clew.facts.model import Policy
from clew.runtime.replay import Replayed, replay
from clew.runtime.scales import Scale


@dataclass(frozen=True, slots=True)
class Outcome:
    """A replay with what tables and pages say about it."""

    recording: Recording
    replayed: Replayed
    kinds: list[Change]
    """The recording, and the window it ended with, by kind of message."""
    digests: list[int]
    """Tokens of each compaction's summary."""
    seconds: float

    @property
    def saved(self) -> float | None:
        """How many times as many tokens would have been sent without compaction. None: nothing was sent."""
        return self.replayed.sent_whole / self.replayed.sent if self.replayed.sent else None

    @property
    def outgrown(self) -> int | None:
        """The first model call, from 0, that would not have fitted without compaction. None: all would have."""
        calls = enumerate(self.replayed.points)
        return next((call for call, point in calls if point.whole > self.replayed.window), None)


def run(
    recording: Recording,
    *,
    window: int,
    engine: Engine,
    policy: Policy,
    scale: Scale,
    progress: Callable[[int], None],
) -> Outcome:
    """Replay it and take the time."""
    messages = read_messages(recording.transcript.messages)
    began = time.perf_counter()
    done = replay(messages, window=window, engine=engine, policy=policy, scale=scale, progress=progress)
    return Outcome(
        recording=recording,
        replayed=done,
        kinds=by_kind(messages, done.final, scale.message),
        digests=[scale.text(event.summary) for event in done.events],
        seconds=time.perf_counter() - began,
    )

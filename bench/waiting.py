"""Does a person wait for a summary? Turns beside a summariser of 30 seconds, against turns with no compaction at all.

    python bench/waiting.py [--seconds 30] [--window 64000]

Two conversations say the same things in turn to the same simulated model. In one, summaries are made by a model that
takes 30 seconds; in the other compaction is off. What a turn takes longer in the first, while the summary is being
written and the window is below the hard mark, is what a person waits: less than 50 ms is wanted. Afterwards every
message is looked for.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from clew.core.state import Turn
from clew.facts.messages import Message, ToolCall
from clew.facts.model import Policy
from clew.facts.pieces import Piece
from clew.runtime.conversation import Conversation
from clew.runtime.endpoints import Endpoint
from clew.runtime.models import bundled
from clew.runtime.providers import Who
from clew.runtime.transport import Transport
from clew.runtime.works import Works
from clew.store.address import open_store
from clew.store.store import Store
from clew.testing import ProviderSimulator
from clew.testing.simulator.faults import Stall

MOST = 0.050
"""Seconds that a turn may take longer."""


class Nobody:
    def piece(self, piece: Piece) -> None: ...
    def calling(self, call: ToolCall) -> None: ...
    def called(self, call: ToolCall, result: Message, seconds: float) -> None: ...
    def told(self, text: str) -> None:
        print(f"  · {text}", flush=True)


def words(number: int) -> str:
    return f"Number {number}. " + " ".join(f"src/part_{number}/file_{n}.py has {n * 37} lines;" for n in range(60))


async def timed(conversation: Conversation, said: str) -> float:
    began = time.perf_counter()
    await conversation.say(said)
    return time.perf_counter() - began


async def run(seconds: float, window: int, store: Store) -> bool:
    def who(simulator: ProviderSimulator) -> Who:
        return Who("claude-sonnet-4-5", Endpoint("simulated", simulator.url, "anthropic", provider="anthropic"))

    slow = ProviderSimulator(
        replies=lambda prompt: "## Goal\nCount.", faults={n: Stall(seconds, "start") for n in range(9)}
    )
    with ProviderSimulator(replies=lambda prompt: "Fine.") as main, slow as writer:
        async with Transport() as transport:
            pair = [
                Conversation(
                    Works(store, transport, bundled(), policy=Policy(protect_last_n=4, enabled=enabled)),
                    store.open_session(),
                    who(main),
                    Nobody(),
                    summariser=who(writer),
                    context_length=window,
                )
                for enabled in (True, False)
            ]
            return await compared(pair[0], pair[1], writer, store)


async def compared(live: Conversation, control: Conversation, writer: ProviderSimulator, store: Store) -> bool:
    said: list[str] = []
    added: list[float] = []
    first = live.session.id
    budget = Turn(live.session, live.setup, live.setup.model.window).budget
    while live.session.id == first and len(said) < 2_000:
        said.append(words(len(said)))
        with_summary, without = await timed(live, said[-1]), await timed(control, said[-1])
        weight = live.session.measured.prompt if live.session.measured else 0
        if writer.requests and live.session.id == first and weight < budget.hard:
            added.append(with_summary - without)
            left = (budget.hard - weight) / budget.window
            await asyncio.sleep(0.5 if left > 0.05 else 2.0)  # a person who reads and types
    history = [each.message["content"] for each in store.history(first) if each.standing]
    there = [text for text in history if text.startswith("Number")] == said
    ms = sorted(1_000 * each for each in added)
    p95 = ms[int(len(ms) * 0.95)] if ms else float("nan")
    print(f"turns while the summary was written  {len(ms)}")
    print(f"longer than without, ms              median {statistics.median(ms):.1f}, p95 {p95:.1f}, most {ms[-1]:.1f}")
    print(f"every message there, in order        {there}")
    swapped = live.session.id != first
    print(f"swapped in                           {swapped} ({len(said)} turns; {live.session.counted:,} tokens)")
    live.close()
    control.close()
    return there and p95 < 1_000 * MOST and live.session.id != first


def main() -> Any:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=30.0)
    options.add_argument("--window", type=int, default=64_000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
        sys.exit(0 if asyncio.run(run(given.seconds, given.window, store)) else 1)


if __name__ == "__main__":
    main()

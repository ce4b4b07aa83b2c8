"""What losing nothing costs: `python bench/lossless.py`. One run, this machine; exit 1 when a line does not hold.

A conversation of 20,000 messages with slices of a recorded session grows in a 200,000-token window and is compacted
whenever it is due, without a model. Writing it down is compared with the store's own batches of the same messages. The
rest is processor time: a busy disk or neighbour is not the engine's doing.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

from clew import LosslessEngine, open_store
from clew.store.check import findings
from store import in_turn, messages

Message = dict[str, Any]
MESSAGES, FROM, WINDOW = 20_000, 1_000, 200_000
STEADY = 5_000
"""Messages from which the blocks of summaries have their usual size."""
INGEST, FLAT, KEPT = 0.5, 1.3, 0.60


@dataclass
class Run:
    """What a conversation cost as it grew, each with the number of messages it then had."""

    turns: list[tuple[int, float]] = field(default_factory=list)
    compactions: list[tuple[int, float]] = field(default_factory=list)
    kept: list[tuple[int, float]] = field(default_factory=list)
    """The share of the new prompt that is, from its front, what the old one was."""
    depth: int = 0
    flaws: list[str] = field(default_factory=list)


def ingest(folder: Path) -> float:
    """Messages a second of the engine's, as a share of the store's own."""
    made = messages(10_000)

    def plain(number: int) -> None:
        with open_store(folder / f"plain-{number}.db") as store:
            store.append(store.open_session(), made)

    def ours(number: int) -> None:
        with open_store(folder / f"ours-{number}.db") as store:
            engine = LosslessEngine(WINDOW, store)
            engine.on_session_start("bench")
            engine.remember(made)

    ours(-1)
    theirs, took = in_turn(plain, ours, rounds=7)
    return theirs / took


def grown(folder: Path) -> Run:
    run, live = Run(), list[Message]()
    made = [{**said, "content": said["content"].rstrip()} if said["content"] else said for said in messages(MESSAGES)]
    with open_store(folder / "grown.db") as store:
        engine = LosslessEngine(WINDOW, store)
        engine.on_session_start("bench")
        for start in range(0, MESSAGES, 4):
            live += made[start : start + 4]
            took, is_due = timed(is_full, engine, live)
            run.turns.append((start, took))
            if is_due:
                took, short = timed(engine.compress, live)
                run.compactions.append((start, took))
                run.kept.append((start, unchanged(live, short)))
                live = short
        engine.remember(live)
        session = engine.session or ""
        run.depth = max(node.depth for node in store.nodes.standing(session))
        run.flaws = [*store.nodes.flaws(session), *(finding.what for finding in findings(store))]
        if [said.message for said in store.history(session)] != made:
            run.flaws.append("the log is not what was said")
    return run


def is_full(engine: LosslessEngine, live: list[Message]) -> bool:
    return engine.should_compress_preflight(live) or engine.should_compress()


def timed(work: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    began = time.process_time()
    answer = work(*args)
    return time.process_time() - began, answer


def unchanged(before: list[Message], after: list[Message]) -> float:
    """How much of the new prompt's bytes, from the front, stood there before."""
    old, new = ("\n".join(json.dumps(said, ensure_ascii=False) for said in each) for each in (before, after))
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return len(new[:same].encode()) / len(new.encode())


def tenths(times: list[tuple[int, float]]) -> tuple[float, float]:
    """The mean in the first and in the last tenth of the way from 1,000 messages to the end."""
    tenth = (MESSAGES - FROM) / 10
    first = [took for at, took in times if FROM <= at < FROM + tenth]
    last = [took for at, took in times if at >= MESSAGES - tenth]
    return mean(first), mean(last)


def told(name: str, holds: bool, figures: str) -> bool:
    print(f"{'ok  ' if holds else 'FAIL'} {name}: {figures}")
    return holds


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        share = ingest(Path(folder))
        run = grown(Path(folder))
    turn, compaction = tenths(run.turns), tenths(run.compactions)
    kept = [share for at, share in run.kept if at >= STEADY]
    met = [
        told("bulk ingest", share >= INGEST, f"{share:.2f} of the store's own rate (at least {INGEST})"),
        told(
            "per turn",
            turn[1] <= FLAT * turn[0],
            f"{turn[0] * 1e3:.2f} ms at first, {turn[1] * 1e3:.2f} ms at last: {turn[1] / turn[0]:.2f} x "
            f"(at most {FLAT})",
        ),
        told(
            "per compaction",
            compaction[1] <= FLAT * compaction[0],
            f"{compaction[0] * 1e3:.0f} ms at first, {compaction[1] * 1e3:.0f} ms at last: "
            f"{compaction[1] / compaction[0]:.2f} x (at most {FLAT}); {len(run.compactions)} of them",
        ),
        told(
            "prompt unchanged at the front",
            median(kept) >= KEPT,
            f"{median(kept):.0%} in the middle of all compactions (at least {KEPT:.0%}); "
            f"{mean(kept):.0%} on average, {min(kept):.0%} at the least, where old summaries are told in fewer words",
        ),
        told(
            "nothing lost",
            not run.flaws,
            f"{MESSAGES:,} messages, summaries up to depth {run.depth}; {run.flaws or 'whole'}",
        ),
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())

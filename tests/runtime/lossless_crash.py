"""Kill an engine at any moment: nothing is lost or covered twice. `python -m tests.runtime.lossless_crash`.

A child says and compacts, and is killed; the next goes on with what the host had last. In the end the log has every
message once, and every one up to the frontier is in exactly one leaf.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from clew.runtime.lossless import LosslessEngine
from clew.store.address import open_store
from clew.store.check import findings
from tests.runtime.lossless_histories import grown, turns

WINDOW = 8_000
TURNS = 4
"""Turns that each round adds."""


def rounds(path: Path, count: int, seed: int = 1) -> list[str]:
    """So many kills on one store; what went wrong."""
    random = Random(seed)
    wrong: list[str] = []
    for number in range(1, count + 1):
        child = os.fork()
        if child == 0:
            _work(path, number * TURNS)
            os._exit(0)
        time.sleep(random.uniform(0.0, 0.25))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        wrong += [f"round {number}: {what}" for what in _looked_at(path, number * TURNS)]
    _work(path, count * TURNS)
    said = turns(count * TURNS)
    with open_store(path) as store:
        [conversation] = store.conversations()
        if [one.message for one in store.history(conversation.id)] != said:
            wrong.append("in the end the log is not what was said")
    return wrong + _looked_at(path, count * TURNS)


def _work(path: Path, count: int) -> None:
    """A host after a restart: it has everything that was said, and says a little more."""
    with open_store(path) as store:
        engine = LosslessEngine(WINDOW, store)
        engine.on_session_start("the host's")
        engine.remember(grown(engine, turns(count), by=16))


def _looked_at(path: Path, count: int) -> list[str]:
    with open_store(path) as store:
        wrong = [finding.what for finding in findings(store)]
        for conversation in store.conversations():
            store.nodes.settle(conversation.id)
            wrong += store.nodes.flaws(conversation.id)
            said = [one.message for one in store.history(conversation.id)]
            if said != turns(count)[: len(said)]:
                wrong.append("the log is not the beginning of what was said")
        if len(store.conversations()) > 1:
            wrong.append("there are two conversations")
        return wrong


def main() -> int:
    asked = argparse.ArgumentParser()
    asked.add_argument("--rounds", type=int, default=20)
    asked.add_argument("--seed", type=int, default=1)
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = rounds(Path(folder) / "store.db", options.rounds, options.seed)
    print(f"{options.rounds} kills, {len(wrong)} wrong", *wrong[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

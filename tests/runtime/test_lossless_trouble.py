"""Whatever fails and whenever a process dies: every message is once in the log, every covered one in one leaf."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from clew import LosslessEngine, open_store
from clew.store.address import Store
from clew.store.memory import memory_store
from tests.runtime.lossless_histories import count_rows, problems, proof, rows_of, turns
from tests.store.test_nodes import failing_at
from tests.store.workers import ROOT


def test_a_pass_that_fails_at_any_statement_is_made_good_by_the_next() -> None:
    said = turns(12, 40)
    tried = 0
    for statement in range(1, 2_000):
        store = memory_store()
        engine = LosslessEngine(8_000, store)
        engine.on_session_start("s")
        try:
            with failing_at(store.database, statement):
                engine.compress(said)
        except InterruptedError:
            tried += 1
            assert_whole(store, said)
            store.close()
            continue
        break
    assert tried > 25
    assert_whole(store, said)
    store.close()


def assert_whole(store: Store, said: list[dict[str, Any]]) -> None:
    again = LosslessEngine(8_000, store)
    again.on_session_start("s")
    made = again.compress(said)
    assert problems(made) == []
    assert rows_of(again) == said
    assert count_rows(again) == len(said)
    assert proof(again) == []
    assert len(store.conversations()) == 1


def test_an_engine_killed_at_any_moment_loses_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.runtime.lossless_crash", "--rounds", "20"],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("20 kills, 0 wrong"), done.stdout + done.stderr


def test_two_engines_on_one_conversation_cover_nothing_twice(tmp_path: Path) -> None:
    said = turns(30, 60)
    with open_store(tmp_path / "my.db") as store:
        session = store.open_session()
        store.append(session, said)
        meet = threading.Barrier(2)

        def summarise(prompt: str) -> str:
            if not meet.broken:
                with suppress(threading.BrokenBarrierError):
                    meet.wait(0.5)
            return "## Goal\na summary"

        def work() -> None:
            engine = LosslessEngine(8_000, store, summarise)
            engine.on_session_start(session)
            made.append(engine.compress(said))

        made: list[list[dict[str, Any]]] = []
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.nodes.flaws(session) == []
        assert [one.message for one in store.history(session)] == said
        assert len(made) == 2  # who came second went on with what the first had published


def test_a_store_that_cannot_be_written_says_so_and_loses_nothing(tmp_path: Path) -> None:
    said = turns(30, 60)
    with open_store(tmp_path / "my.db") as store:
        engine = LosslessEngine(8_000, store)
        engine.on_session_start("s")
        engine.compress(said)
        with failing_at(store.database, 1), pytest.raises(InterruptedError):
            engine.compress([*said, *turns(10, 60, start=30)])
        engine.compress([*said, *turns(10, 60, start=30)])
        assert rows_of(engine) == turns(40, 60)
        assert proof(engine) == []

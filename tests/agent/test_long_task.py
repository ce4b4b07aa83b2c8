"""A person at a real terminal, a coding task far beyond the window, and everything that can come in between."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from clew.runtime.conversation import INTERRUPTED
from clew.store.address import open_store
from clew.testing import ProviderSimulator
from tests.agent import first_day, tmux
from tests.agent.coder import Coder, answer, call, overflow, patched, steps
from tests.agent.sent import unmarked
from tests.agent.tmux import Terminal

WINDOW = 32_000


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_two_hundred_calls_over_a_small_window_with_all_that_can_come_in_between(tmp_path: Path, project: Path) -> None:
    tmux.needed()
    coder = long_task()
    with ProviderSimulator(replies=coder, window=WINDOW, key="sk-test-1234567890") as simulator:
        environment = surroundings(tmp_path, simulator)
        with Terminal(project, environment) as terminal:
            drive(terminal)
            screen = terminal.screen(whole=True)
    requests = [asked for asked in simulator.requests if asked.prompt.tools]
    assert coder.calls >= 200
    check_files(project)
    with open_store(tmp_path / "home" / "store.db") as store:
        (conversation,) = store.conversations()
        compactions = conversation.sessions - 1
        assert compactions >= 5
        check_books(store.spent()[0], simulator, screen)
    assert [asked.status for asked in simulator.requests if asked.status != 200] == [400], "the overflow and no other"
    check_growth(requests, compactions)
    assert any(
        "the layout of the tables" in asked.prompt.messages[0].text
        for asked in simulator.requests
        if not asked.prompt.tools
    )
    assert {asked.prompt.model for asked in requests} == {"claude-sonnet-4-5", "claude-haiku-4-5"}


def test_the_first_day(tmp_path: Path, project: Path) -> None:
    tmux.needed()
    first_day.project(project)
    with ProviderSimulator(replies=first_day.model(), window=WINDOW, key="sk-test-1234567890") as simulator:
        with Terminal(project, surroundings(tmp_path, simulator)) as terminal:
            first_day.drive(terminal)
            screen = terminal.screen(whole=True)
        newest = simulator.requests[-1].prompt
    assert "(1 - rebate)" in (project / "totals.py").read_text()
    assert newest.messages[0].text == "check.py fails. Find out why and mend it."
    with open_store(tmp_path / "home" / "store.db") as store:
        check_books(store.spent()[0], simulator, screen)


def long_task() -> Coder:
    """224 calls, an overflow in the midst of them, and a command that will be killed."""
    return Coder(
        steps(0, 14),
        steps(14, 28),
        overflow(WINDOW - 4_000),
        steps(28, 42),
        iter([call("terminal", command="echo ran >> runs.txt; sleep 60")]),
        steps(42, 56),
    )


def surroundings(tmp_path: Path, simulator: ProviderSimulator) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    known = {name: {"window": WINDOW} for name in ("claude-sonnet-4-5", "claude-haiku-4-5")}
    known["claude-haiku-4-5"]["window"] = 24_000
    (home / "models.json").write_text(json.dumps({"models": known}))
    return {
        "CLEW_HOME": str(home),
        "CLEW_MODEL_PROVIDER": "anthropic",
        "CLEW_MODEL_BASE_URL": simulator.url,
        "ANTHROPIC_API_KEY": "sk-test-1234567890",
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
    }


def drive(terminal: Terminal) -> None:
    """What the person does."""
    terminal.type("clew chat --yes --model claude-sonnet-4-5")
    terminal.wait("/help")
    terminal.type("Write the tables 0 to 13 under tables/, patch each so that it adds up its rows, and run it.")
    terminal.wait("Tables 0 to 13 are done.", seconds=120)
    terminal.type("/compress the layout of the tables")
    terminal.wait("compacted", seconds=30)
    terminal.type("Now 14 to 27.")
    terminal.wait("Tables 14 to 27 are done.", seconds=120)
    terminal.type("And 28 to 41, please.")
    terminal.wait("Tables 28 to 41 are done.", seconds=120)
    terminal.type("/model claude-haiku-4-5")
    terminal.wait("24,000")
    terminal.type("Run the long check.")
    terminal.wait("sleep 60")
    terminal.kill("clew chat")
    terminal.wait("Killed")
    terminal.type("clew chat --yes --resume --model claude-haiku-4-5")
    terminal.wait("/help", times=2)
    terminal.type("Go on with 42 to 55.")
    terminal.wait("Tables 42 to 55 are done.", seconds=120)
    terminal.type("/quit")
    terminal.wait("--resume", times=2)


def check_files(project: Path) -> None:
    for number in range(56):
        assert (project / "tables" / f"table_{number}.py").read_text() == patched(number)
    assert (project / "runs.txt").read_text() == "ran\n", "what was killed did not run again"


def check_books(spent: Any, simulator: ProviderSimulator, screen: str) -> None:
    wanted = [asked.usage for asked in simulator.requests if asked.usage]
    for bucket in ("input", "output", "cache_read", "cache_write"):
        total = sum(getattr(usage, bucket) for usage in wanted)
        assert getattr(spent.usage, bucket) == total, bucket
        assert f"{total:,}" in screen, f"the summary at the end tells {bucket}"


def check_growth(requests: list[Any], compactions: int) -> None:
    """Each request extends the one before, unless a compaction stands between."""
    bodies = [json.dumps(unmarked(json.loads(asked.raw)["messages"]))[:-1] for asked in requests]
    assert sum(not after.startswith(before) for before, after in pairwise(bodies)) == compactions
    told = [said.text for asked in requests for said in asked.prompt.messages if said.is_result]
    assert any(str(answer(3)) in text for text in told)
    assert any(INTERRUPTED in text for text in told)

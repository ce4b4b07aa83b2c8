"""The first day with clew, as a script: a small bug is found and mended, and taken up again on the next day."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.agent.coder import Coder, Step, call
from tests.agent.tmux import Terminal

BROKEN = """\
def total(prices: list[float], *, rebate: float = 0.0) -> float:
    return sum(prices) * (1 + rebate)
"""
TEST = """\
from totals import total

assert total([10.0, 20.0]) == 30.0
assert total([10.0, 20.0], rebate=0.1) == 27.0, total([10.0, 20.0], rebate=0.1)
print("all is well")
"""
REPORT = """\
The sign was wrong: `total` added the rebate instead of taking it off (totals.py, line 2).
It is mended, and both checks pass now."""


def project(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "totals.py").write_text(BROKEN)
    (folder / "check.py").write_text(TEST)


def model() -> Coder:
    return Coder(_finds_it(), iter(["One line: `total` in totals.py now takes the rebate off. check.py passes."]))


def _finds_it() -> Iterator[Step]:
    yield {"thinking": "The check first, then the code.", **call("terminal", command="python check.py")}
    yield call("read_file", path="totals.py")
    yield call("patch", path="totals.py", old="(1 + rebate)", new="(1 - rebate)")
    yield call("terminal", command="python check.py")
    yield REPORT


def drive(terminal: Terminal) -> None:
    """What the person does."""
    terminal.type("clew chat")
    terminal.wait("/help")
    terminal.type("check.py fails. Find out why and mend it.")
    terminal.wait("y once")
    terminal.press("a")
    terminal.wait("patch: totals.py")
    terminal.wait("y once · a always")
    terminal.press("y")
    terminal.wait("both checks pass now", seconds=30)
    terminal.type("/context")
    terminal.wait("trigger")
    terminal.type("/search rebate")
    terminal.wait("messages")
    terminal.type("/quit")
    terminal.wait("project $", times=2)
    terminal.type("# the next day")
    terminal.wait("project $", times=3)
    terminal.type("clew chat --resume")
    terminal.wait("/help", times=2)
    terminal.type("What did we do here, in one line?")
    terminal.wait("takes the rebate off")
    terminal.type("/usage")
    terminal.wait("= prompt")
    terminal.type("/quit")
    terminal.wait("go on with", times=2)

"""A scripted model that does a long coding task by the book: the right calls, whatever has left its window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clew.facts.exchange import Failure, Prompt, PromptTooLong

SUMMARY = """## Active Task
Write the modules of the batch at hand.

## Goal
A package of small modules, each with a function that is patched and run.

## Remaining Work
The modules that are not written yet."""


def module(number: int) -> str:
    """A module as it is first written."""
    rows = "\n".join(f'    "key_{number}_{row}": {number * 1_000 + row * 7},  # row {row}' for row in range(36))
    table = f'"""Table number {number}."""\n\nROWS = {{\n{rows}\n}}\n'
    return f"{table}\n\ndef total() -> int:\n    return 0\n\n\nprint(total())\n"


def patched(number: int) -> str:
    """The same as it has to be in the end."""
    return module(number).replace("return 0", "return sum(ROWS.values())")


def answer(number: int) -> int:
    return sum(number * 1_000 + row * 7 for row in range(36))


Step = dict[str, Any] | str | Failure


def steps(first: int, last: int) -> Iterator[Step]:
    """Four calls for each module; what they have shown by then is looked at in between."""
    for number in range(first, last):
        path = f"tables/table_{number}.py"
        yield call("write_file", path=path, content=module(number))
        yield call("read_file", path=path)
        yield call("patch", path=path, old="    return 0\n", new="    return sum(ROWS.values())\n")
        yield call("terminal", command=f"python {path}")
    yield f"Tables {first} to {last - 1} are done."


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


class Coder:
    """Says the next step to whoever comes with tools, and a summary to whoever comes without."""

    def __init__(self, *parts: Iterator[Step]) -> None:
        self._steps = [step for part in parts for step in part]
        self.said = 0
        self.calls = 0

    def __call__(self, prompt: Prompt) -> Step:
        if not prompt.tools:
            return SUMMARY
        step = self._steps[self.said]
        self.said += 1
        self.calls += isinstance(step, dict)
        return step


def overflow(limit: int) -> Iterator[Step]:
    yield PromptTooLong(
        limit=limit, used=limit + 1_234, why=f"prompt is too long: {limit + 1_234} tokens > {limit} maximum"
    )

"""What fills the window, by kind, and where are its marks?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from clew.core.ports import Setup
from clew.core.speaker import is_clews_own
from clew.core.weigh import weigh
from clew.facts.budget import Budget, share_out
from clew.facts.session import Session
from clew.screen.amounts import bar, percents, shares_of
from clew.screen.layout import say

BAR = 24
"""Columns of the longest bar of a kind."""
BESIDE = 26
"""Columns of what stands before it."""
LINE = 60
"""Columns of the line that is the whole window, where there is room."""
KINDS = ("system", "tools", "summary", "you", "model", "results")


@dataclass(frozen=True, slots=True)
class Filling:
    """Tokens of the next prompt, and how we know them."""

    budget: Budget
    tokens: int
    observed: bool
    """True: rests on the provider's own count. False: an estimate alone."""
    parts: Sequence[tuple[str, int]]
    """By kind; together they are `tokens`."""

    @property
    def window(self) -> int:
        return self.budget.window

    @property
    def known(self) -> str:
        return "observed" if self.observed else "estimated"


def filling(session: Session, setup: Setup, factor: float = 1.0) -> Filling:
    counted = dict.fromkeys(KINDS, 0) | {"system": setup.system_tokens, "tools": setup.tools_tokens}
    for entry in session.entries:
        said = entry.message
        kind = "results" if said.is_result else "model" if said.role == "assistant" else "you"
        counted["summary" if is_clews_own(said) else kind] += entry.tokens
    weight = weigh(session, setup, factor)
    there = [(kind, tokens) for kind, tokens in counted.items() if tokens]
    parts = zip((kind for kind, _ in there), shares_of(weight.tokens, [tokens for _, tokens in there]), strict=True)
    budget = share_out(setup.model.window, setup.policy, system=setup.system_tokens, tools=setup.tools_tokens)
    return Filling(budget, weight.tokens, weight.observed, list(parts))


def show(console: Console, found: Filling) -> None:
    """The sum, the window as one line with its marks, then the kinds."""
    share = found.tokens / found.window
    say(console, f"{found.tokens:,} of {found.window:,} tokens ({share:.0%}, {found.known})")
    for line in window_line(found, min(LINE, console.width)):
        say(console, line)
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column(no_wrap=True, overflow="crop")
    most = max((tokens for _, tokens in found.parts), default=1)
    percent = percents([tokens for _, tokens in found.parts])
    for (kind, tokens), part in zip(found.parts, percent, strict=True):
        table.add_row(kind, f"{tokens:,}", part, bar(tokens, most, min(BAR, console.width - BESIDE)))
    console.print(table)
    budget = found.budget
    marks = (("soft mark", budget.soft), ("trigger", budget.trigger), ("hard mark", budget.hard))
    told = " · ".join(f"{sign} {name} {tokens:,}" for sign, (name, tokens) in zip("┊│┃", marks, strict=True))
    say(console, Text(told, style="dim"))


def window_line(found: Filling, width: int) -> list[str]:
    """The window from end to end: what is full, and where a summary is prepared, is due, is waited for."""
    budget = found.budget
    cells = ["█" if n < round(width * found.tokens / found.window) else "░" for n in range(width)]
    for sign, tokens in (("┊", budget.soft), ("│", budget.trigger), ("┃", budget.hard)):
        cells[min(width - 1, width * tokens // found.window)] = sign
    return ["".join(cells)]

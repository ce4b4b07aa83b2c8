"""How do lines and tables stand in a terminal of 80 columns, and in a pipe?"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

NARROW = 60
"""Columns below which a table shows only what matters most."""


def console(*, stderr: bool = False) -> Console:
    """A console that takes text literally: brackets in a conversation are not markup."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def drawn(draw: Callable[[Console], None]) -> str:
    """What is drawn, as text for stderr: coloured and as wide as it is where a person looks, plain elsewhere."""
    page = console(stderr=True)
    with page.capture() as taken:
        draw(page)
    return "\n".join(line.rstrip() for line in taken.get().strip("\n").split("\n"))


def say(console: Console, line: str | Text) -> None:
    """A line as it is: broken by the terminal, if at all, so that a pipe's reader finds it whole."""
    console.print(line, soft_wrap=True)


def grid(*headers: str, right: int = 1, tight: bool = False) -> Table:
    """A table of numbers: columns from `right` on stand right. `tight` leaves more room for words."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0) if tight else (0, 1))
    for number, header in enumerate(headers):
        is_number = number >= right
        table.add_column(header, justify="right" if is_number else "left", no_wrap=is_number)  # names give way
    return table


def facts(rows: Iterable[tuple[str, str | Text]]) -> Table:
    """What is known about one thing: dim names, plain values."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows:
        table.add_row(name, value)
    return table


def in_one_line(text: str, style: str = "") -> Text:
    """A text that gives way with an ellipsis where there is no room for it."""
    return Text(text, style=style, overflow="ellipsis", no_wrap=True)

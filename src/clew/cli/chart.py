"""How does the window fill and empty over time, drawn in characters?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from clew.runtime.replay import Replayed

HEIGHT = 10  # rows up to the window's line
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def draw(replayed: Replayed, *, width: int) -> list[str]:
    """One column for one or more model calls (the heaviest counts), a line at the trigger and one at the window."""
    if not replayed.points:
        return []
    labels = [f"{replayed.window:,}", f"{replayed.trigger:,}", "0"]
    margin = max(map(len, labels)) + 1
    columns = _columns([point.prompt for point in replayed.points], max(width - margin - 1, 10))
    top = max(replayed.window, *columns)
    at_window, at_trigger = _row(replayed.window, top), _row(replayed.trigger, top)
    names = {at_window: labels[0], at_trigger: labels[1]}
    rows = []
    for row in range(max(at_window, _row(top, top)), 0, -1):
        line = "┄" if row in names else " "
        cells = "".join(_cell(value, row, top, line) for value in columns)
        rows.append(f"{names.get(row, ''):>{margin - 1}} {cells}")
    rows.append(f"{labels[2]:>{margin - 1}} {_marks(replayed, len(columns))}")
    return [row.rstrip() for row in rows]


def _columns(values: Sequence[int], most: int) -> list[int]:
    """The values in at most that many columns, each the largest of its share."""
    count = min(len(values), most)
    edges = [len(values) * number // count for number in range(count + 1)]
    return [max(values[start:end]) for start, end in pairwise(edges)]


def _row(value: int, top: int) -> int:
    """The row, from 1 at the bottom, in which a value's level lies."""
    return max(1, -(-value * HEIGHT // top))


def _cell(value: int, row: int, top: int, empty: str) -> str:
    eighths = round(value * HEIGHT * 8 / top) - (row - 1) * 8
    return empty if eighths <= 0 else _EIGHTHS[min(eighths, 8)]


def _marks(replayed: Replayed, columns: int) -> str:
    """The axis, with a mark under each column whose calls a compaction made room for."""
    calls = len(replayed.points)
    marked = {-(-(event.call + 1) * columns // calls) - 1 for event in replayed.events}  # the column of `_columns`
    return "".join("▲" if column in marked else "─" for column in range(columns))

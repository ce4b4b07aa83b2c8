"""Which of these? Arrow keys, Enter, Esc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from prompt_toolkit import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl

Row: TypeAlias = tuple[str, str, str]
"""Key, label, detail."""
SHOWN = 12
"""Rows on the screen at once."""


def pick(title: str, rows: Sequence[Row], chosen: str | None = None) -> str | None:
    """The key of the row that a person picks; None when they leave it."""
    return picker(title, rows, chosen).run()


def picker(title: str, rows: Sequence[Row], chosen: str | None = None, **terminal: Any) -> Application[str | None]:
    """The same as something that can be awaited: `await picker(...).run_async()`. `terminal` is for tests."""
    at = next((number for number, row in enumerate(rows) if row[0] == chosen), 0)
    keys = KeyBindings()

    def go(*names: str, by: int) -> None:
        @keys.add(names[0])
        @keys.add(names[1])
        def _(event: KeyPressEvent) -> None:  # noqa: ARG001
            nonlocal at
            at = max(0, min(at + by, len(rows) - 1))

    go("up", "k", by=-1)
    go("down", "j", by=1)
    go("pageup", "home", by=-SHOWN)
    go("pagedown", "end", by=SHOWN)

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=rows[at][0] if rows else None)

    @keys.add("escape", eager=True)
    @keys.add("q")
    @keys.add("c-c")
    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    control = FormattedTextControl(lambda: _drawn(title, rows, at, chosen), focusable=True, show_cursor=False)
    window = Window(control, dont_extend_height=True, wrap_lines=False)
    return Application(Layout(window), key_bindings=keys, erase_when_done=True, **terminal)


def _drawn(title: str, rows: Sequence[Row], at: int, chosen: str | None) -> StyleAndTextTuples:
    first = max(0, min(at - SHOWN // 2, len(rows) - SHOWN))
    wide = max((len(label) for _, label, _ in rows), default=0)
    lines: StyleAndTextTuples = [("bold", f"{title}\n")]
    for number, (key, label, detail) in list(enumerate(rows))[first : first + SHOWN]:
        style = "reverse" if number == at else ""
        mark = "●" if key == chosen else " "
        lines += [(style, f" {mark} {label:<{wide}} "), ("fg:ansibrightblack", f" {detail}\n")]
    below = len(rows) - first - SHOWN
    more = f", {below} more below" if below > 0 else ""
    return [*lines, ("fg:ansibrightblack", f"↑ ↓ move, Enter picks, Esc leaves{more}")]

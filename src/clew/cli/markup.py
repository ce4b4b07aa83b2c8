"""How is a page put together so that no text in it can turn into markup or show a credential?"""

from __future__ import annotations

from html import escape
from typing import TypeAlias

from clew.screen.shown import shown


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | int | Markup | None"
VOID = frozenset({"path", "line", "meta"})
"""Elements written without an end."""


def tag(name: str, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """An element. `class_` is class, `aria_label` is aria-label; None and False leave an attribute out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Markup:
    """Several children next to each other; what is not markup yet is text."""
    return Markup("".join(child if isinstance(child, Markup) else _text(child) for child in children))


def _attribute(key: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_text(value)}"'


def _text(value: str | int | None) -> str:
    return "" if value is None else escape(shown(f"{value:,}" if isinstance(value, int) else value))

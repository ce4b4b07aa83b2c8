"""How odd values are read and named in a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Problems = Iterator[str]
"""Sentences, each about one thing that is wrong."""

NOT_JSON = object()


def parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return NOT_JSON


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is Python's, not JSON's")


def word(holder: Any, key: str) -> str:
    value = holder.get(key) if isinstance(holder, Mapping) else None
    return value if isinstance(value, str) else ""


def named(value: Any) -> str:
    """A name or id as it may stand in a sentence, however long or odd it is."""
    shown = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return shown if len(shown) <= 80 else shown[:77] + "…" + shown[-1]

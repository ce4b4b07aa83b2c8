"""What does a field come to that arrives in fragments?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_GROWING = frozenset({"text", "summary", "data", "transcript"})
"""Texts of OpenRouter's reasoning_details and OpenAI's audio that come bit by bit; all others are said whole."""


def merged(before: Any, value: Any) -> Any:
    """The fragments' sum: lists grow, or grow at the index an item names; objects are filled in.

    >>> merged([{"index": 0, "text": "Let me"}], [{"index": 0, "text": " see"}])
    [{'index': 0, 'text': 'Let me see'}]
    """
    if before is None or value is None:
        return before if value is None else value
    if isinstance(before, list) and isinstance(value, list):
        return _merged_items(before, value)
    if isinstance(before, Mapping) and isinstance(value, Mapping):
        return {**before, **{key: _grown(before, key, value[key]) for key in value}}
    return value


def _merged_items(before: list[Any], items: list[Any]) -> list[Any]:
    whole = list(before)
    for item in items:
        index = _index(item)
        known = [place for place, other in enumerate(whole) if _index(other) == index] if index is not None else ()
        if known:
            whole[known[0]] = merged(whole[known[0]], item)
        else:
            whole.append(item)
    return whole


def _index(item: Any) -> Any:
    return item.get("index") if isinstance(item, Mapping) else None


def _grown(before: Mapping[str, Any], key: str, value: Any) -> Any:
    # The arguments of the legacy function_call grow; of Groq's executed_tools, which have an index, they are repeated.
    grows = key in _GROWING or (key == "arguments" and "index" not in before)
    if grows and isinstance(value, str) and isinstance(before.get(key), str):
        return before[key] + value
    return merged(before.get(key), value)

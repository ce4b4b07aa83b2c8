"""What has the model thought so far, while its reasoning item is not yet done?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.wire.responses.kinds import kind_of

_HELD_IN = {
    "response.reasoning_text.delta": ("content", "content_index", "reasoning_text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_index", "summary_text"),
}
"""Event → the list of the item that it makes longer, its place in that list, and the type of the part there."""


class Thoughts:
    """Reasoning items under way, by their place in the output."""

    def __init__(self) -> None:
        self._items: dict[int, dict[str, Any]] = {}

    def feed(self, kind: str, told: Mapping[str, Any], place: int) -> None:
        if kind == "response.output_item.added" and kind_of(told.get("item")) == "reasoning":
            self._items[place] = dict(told["item"])
        elif kind in _HELD_IN and place in self._items and isinstance(told.get("delta"), str):
            field, index, part = _HELD_IN[kind]
            self._grow(self._items[place], field, told.get(index), {"type": part, "text": told["delta"]})

    def before(self, place: int) -> dict[int, dict[str, Any]]:
        """Those that stand before this place, each handed out once: OpenRouter ends a thought after the answer it led
        to, yet a thought belongs before that."""
        return {at: self._items.pop(at) for at in sorted(self._items) if at < place}

    def done(self, place: int) -> None:
        self._items.pop(place, None)

    def _grow(self, item: dict[str, Any], field: str, index: Any, part: dict[str, Any]) -> None:
        parts = list(item.get(field) or ())
        if isinstance(index, int) and 0 <= index < len(parts):
            parts[index] = {**parts[index], "text": str(parts[index].get("text") or "") + part["text"]}
        else:
            parts.append(part)
        item[field] = parts

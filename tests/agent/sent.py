"""What was sent, as a provider compares it with what it was sent before."""

from __future__ import annotations

from typing import Any


def unmarked(value: Any) -> Any:
    """Without cache points, which move and are no part of what a provider compares."""
    if isinstance(value, dict):
        return {key: unmarked(inner) for key, inner in value.items() if key != "cache_control"}
    return [unmarked(inner) for inner in value] if isinstance(value, list) else value

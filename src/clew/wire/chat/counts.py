"""What a call used, as chat tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.facts.usage import Usage


def spell_usage(usage: Usage) -> dict[str, Any]:
    """The provider's own object where it is of this shape; else the same numbers, with the cached ones inside the
    prompt's."""
    if isinstance(usage.raw, Mapping) and "prompt_tokens" in usage.raw:
        return dict(usage.raw)
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }

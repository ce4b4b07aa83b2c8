"""Which models does the simulated provider list?"""

from __future__ import annotations

from typing import Any

from clew.testing.simulator.limits import Limits
from clew.testing.simulator.providers import Provider

SINCE = 1_762_000_000
"""When every model came out, in seconds since 1970."""


def listed_models(names: tuple[str, ...], provider: Provider, limits: Limits, *, anthropic: bool) -> dict[str, Any]:
    """The list, with the window where this provider tells it."""
    told = {provider.window_field: limits.window} if provider.window_field else {}
    if anthropic:
        made = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2025-11-01T12:26:40Z", **told}
            for name in names
        ]
        return {"data": made, "has_more": False, "first_id": names[0], "last_id": names[-1]}
    made = [{"id": name, "object": "model", "created": SINCE, "owned_by": provider.name, **told} for name in names]
    return {"object": "list", "data": made}

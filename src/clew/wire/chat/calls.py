"""Calls as they should have been spelled: providers leave out ids, types and arguments, or send arguments unquoted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

NO_ARGUMENTS = "{}"
"""OpenAI's spelling; others leave them out or send "", which is no JSON and is refused when it is sent back."""


def mended(calls: Any) -> Any:
    """A reply's calls with all that a call needs. What is no list of calls stays what it is."""
    if not isinstance(calls, list) or not all(isinstance(call, Mapping) for call in calls):
        return calls
    return [_mended(call, place) for place, call in enumerate(calls)]


def _mended(call: Mapping[str, Any], place: int) -> dict[str, Any]:
    whole = {**call, "id": call.get("id") or invented_id(place)}
    function = call.get("function")
    if isinstance(function, Mapping) and call.get("type") != "custom":
        whole["type"] = call.get("type") or "function"
        whole["function"] = {**function, "arguments": arguments_in(function.get("arguments")) or NO_ARGUMENTS}
    return whole


def invented_id(place: int) -> str:
    """The id of a call that came without one: results are matched by it."""
    return f"call_{place}"


def arguments_in(value: Any) -> str:
    """Arguments as the text they should be."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)

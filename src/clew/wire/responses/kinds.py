"""Whose is an item of the Responses API: said by the model, answered by the client, or there for its own sake?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RESPONSES = "responses"
"""The key under which messages, calls and tools keep what only this dialect spells."""

ANSWERS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
    "tool_search_call": "tool_search_output",
}
"""Calls the client carries out, and the item that answers each. Other calls the provider carries out itself."""

OF_THE_CLIENT = frozenset(
    {"item_reference", "additional_tools", "compaction_trigger", "configuration_update", "mcp_approval_response"}
)
"""Items that no model makes: each is a message of its own."""

WRAPPED = "responses_output"
"""The part that holds an item which would be taken for something else if it stood in the content as it is."""

_KNOWN = OF_THE_CLIENT | {"reasoning", "mcp_list_tools", "mcp_approval_request", "program"}
_ENDINGS = ("_call", "_output")

THOUGHTS = frozenset({"thinking", "redacted_thinking"})
"""Thinking of other providers, of no use to this one."""


def kind_of(item: Any) -> str:
    """The type of an item or part; empty where it says none."""
    kind = item.get("type") if isinstance(item, Mapping) else None
    return kind if isinstance(kind, str) else ""


def role_of(item: Mapping[str, Any]) -> str:
    role = item.get("role")
    return role if isinstance(role, str) else ""


def is_message(item: Mapping[str, Any]) -> bool:
    """Whether it is a message: the short form has a role and no type."""
    return kind_of(item) == "message" or ("type" not in item and "role" in item)


def is_asked(item: Mapping[str, Any]) -> bool:
    """Whether it is a call that waits for the client, in a form that can be told as one."""
    kind = kind_of(item)
    if kind not in ANSWERS or not _is_word(item.get("call_id")):
        return False
    if kind == "function_call":
        return _is_word(item.get("name")) and isinstance(item.get("arguments"), str)
    if kind == "custom_tool_call":
        return _is_word(item.get("name")) and isinstance(item.get("input"), str)
    runs_in = item.get("environment")
    is_hosted = isinstance(runs_in, Mapping) and str(runs_in.get("type")).startswith("container")
    return not is_hosted and item.get("execution") != "server"


def part_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a message's content that stands for this item."""
    return dict(item) if is_item(item) and kind_of(item) != WRAPPED else {"type": WRAPPED, "item": dict(item)}


def item_in(part: Mapping[str, Any]) -> dict[str, Any]:
    """The item that a part stands for: the inverse of `part_of`."""
    held = part.get("item")
    return dict(held) if kind_of(part) == WRAPPED and isinstance(held, Mapping) else dict(part)


def is_item(part: Any) -> bool:
    """Whether a part of a message's content is an item of this API. Anthropic has a `compaction` too, in the clear."""
    kind = kind_of(part)
    return kind in _KNOWN or kind.endswith(_ENDINGS) or (kind == "compaction" and "encrypted_content" in part)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value)

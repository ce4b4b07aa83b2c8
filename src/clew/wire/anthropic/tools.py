"""How does Anthropic spell the tools a prompt offers?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.wire.anthropic.blocks import OWN, own_of

_TOOLS_ELSEWHERE = frozenset(
    """
    function custom web_search web_search_preview web_search_preview_2025_03_11 file_search code_interpreter
    image_generation computer computer_use_preview local_shell shell apply_patch mcp namespace tool_search
    """.split()
)
"""Kinds that a provider of another dialect runs itself. Anthropic's own are dated, as in bash_20250124."""
_SPELLED = {"name": "name", "description": "description", "input_schema": "parameters", "strict": "strict"}
"""Anthropic's fields → those of chat's function."""


def read_tool(tool: Any) -> Mapping[str, Any]:
    """A tool with a schema as chat spells it; one of Anthropic's own as it came."""
    if not isinstance(tool, Mapping) or "input_schema" not in tool:
        return dict(tool) if isinstance(tool, Mapping) else {"name": str(tool)}
    function = {chat: tool[own] for own, chat in _SPELLED.items() if own in tool}
    rest = {key: value for key, value in tool.items() if key not in _SPELLED}
    read: dict[str, Any] = {"type": "function", "function": function}
    if "cache_control" in rest:
        read["cache_control"] = rest.pop("cache_control")
    return {**read, OWN: rest} if rest else read


def spell_tool(tool: Mapping[str, Any]) -> dict[str, Any] | None:
    """The tool as the API takes it; None for one that another provider runs itself."""
    function = tool.get("function")
    if tool.get("type") == "function" and isinstance(function, Mapping):
        made = {own: function[chat] for own, chat in _SPELLED.items() if function.get(chat) is not None}
        marks = {"cache_control": tool["cache_control"]} if "cache_control" in tool else {}
        return {"input_schema": {"type": "object", "properties": {}}, **own_of(tool), **made, **marks}
    if str(tool.get("type")) in _TOOLS_ELSEWHERE and "input_schema" not in tool:
        return None
    return dict(tool)

"""Whose is a part of a message: chat's own, another dialect's, or a thought that only its maker can use?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clew.wire.content import PLACE

OTHERS = ("anthropic", "responses")
"""Keys under which other dialects keep what only they spell."""

_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_FOREIGN = frozenset(
    {
        # Anthropic's blocks
        "document", "image", "search_result", "container_upload", "compaction", "fallback", "tool_reference",
        "tool_addition", "tool_removal", "mcp_tool_listing",
        # items of Responses
        "message", "item_reference", "additional_tools", "compaction_trigger", "configuration_update", "mcp_list_tools",
        "mcp_approval_request", "mcp_approval_response", "program", "input_image", "input_file", "computer_screenshot",
    }
)  # fmt: skip
_FOREIGN_ENDINGS = ("_tool_use", "_tool_result", "tool_result", "_call", "_output")
"""server_tool_use, web_search_tool_result, image_generation_call, local_shell_call_output …"""

_ANTHROPIC_TOOL = re.compile(r"_20\d{6}$|^mcp_toolset$")
"""web_search_20250305, bash_20250124 …: Anthropic dates the tools it runs."""
_RESPONSES_TOOLS = frozenset(
    "web_search_preview file_search computer computer_use_preview image_generation local_shell shell apply_patch mcp "
    "namespace tool_search".split()
)


def without_others(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A message, part, call or tool without what other dialects keep in it for themselves."""
    return {key: value for key, value in raw.items() if key not in OTHERS}


def kind_of(part: Any) -> str:
    """The type of a part; a bare text, or one without a type, is text. Empty for what is no part at all."""
    kind = part.get("type", "text") if isinstance(part, Mapping) else "text" if isinstance(part, str) else ""
    return kind if isinstance(kind, str) else ""


def is_place(part: Any) -> bool:
    """Whether it only marks where a call stood."""
    return kind_of(part) == PLACE


def is_thought(part: Any) -> bool:
    """Thinking of another provider, of use to that one alone.

    Mistral speaks chat and thinks in its content: there `thinking` holds a list of texts, Anthropic's is one text.
    """
    return kind_of(part) in _THOUGHTS and not isinstance(part.get("thinking"), list)


def is_foreign(part: Any) -> bool:
    """Whether another dialect made it. A part of a kind that nobody here knows is taken for one of chat's."""
    kind = kind_of(part)
    return kind in _FOREIGN or kind.endswith(_FOREIGN_ENDINGS) or is_thought(part) or is_place(part)


def is_foreign_tool(tool: Mapping[str, Any]) -> bool:
    """Whether only another dialect's provider can run it; chat would refuse the whole request for it.

    Groq has a `code_interpreter` and z.ai a `web_search` in chat; those of Responses are told by what they hold.
    """
    kind = kind_of(tool)
    responses = kind in _RESPONSES_TOOLS or (kind == "web_search" and kind not in tool) or "container" in tool
    return responses or bool(_ANTHROPIC_TOOL.search(kind))


def thought_in(part: Mapping[str, Any]) -> str:
    """The readable words of a thought: Anthropic's thinking, the summary or content of a Responses reasoning item."""
    said = [part.get("thinking"), *_texts(part.get("summary")), *_texts(part.get("content"))]
    return "".join(text for text in said if isinstance(text, str))


def _texts(items: Any) -> list[Any]:
    return [item.get("text") for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []

"""What is one of Anthropic's content blocks among our parts and calls, and the other way round?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from clew.facts.messages import TEXT_PARTS, ToolCall
from clew.wire.content import plain

OWN = "anthropic"
"""The key under which stands what no other dialect spells."""
THOUGHTS = frozenset({"thinking", "redacted_thinking"})

_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)
_THOUGHTS_ELSEWHERE = frozenset({"reasoning", "reasoning_text", "summary_text"})
_PARTS_ELSEWHERE = frozenset(
    {"image_url", "input_audio", "file", "input_image", "input_file", "audio", "item_reference", "mcp_list_tools"}
)
_ITEMS_ELSEWHERE = ("_call", "_call_output", "_approval_request", "_approval_response")
"""How the kinds of a Responses provider's own items end. Any other kind that clew does not know is Anthropic's."""
_MARKS_ELSEWHERE = frozenset({"chat", "responses", "prompt_cache_breakpoint"})


def part_of(block: Any) -> dict[str, Any]:
    """The part that stands for a block: itself, but for pictures that chat can spell too."""
    if not isinstance(block, Mapping):
        return plain(block if isinstance(block, str) else spelled(block))
    if block.get("type") == "image":
        part = _picture_part(block)
        if block_of(part) == block:
            return part
    return dict(block)


def block_of(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """The block that says a part. None: thoughts of another provider, which no one else can use."""
    kind = str(part.get("type", "text"))
    if kind == "text":
        return {"type": "text", **{key: value for key, value in part.items() if key not in _MARKS_ELSEWHERE}}
    if kind in TEXT_PARTS:
        return _marked(plain(str(part.get("text") or "")), part)
    if kind in _THOUGHTS_ELSEWHERE:
        return None
    if kind == "refusal":
        return plain(str(part.get("refusal") or ""))
    if kind in _PARTS_ELSEWHERE or kind.endswith(_ITEMS_ELSEWHERE):
        return _marked(_picture(part) or _document(part) or plain(spelled(part)), part)
    return dict(part)


def call_of(block: Mapping[str, Any]) -> ToolCall:
    """The call that a tool_use makes."""
    call_id, name = str(block.get("id") or ""), str(block.get("name") or "")
    arguments = spelled(block.get("input", {}))
    function = {"name": name, "arguments": arguments}
    return ToolCall(
        call_id, name, arguments, {"id": call_id, "type": "function", "function": function, **beside(block)}
    )


def beside(block: Mapping[str, Any]) -> dict[str, Any]:
    """What the dict of a call holds besides id, type and function."""
    own = {key: value for key, value in block.items() if key not in _USE}
    marks = {"cache_control": block["cache_control"]} if "cache_control" in block else {}
    return {**marks, OWN: own} if own else marks


_USE = frozenset({"type", "id", "name", "input", "cache_control"})


def use_of(call: ToolCall) -> dict[str, Any]:
    """The tool_use that makes a call."""
    said = {"id": call.id, "name": call.name, "input": input_of(call.arguments)}
    return _marked({**own_of(call.raw), "type": "tool_use", **said}, call.raw)


def input_of(arguments: str) -> dict[str, Any]:
    """Arguments as the object the API insists on; what is none is kept in one as the text it is."""
    if not arguments.strip():
        return {}
    try:
        found = json.loads(arguments, parse_constant=_refuse)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"arguments": arguments}


def own_of(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """What Anthropic alone spells of a message, a call, a prompt or a reply."""
    own = raw.get(OWN)
    return own if isinstance(own, Mapping) else {}


def spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def is_blank(block: Mapping[str, Any]) -> bool:
    """Whether this is a text without anything in it, which the API refuses."""
    return block.get("type") == "text" and not str(block.get("text") or "").strip()


def _picture_part(block: Mapping[str, Any]) -> dict[str, Any]:
    source = block.get("source")
    source = source if isinstance(source, Mapping) else {}
    inline = f"data:{source.get('media_type')};base64,{source.get('data')}"
    url = inline if source.get("type") == "base64" else source.get("url")
    return _marked({"type": "image_url", "image_url": {"url": url}}, block)


def _picture(part: Mapping[str, Any]) -> dict[str, Any] | None:
    told = part.get("image_url")
    url = told.get("url") if isinstance(told, Mapping) else told
    if not isinstance(url, str) or not url:
        return None
    return {"type": "image", "source": _inline(url) or {"type": "url", "url": url}}


def _document(part: Mapping[str, Any]) -> dict[str, Any] | None:
    file = part.get("file", part)
    data = file.get("file_data") if isinstance(file, Mapping) else None
    source = _inline(data) if isinstance(data, str) else None
    if source is None:
        return None
    named = {"title": file["filename"]} if file.get("filename") else {}
    return {"type": "document", "source": source, **named}


def _inline(url: str) -> dict[str, Any] | None:
    found = _DATA_URL.fullmatch(url)
    return {"type": "base64", "media_type": found[1], "data": found[2]} if found else None


def _marked(block: dict[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """The block with the cache point of the part it was made from."""
    return {**block, "cache_control": part["cache_control"]} if "cache_control" in part else block


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is Python's, not JSON's")

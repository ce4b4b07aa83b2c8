"""What do Anthropic content blocks become in OpenAI's format?

text → content; tool_use → tool_calls; tool_result → a tool message; thinking → reasoning_content, its text only: a
signature is good for one provider's replay and no one reads it. Images → image_url parts. A block of a kind not known
here becomes its JSON as text, so that nothing is lost without a word.
"""

import json
from typing import Any

from clew.wire.transcripts.openai import as_text
from clew.wire.transcripts.values import Message, word

CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
UNREADABLE = frozenset({"redacted_thinking"})
"""Encrypted: no one but the provider can use it."""


def is_anthropic(content: Any) -> bool:
    """Whether this content could only be Anthropic's: OpenAI's parts have other kinds."""
    return isinstance(content, list) and any(
        word(block, "type") in CALLS
        or is_result(block)
        or word(block, "type") in ("thinking", "redacted_thinking", "document", "image")
        for block in content
    )


def is_result(block: Any) -> bool:
    """tool_result, and the results of tools that ran at the provider (web_search_tool_result …)."""
    return word(block, "type").endswith("tool_result")


def from_assistant(blocks: list[Any]) -> list[Message]:
    """One assistant message, or several with results between where the provider ran tools of its own."""
    messages: list[Message] = []
    spoken: list[Any] = []
    for block in blocks:
        if is_result(block):
            messages += _said_by_assistant(spoken)
            messages.append(_result(block))
            spoken = []
        else:
            spoken.append(block)
    return messages + _said_by_assistant(spoken)


def from_user(blocks: list[Any]) -> list[Message]:
    """The results first, since they answer the message before; then what the user said."""
    messages = [_result(block) for block in blocks if is_result(block)]
    if said := _content([block for block in blocks if not is_result(block)], between="\n\n"):
        messages.append({"role": "user", "content": said})
    return messages


def _said_by_assistant(blocks: list[Any]) -> list[Message]:
    thoughts = [word(block, "thinking") for block in blocks if word(block, "type") == "thinking"]
    calls = {word(block, "id"): _call(block) for block in blocks if word(block, "type") in CALLS}
    aside = CALLS | UNREADABLE | {"thinking"}
    said = [block for block in blocks if word(block, "type") not in aside]
    content = _content(said, between="\n\n")
    if not content and not calls:
        return []  # a thought that led to no word and no call was interrupted; no provider takes it back
    message: Message = {"role": "assistant", "content": content or None}
    if calls:
        message["tool_calls"] = list(calls.values())
    if any(thoughts):
        message["reasoning_content"] = "\n\n".join(thought for thought in thoughts if thought)
    return [message]


def _call(block: dict[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(block.get("input", {}), ensure_ascii=False)
    return {
        "id": word(block, "id"),
        "type": "function",
        "function": {"name": word(block, "name"), "arguments": arguments},
    }


def _result(block: dict[str, Any]) -> Message:
    content = block.get("content")
    message: Message = {
        "role": "tool",
        "tool_call_id": word(block, "tool_use_id"),
        "content": _content(content, between="\n") if isinstance(content, list) else as_text(content or ""),
    }
    if block.get("is_error") is True:
        message["is_error"] = True
    return message


def _content(blocks: list[Any], *, between: str) -> str | list[dict[str, Any]]:
    """One text where everything is text; a list of parts where there is an image or a file."""
    parts = [_part(block) for block in blocks]
    if all(part["type"] == "text" for part in parts):
        return between.join(part["text"] for part in parts if part["text"])
    return parts


def _part(block: Any) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    source = block.get("source") if isinstance(block, dict) else None
    match word(block, "type"), word(source, "type"):
        case "text", _:
            return {"type": "text", "text": word(block, "text")}
        case "image", "base64":
            return {"type": "image_url", "image_url": {"url": _data_uri(source)}}
        case "image", "url":
            return {"type": "image_url", "image_url": {"url": word(source, "url")}}
        case "document", "base64":
            named = word(block, "title") or "document"
            return {"type": "file", "file": {"filename": named, "file_data": _data_uri(source)}}
        case "document", "text":
            return {"type": "text", "text": word(source, "data")}
        case (("image_url" | "input_audio" | "file"), _):
            return dict(block)  # already OpenAI's
    return {"type": "text", "text": as_text(block)}


def _data_uri(source: Any) -> str:
    return f"data:{word(source, 'media_type')};base64,{word(source, 'data')}"

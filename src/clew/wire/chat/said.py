"""What does a client that speaks chat get to see of a reply, whatever dialect it came from?"""

from __future__ import annotations

from typing import Any

from clew.facts.messages import Message
from clew.wire.chat.parts import is_foreign, is_thought, kind_of, thought_in, without_others

THOUGHT = "reasoning_content"
"""The field in which most who speak chat tell what the model thought."""
_FIELDS = frozenset({"text", "refusal"})


def spell_said(message: Message) -> dict[str, Any]:
    """The message of a reply. Chat's replies say one text, not a list: texts are joined, thoughts and refusals go into
    fields of their own. Another provider's blocks are left out, for what stands in the content is shown to people."""
    raw = without_others(message.raw)
    if isinstance(raw.get("tool_calls"), list):
        raw["tool_calls"] = [without_others(call.raw) for call in message.calls]
    content = raw.get("content")
    if isinstance(content, list) and all(is_told(part) for part in content):
        raw["content"] = None
        for field, text in map(said_by, content):
            if text:
                raw[field] = (raw.get(field) or "") + text
    return raw


def is_told(part: Any) -> bool:
    """Whether a part is told in the fields of a message. A part of a kind that only chat has is told as it is."""
    return kind_of(part) in _FIELDS or is_foreign(part)


def said_by(part: Any) -> tuple[str, str]:
    """The field of a reply's message in which a part is told, and what it says there; nothing for a block that another
    provider made for itself."""
    kind = kind_of(part)
    if is_thought(part):
        return THOUGHT, thought_in(part)
    if kind == "refusal":
        return "refusal", str(part.get("refusal") or "")
    if kind == "text":
        return "content", part if isinstance(part, str) else str(part.get("text") or "")
    return "", ""

"""How are messages spelled for a provider that speaks chat, whatever dialect they came from?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from clew.facts.messages import Message
from clew.wire.chat.parts import OTHERS, is_foreign, is_place, is_thought, kind_of, without_others
from clew.wire.content import as_content, plain

SPEAKS_WITHOUT_CONTENT = ("tool_calls", "function_call", "refusal", "audio")
"""Fields with which an assistant's message needs no content."""
CITATIONS = "citations"
"""Where Anthropic's text parts name their sources."""


def spell_messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """The messages in chat's form. Each depends on itself and its neighbours alone, so a longer history begins as the
    shorter one did, and what a provider has cached stays good."""
    spelled: list[dict[str, Any]] = []
    aside: list[Any] = []  # what the results of the run we are in may not hold
    for message in messages:
        if aside and not message.is_result:
            spelled.append({"role": "user", "content": aside})
            aside = []
        raw = _spell(message)
        if raw is None:
            continue
        if message.role == "tool" and isinstance(raw.get("content"), list):
            raw["content"], moved = _only_text(raw["content"], message.call_id)
            aside = [*aside, *moved]
        spelled.append(raw)
    return [*spelled, {"role": "user", "content": aside}] if aside else spelled


def _spell(message: Message) -> dict[str, Any] | None:
    """One message without what other dialects keep in it. None: nothing is left that chat could say."""
    raw = without_others(message.raw)
    content = raw.get("content")
    if isinstance(content, list) and any(_is_altered(part) for part in content):
        kept = (part for part in content if not is_thought(part) and not is_place(part))
        said = as_content([_spell_part(part) for part in kept])
        raw["content"] = "" if said is None and message.is_result else said  # a result may be empty, but not null
        if raw["content"] is None and not any(raw.get(key) for key in SPEAKS_WITHOUT_CONTENT):
            return None
    calls = raw.get("tool_calls")
    if isinstance(calls, list) and any(_has_any(call, *OTHERS) for call in calls):
        raw["tool_calls"] = [without_others(call) if isinstance(call, Mapping) else call for call in calls]
    return raw


def _is_altered(part: Any) -> bool:
    return is_foreign(part) or _has_any(part, *OTHERS, CITATIONS)


def _has_any(raw: Any, *keys: str) -> bool:
    return isinstance(raw, Mapping) and any(key in raw for key in keys)


def _spell_part(part: Any) -> dict[str, Any]:
    """A part as chat knows it; another dialect's is told as its JSON, so that nothing is lost without a word."""
    if not isinstance(part, Mapping):
        return plain(str(part))
    own = {key: value for key, value in without_others(part).items() if key != CITATIONS}
    if not is_foreign(part):
        return own
    return _file(part) or plain(json.dumps(own, ensure_ascii=False))


def _file(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Anthropic's document as the file that chat knows; None for a part that is none, or whose data is elsewhere."""
    match part:
        case {"type": "document", "source": {"type": "base64", "media_type": str(kind), "data": str(data)}}:
            name = part.get("title") or f"document.{kind.rpartition('/')[2]}"
            return {"type": "file", "file": {"filename": name, "file_data": f"data:{kind};base64,{data}"}}
    return None


def _only_text(content: list[Any], call_id: str) -> tuple[list[Any], list[Any]]:
    """The parts a result may hold, and those that go into a user message behind the run of results: OpenAI says "For
    tool messages, only type text is supported", while others show the model a picture there."""
    texts = [part for part in content if kind_of(part) == "text"]
    moved = [part for part in content if kind_of(part) != "text"]
    if not moved:
        return content, []
    told = plain(f"[{len(moved)} of the parts of this result: see the user message after the results]")
    return [*texts, told], [plain(f"[From the result of {call_id or 'a tool'}:]"), *moved]

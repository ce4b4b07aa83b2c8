"""How are our messages laid out in Anthropic's, so that the API takes them?"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from clew.facts.messages import Message, ToolCall
from clew.wire.anthropic.blocks import OWN, THOUGHTS, block_of, is_blank, own_of, part_of, spelled, use_of
from clew.wire.content import items_of, plain

NOTHING = "(no content)"
"""Stands where the API wants a word and there is none."""

_LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def spell_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Our messages as Anthropic's."""
    made: list[dict[str, Any]] = []
    results: list[dict[str, Any]] | None = None  # the blocks of the newest message, as long as they are results alone
    for message in messages:
        own = own_of(message.raw)
        if own.get("role") == message.role:
            made.append({"role": message.role, "content": message.raw.get("content")})
            results = None
        elif message.role == "tool":
            if results is None or own.get("apart"):
                results = []
                made.append({"role": "user", "content": results})
            results.append(_result(message))
        elif message.role == "assistant":
            if content := _said(message):
                made.append({"role": "assistant", "content": content})
                results = None
        elif results is not None and not own.get("apart"):
            results[:] = _woven(results, _blocks(_asked(message)), own.get("results_at"))
            results = None
        else:
            made.append({"role": "user", "content": _asked(message) or NOTHING})
            results = None
    return _with_an_end_to_go_on_from(made)


def _result(message: Message) -> dict[str, Any]:
    own, raw = own_of(message.raw), message.raw
    content = _content(message)
    block = {**own_of({OWN: own.get("block")}), "type": "tool_result", "tool_use_id": legal_id(message.call_id)}
    if raw.get("is_error") is True:
        block["is_error"] = True
        content = content or NOTHING  # "content cannot be empty if `is_error` is true"
    if content or not own.get("bare"):
        block["content"] = content
    if "cache_control" in raw:
        block["cache_control"] = raw["cache_control"]
    return block


def _asked(message: Message) -> Any:
    """What the user's message says: a text or blocks. What comes from no user says so: Anthropic has but two roles."""
    if message.role == "user":
        content = _content(message)
        return content if not isinstance(content, str) or content.strip() else ""
    named = f" name={message.name!r}" if message.name else ""
    return f"<{message.role}-message{named}>\n{message.text}\n</{message.role}-message>"


def _content(message: Message) -> Any:
    content = message.raw.get("content")
    if not isinstance(content, list):
        return message.text
    blocks = [block_of(part if isinstance(part, Mapping) else part_of(part)) for part in content]
    return [block for block in blocks if block is not None and not is_blank(block)]


def _blocks(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [plain(content)] if content else []


def _woven(results: list[dict[str, Any]], said: list[dict[str, Any]], places: Any) -> list[dict[str, Any]]:
    """The results, then what was said; or as a recorded body had them, where that still fits."""
    everywhere = range(len(results) + len(said))
    if not isinstance(places, list) or len(places) != len(results) or any(place not in everywhere for place in places):
        return results + said
    woven = list(said)
    for place, result in zip(places, results, strict=True):
        woven.insert(place, result)
    return woven


def _said(message: Message) -> Any:
    """The blocks of an assistant's message; nothing when the API would refuse all that is in it."""
    blocks = [block for block in reply_blocks(message) if not is_blank(block) and not _is_unsigned(block)]
    for block in blocks:
        if block["type"] == "tool_use":
            block["id"] = legal_id(block["id"])
    if own_of(message.raw).get("as_text") and len(blocks) == 1 and blocks[0] == plain(blocks[0].get("text", "")):
        return blocks[0]["text"]
    return blocks


def reply_blocks(message: Message) -> list[dict[str, Any]]:
    """What a message said and called, in order."""
    blocks = [use_of(item) if isinstance(item, ToolCall) else block_of(item) for item in items_of(message)]
    refusal, legacy = message.raw.get("refusal"), message.raw.get("function_call")
    if refusal:
        blocks.append(plain(str(refusal)))
    if legacy:  # chat's calls of old have no id that a result could name
        blocks.append(plain(spelled({"function_call": legacy})))
    return [block for block in blocks if block is not None]


def _is_unsigned(block: Mapping[str, Any]) -> bool:
    """A thought that Anthropic did not sign was made elsewhere, and is refused."""
    return block["type"] == "thinking" and not block.get("signature")


def legal_id(call_id: str) -> str:
    """The id of a call as the API takes it: the same for the call and its result, another for another id."""
    if _LEGAL_ID.fullmatch(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_ILLEGAL.sub('_', call_id)[:40]}_{digest[:12]}"


def _with_an_end_to_go_on_from(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A last message of the assistant is one the model goes on from: it may end neither in a thought nor in blanks."""
    if not made or made[-1]["role"] != "assistant":
        return made
    content = made[-1]["content"]
    if isinstance(content, str):
        return [*made[:-1], {"role": "assistant", "content": content.rstrip()}]
    blocks = list(content)
    while blocks and blocks[-1]["type"] in THOUGHTS:
        blocks.pop()
    if not blocks:
        return made[:-1]
    if blocks[-1]["type"] == "text":
        blocks[-1] = {**blocks[-1], "text": str(blocks[-1]["text"]).rstrip()}
    return [*made[:-1], {"role": "assistant", "content": blocks}]

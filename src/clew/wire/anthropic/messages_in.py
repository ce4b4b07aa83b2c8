"""Which of our messages does each of Anthropic's hold?

A user message carries the results of all calls before it, then what the user said. Here each result is a message of
its own, and so is what was said. Where a body was laid out in another way, `anthropic` in a message tells: `apart` (it
began a message of its own), `results_at` (where results stood among the blocks), `role` (a role beyond the two),
`as_text` (a reply spelled as a text, not as blocks), `bare` (a result without content), `block` (its other fields).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clew.facts.messages import BadMessages, Message, read_message
from clew.wire.anthropic.blocks import OWN, call_of, own_of, part_of
from clew.wire.content import composed, plain


def read_messages(messages: Any) -> tuple[Message, ...]:
    """Anthropic's messages as ours."""
    if not isinstance(messages, list):
        raise BadMessages(f"messages: expected a list, got {type(messages).__name__}")
    found: list[Message] = []
    only_results = False  # whether the message before held results alone, so that ours would join it
    for place, message in enumerate(messages):
        read_message(message, place)  # refuses what is no message at all
        role, content = message["role"], message.get("content")
        results = _results_in(content) if role == "user" else []
        raws = _read_user(content, results) if role == "user" else [_read_other(role, content)]
        if only_results and role == "user":
            raws[0] = _with_own(raws[0], apart=True)
        only_results = bool(results) and len(results) == len(content)
        found += [read_message(raw, place) for raw in raws]
    return tuple(found)


def _results_in(content: Any) -> list[int]:
    """Where the results stand."""
    blocks = content if isinstance(content, list) else ()
    return [at for at, block in enumerate(blocks) if isinstance(block, Mapping) and block.get("type") == "tool_result"]


def _read_user(content: Any, results: Sequence[int]) -> list[dict[str, Any]]:
    if not isinstance(content, list):
        return [{"role": "user", "content": content}]
    parts = [part_of(block) for at, block in enumerate(content) if at not in results]
    raws = [_read_result(content[at]) for at in results]
    if parts or not raws:
        only_text = bool(raws) and len(parts) == 1 and parts[0] == plain(str(parts[0].get("text") or ""))
        raws.append({"role": "user", "content": parts[0]["text"] if only_text else parts})
    if parts and list(results) != list(range(len(results))):
        raws[-1] = _with_own(raws[-1], results_at=list(results))
    return raws


def _read_result(block: Mapping[str, Any]) -> dict[str, Any]:
    content = block.get("content", "")
    said = [part_of(inner) for inner in content] if isinstance(content, list) else content
    raw: dict[str, Any] = {"role": "tool", "tool_call_id": str(block.get("tool_use_id") or ""), "content": said}
    own = {key: value for key, value in block.items() if key not in _RESULT}
    if own.get("is_error") is True:
        raw["is_error"] = own.pop("is_error")
    if "cache_control" in block:
        raw["cache_control"] = block["cache_control"]
    raw = _with_own(raw, block=own) if own else raw
    return raw if "content" in block else _with_own(raw, bare=True)


_RESULT = frozenset({"type", "tool_use_id", "content", "cache_control"})


def _read_other(role: str, content: Any) -> dict[str, Any]:
    if role != "assistant":
        return {"role": role, "content": content, OWN: {"role": role}}
    if isinstance(content, list):
        return read_reply(content).to_dict()
    return {"role": role, "content": content, **({OWN: {"as_text": True}} if content else {})}


def read_reply(blocks: Iterable[Any]) -> Message:
    """What the assistant said and called."""
    return composed([call_of(block) if _is_use(block) else part_of(block) for block in blocks])


def _is_use(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_use"


def _with_own(raw: Mapping[str, Any], **hints: Any) -> dict[str, Any]:
    return {**raw, OWN: {**own_of(raw), **hints}}

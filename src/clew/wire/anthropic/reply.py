"""How does Anthropic spell a reply?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.facts.exchange import Foreign, Reply
from clew.facts.messages import BadMessages, Message
from clew.facts.usage import Usage
from clew.wire.anthropic.blocks import OWN, own_of
from clew.wire.anthropic.messages_in import read_reply
from clew.wire.anthropic.messages_out import reply_blocks
from clew.wire.usage import normalize_usage

NO_ID = "msg_unnamed"
"""For a reply whose provider gave it no name."""
THOUGHTS_BESIDE = ("reasoning_content", "reasoning")
"""Where providers that speak chat put what the model thought."""
STANDARD = frozenset({"id", "type", "role", "model", "content", "usage"})
"""The fields of a reply that are told by values of ours; all others are kept as they are."""

_STOPS = {
    "end_turn": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "model_context_window_exceeded": "length",
}
_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


def decode_reply(body: Mapping[str, Any]) -> Reply:
    """The reply that a body holds."""
    if not isinstance(body, Mapping) or not isinstance(body.get("content"), list):
        raise BadMessages("the reply: expected an object with a list of content blocks")
    stop, foreign = read_end({key: value for key, value in body.items() if key not in STANDARD})
    return Reply(
        message=read_reply(body["content"]),
        usage=read_usage(body["usage"]) if isinstance(body.get("usage"), Mapping) else None,
        stop=stop,
        id=str(body.get("id") or ""),
        model=str(body.get("model") or ""),
        foreign=foreign,
    )


def encode_reply(reply: Reply) -> dict[str, Any]:
    """The body that holds a reply."""
    return {
        **frame(reply.id, reply.model, reply.usage),
        **spell_end(reply.stop, reply.foreign),
        "content": [*_thoughts_beside(reply.message), *reply_blocks(reply.message)],
    }


def frame(reply_id: str, model: str, usage: Usage | None) -> dict[str, Any]:
    """A reply that has not said anything yet."""
    return {
        "id": reply_id or NO_ID,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": spell_usage(usage or Usage()),
    }


def read_end(fields: Mapping[str, Any]) -> tuple[str, Foreign]:
    """Why a reply ended, in chat's words, and what these words leave out."""
    reason = fields.get("stop_reason")
    stop = _STOPS.get(str(reason), "stop")
    usual = {"stop_reason": _REASONS[stop], "stop_sequence": None}
    own = {key: value for key, value in fields.items() if key not in usual or usual[key] != value}
    return stop, {OWN: own} if own else {}


def spell_end(stop: str, foreign: Foreign) -> dict[str, Any]:
    """The fields that tell why a reply ended, and those that only Anthropic has."""
    own = own_of(foreign)
    made = {"stop_reason": _REASONS.get(stop, "end_turn"), "stop_sequence": None, **own}
    if _STOPS.get(str(made["stop_reason"]), "stop") != stop:  # it ended otherwise than when this was kept
        made["stop_reason"] = _REASONS.get(stop, "end_turn")
    return made


def read_usage(usage: Mapping[str, Any]) -> Usage:
    return normalize_usage(usage, api="anthropic")


def spell_usage(usage: Usage) -> dict[str, Any]:
    """As Anthropic reported it, where it did."""
    if _is_own_usage(usage.raw):
        return dict(usage.raw)
    made: dict[str, Any] = {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    }
    return {**made, "output_tokens_details": {"thinking_tokens": usage.reasoning}} if usage.reasoning else made


def _is_own_usage(raw: Any) -> bool:
    """Responses providers say input_tokens too, but with the cached ones inside, and a total."""
    return (
        isinstance(raw, Mapping)
        and {"input_tokens", "output_tokens"} <= raw.keys()
        and not {"input_tokens_details", "total_tokens"} & raw.keys()
    )


def _thoughts_beside(message: Message) -> list[dict[str, Any]]:
    thought = next((told for field in THOUGHTS_BESIDE if (told := message.raw.get(field))), None)
    return [thought_block(thought)] if isinstance(thought, str) else []


def thought_block(thought: str) -> dict[str, Any]:
    """A thought without a signature: good to read, but not to be sent to Anthropic."""
    return {"type": "thinking", "thinking": thought, "signature": ""}

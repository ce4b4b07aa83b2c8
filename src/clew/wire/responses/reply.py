"""Which reply is a response object, and which object a reply?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.facts.exchange import Reply
from clew.facts.usage import Usage
from clew.wire.responses.kinds import RESPONSES, is_asked
from clew.wire.responses.output import output_of, undressed
from clew.wire.responses.said import read_said
from clew.wire.usage import normalize_usage

# In foreign["responses"] stand the fields that no other dialect has, as they came, and these two:
UNSTATED = "unstated"
"""Which of the usual fields the object did not have."""
CUT = "cut"
"""Place in the output → status, of the calls that were not completed."""

_USUAL: dict[str, Any] = {
    "object": "response",
    "created_at": 0,
    "error": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": None,
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
}
"""What every response object has besides, as long as nothing is known of it."""
_TOLD = ("output", "usage")
_BESIDE_THE_INPUT = frozenset({"cache_creation_input_tokens", "cache_read_input_tokens"})
"""Anthropic's names, whose input_tokens are others."""
_REASONS = {"max_output_tokens": "length", "content_filter": "content_filter"}


def decode_reply(body: Mapping[str, Any]) -> Reply:
    """The reply that a response object is; `encode_reply` gives the same object back."""
    reply_id, model, output = _word(body.get("id")), _word(body.get("model")), items_in(body)
    cut = {str(place): item["status"] for place, item in enumerate(output) if _is_cut(item)}
    message = read_said(undressed(settled(item), reply_id, place) for place, item in enumerate(output))
    stop = _stop_of(body, bool(message.calls))
    usage = normalize_usage(body["usage"], api=RESPONSES) if isinstance(body.get("usage"), Mapping) else None
    plain = frame(reply_id, model, stop, usage)
    own = {name: value for name, value in body.items() if name not in _TOLD and plain.get(name, ...) != value}
    if unstated := [name for name in (*plain, "output") if name not in body]:
        own[UNSTATED] = unstated
    if cut:
        own[CUT] = cut
    return Reply(message, usage, stop, reply_id, model, {RESPONSES: own} if own else {})


def encode_reply(reply: Reply) -> dict[str, Any]:
    """The response object."""
    own = reply.foreign.get(RESPONSES, {})
    output = output_of(reply.message, reply.id)
    for place, status in own.get(CUT, {}).items():
        if int(place) < len(output) and is_asked(output[int(place)]):
            output[int(place)]["status"] = status
    return filled(frame(reply.id, reply.model, reply.stop, reply.usage), output, own)


def frame(reply_id: str, model: str, stop: str, usage: Usage | None) -> dict[str, Any]:
    """A response object without its output, as plain as it can be."""
    reason = next((reason for reason, word in _REASONS.items() if word == stop), None)
    return {
        "id": reply_id,
        **_USUAL,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "model": model,
        "usage": spell_usage(usage) if usage else None,
    }


def filled(plain: Mapping[str, Any], output: list[dict[str, Any]], own: Mapping[str, Any]) -> dict[str, Any]:
    """The object with its output and with what it had of its own, as far as that still holds."""
    body = {**plain, **own, "output": output}
    called = any(map(is_asked, output))
    if _stop_of(body, called) != _stop_of(plain, called):
        body |= {name: plain[name] for name in ("status", "incomplete_details")}
    unsaid = {**frame("", "", "stop", None), "output": []}
    left_out = {name for name in own.get(UNSTATED, ()) if body[name] == unsaid[name]} | {UNSTATED, CUT}
    return {name: value for name, value in body.items() if name not in left_out}


def spell_usage(usage: Usage) -> dict[str, Any]:
    """The provider's own object where it is of this shape and still says the same; else the same numbers."""
    raw = usage.raw
    is_own = isinstance(raw, Mapping) and "input_tokens" in raw and not _BESIDE_THE_INPUT & set(raw)
    if is_own and normalize_usage(raw, api=RESPONSES) == usage:
        return dict(raw)
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }


def error_in(body: Any) -> dict[str, Any] | None:
    """The error that a response object tells, as the body of a failed request would hold it: a call can fail and still
    be answered with status 200. None: it tells none."""
    if not isinstance(body, Mapping):
        return None
    error = body.get("error")
    if body.get("status") != "failed" and not error:
        return None
    return {"error": error or {"code": "server_error", "message": "The response failed; the provider did not say why."}}


def items_in(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The output's items."""
    output = body.get("output")
    return [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []


def settled(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call as it will be when it is complete, which is how it is told from its first sign on."""
    return {**item, "status": "completed"} if _is_cut(item) else item


def _is_cut(item: Mapping[str, Any]) -> bool:
    return is_asked(item) and item.get("status", "completed") != "completed"


def _stop_of(body: Mapping[str, Any], called: bool) -> str:
    details = body.get("incomplete_details")
    reason = _word(details.get("reason")) if isinstance(details, Mapping) else ""
    if body.get("status") == "incomplete" and reason in _REASONS:
        return _REASONS[reason]
    return "tool_calls" if called else "stop"


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""

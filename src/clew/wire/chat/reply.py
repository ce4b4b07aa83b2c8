"""A reply as chat spells it, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clew.facts.exchange import Foreign, Reply
from clew.facts.messages import Message, read_message
from clew.wire.chat.calls import mended
from clew.wire.chat.counts import spell_usage
from clew.wire.chat.said import spell_said
from clew.wire.chat.stops import read_stop
from clew.wire.usage import normalize_usage

# In foreign["chat"] stands what only chat tells of a reply, each unless it is as here:
BODY: dict[str, Any] = {"object": "chat.completion", "created": 0}
"""Under "body", the fields around the choices. A reply from elsewhere has no date, for there is no clock here."""
CHOICE: dict[str, Any] = {"index": 0, "logprobs": None}
"""Under "choice", the fields around the message, and a finish_reason that is not the stop's own word."""
# Under "message", fields that say nothing or had to be mended, as they came; under "choices", all but the first.


def encode_reply(reply: Reply) -> dict[str, Any]:
    """The body of a reply."""
    own = reply.foreign.get("chat", {})
    choice = {
        **own.get("choice", CHOICE),
        "message": _spell(reply.message, own.get("message", {})),
        "finish_reason": finish_reason(reply.stop, own, called=bool(reply.message.calls)),
    }
    body: dict[str, Any] = {"id": reply.id, "model": reply.model, "choices": [choice, *own.get("choices", ())]}
    if reply.usage is not None:
        body["usage"] = spell_usage(reply.usage)
    return {**body, **own.get("body", BODY)}


def _spell(message: Message, kept: Mapping[str, Any]) -> dict[str, Any]:
    """The message with the fields it came with, as long as they still say the same: its calls may have been changed."""
    spelled = spell_said(message)
    as_it_came = {**spelled, **kept}
    if _read(as_it_came) == message:
        return as_it_came
    return {**kept, **spelled}


def finish_reason(stop: str, own: Mapping[str, Any], *, called: bool) -> Any:
    """The provider's own word for why it stopped, as long as it means what the reply says."""
    word = own.get("choice", {}).get("finish_reason", stop)
    return word if read_stop(word, called=called) == stop else stop


def decode_reply(body: Mapping[str, Any]) -> Reply:
    """The reply that a body is. One without choices says nothing; `error_in` tells why."""
    choice = _first_choice(body)
    found = choice.get("message")
    raw: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    message = _read(raw)
    spelled = spell_said(message)
    stop = read_stop(choice.get("finish_reason"), called=bool(message.calls))
    usage = body.get("usage")
    return Reply(
        message=message,
        usage=normalize_usage(usage, api="chat") if usage and isinstance(usage, Mapping) else None,
        stop=stop,
        id=_word(body.get("id")),
        model=_word(body.get("model")),
        foreign=frames(
            body=_around_choices(body),
            choice=_around_message(choice, stop),
            message={name: value for name, value in raw.items() if spelled.get(name, ...) != value},
            choices=tuple(body["choices"][1:]) if choice else (),
        ),
    )


def error_in(body: Any) -> Any | None:
    """The error that a body of status 200 holds instead of a reply, or that broke the reply off. None: there is none.

    >>> error_in({"error": {"code": 502, "message": "Provider returned error"}})
    {'code': 502, 'message': 'Provider returned error'}
    """
    is_reply = isinstance(body, Mapping) and isinstance(body.get("choices"), list)
    return stated_error(body) or (None if is_reply else body)


def stated_error(body: Any) -> Any | None:
    """The error that a body, or a chunk of a stream, calls one."""
    if isinstance(body, list) and body:  # Gemini's endpoint wraps its errors in a list
        return stated_error(body[0])
    if not isinstance(body, Mapping):
        return None
    return body.get("error") or _first_choice(body).get("error") or None


def frames(
    *,
    body: Mapping[str, Any],
    choice: Mapping[str, Any],
    message: Mapping[str, Any] | None = None,
    choices: Sequence[Any] = (),
) -> Foreign:
    """What only chat tells of a reply, for its `foreign`."""
    told = {"body": (body, BODY), "choice": (choice, CHOICE), "message": (message or {}, {}), "choices": (choices, ())}
    own = {name: value for name, (value, usual) in told.items() if value != usual}
    return {"chat": own} if own else {}


def _around_choices(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the reply does not tell by itself."""
    usage = body.get("usage")
    told = {
        "id": isinstance(body.get("id"), str),
        "model": isinstance(body.get("model"), str),
        "choices": bool(_first_choice(body)),
        "usage": isinstance(usage, Mapping) and "prompt_tokens" in usage,
    }
    return {name: value for name, value in body.items() if not told.get(name)}


def _around_message(choice: Mapping[str, Any], stop: str) -> dict[str, Any]:
    told = ("message", "finish_reason") if choice.get("finish_reason") == stop else ("message",)
    return {name: value for name, value in choice.items() if name not in told}


def _first_choice(body: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _read(raw: Mapping[str, Any]) -> Message:
    """The message without fields that say nothing: sent back, OpenAI refuses `"function_call": null` and
    `"tool_calls": []`."""
    said = {name: value for name, value in raw.items() if name == "content" or not _is_hollow(value)}
    if "tool_calls" in said:
        said["tool_calls"] = mended(said["tool_calls"])
    return read_message({**said, "role": _word(said.get("role")) or "assistant"})


def _is_hollow(value: Any) -> bool:
    """None, nothing, or an object of nothing, as Snowflake fills in what the model did not send."""
    return value is None or value in ([], {}) or (isinstance(value, Mapping) and not any(value.values()))


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""

"""With which status and body would OpenAI say that a request failed?"""

from __future__ import annotations

from typing import Any, assert_never

from clew.facts.exchange import (
    Failure,
    OutputTooLarge,
    PayloadTooLarge,
    PromptTooLong,
    RateLimited,
    Refused,
    Unavailable,
)

INVALID = "invalid_request_error"
_REFUSALS = frozenset({401, 402, 403, 404, 405, 409, 422, 451})
"""Statuses of a refusal that tell a client more than 400 does: a bad key, an unknown model."""


def encode_failure(failure: Failure) -> tuple[int, dict[str, Any]]:
    """The status and the body. What is too long is told in OpenAI's sentences, which clients read for their numbers;
    the rest in the provider's own words where it had any."""
    match failure:
        case PromptTooLong():
            return 400, _error(_too_long(failure), INVALID, "messages", "context_length_exceeded")
        case OutputTooLarge():
            return 400, _output_error(failure)
        case PayloadTooLarge():
            return 413, _error(failure.why or _too_many_bytes(failure), INVALID, None, "request_too_large")
        case RateLimited():
            return 429, _error(failure.why or _too_often(failure), "tokens", None, "rate_limit_exceeded")
        case Unavailable():
            why = failure.why or "The server is overloaded or not ready yet. Please try again later."
            return 503, _error(why, "server_error", None, None)
        case Refused():
            status = failure.status if failure.status in _REFUSALS else 400
            return status or 400, _error(failure.why or "The request was refused.", INVALID, None, None)
    assert_never(failure)


def _error(message: str, kind: str, param: str | None, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def _too_long(failure: PromptTooLong) -> str:
    limit, used = failure.limit, failure.used
    if limit is None:
        return "Your input exceeds the context window of this model. Please adjust your input and try again."
    counted = f"your messages resulted in {used} tokens" if used is not None else "your messages resulted in more"
    return (
        f"This model's maximum context length is {limit} tokens. However, {counted}. "
        "Please reduce the length of the messages."
    )


def _output_error(failure: OutputTooLarge) -> dict[str, Any]:
    limit, used, asked = failure.limit, failure.used, failure.requested_output
    if limit is not None and used is not None and asked is not None:
        return _error(
            f"This model's maximum context length is {limit} tokens. However, you requested {used + asked} tokens "
            f"({used} in the messages, {asked} in the completion). "
            "Please reduce the length of the messages or completion.",
            INVALID,
            "messages",
            "context_length_exceeded",
        )
    most = failure.limit if used is None else failure.room
    if asked is None or most is None:
        told = f"supports at most {most} completion tokens" if most is not None else "supports fewer completion tokens"
        return _error(
            failure.why or f"max_tokens is too large: this model {told}.", INVALID, "max_tokens", "invalid_value"
        )
    told = f"This model supports at most {most} completion tokens, whereas you provided {asked}."
    return _error(f"max_tokens is too large: {asked}. {told}", INVALID, "max_tokens", "invalid_value")


def _too_many_bytes(failure: PayloadTooLarge) -> str:
    most = f": at most {failure.limit} bytes are taken" if failure.limit is not None else ""
    return f"The request is too large{most}."


def _too_often(failure: RateLimited) -> str:
    again = f" Please try again in {failure.retry_after:g}s." if failure.retry_after is not None else ""
    return f"Rate limit reached.{again}"

"""With which status and words does Anthropic say that a call failed?"""

from __future__ import annotations

from typing import Any

from clew.facts.exchange import (
    Failure,
    OutputTooLarge,
    PayloadTooLarge,
    PromptTooLong,
    RateLimited,
    Refused,
    Unavailable,
)

_REFUSALS = {401: "authentication_error", 403: "permission_error", 404: "not_found_error"}


def encode_failure(failure: Failure) -> tuple[int, dict[str, Any]]:
    """The status and the body of the answer."""
    status, kind, message = _told(failure)
    return status, {"type": "error", "error": {"type": kind, "message": message}}


def _told(failure: Failure) -> tuple[int, str, str]:
    match failure:
        case PromptTooLong():
            return 400, "invalid_request_error", _prompt_too_long(failure)
        case OutputTooLarge():
            return 400, "invalid_request_error", _output_too_large(failure)
        case PayloadTooLarge():
            return 413, "request_too_large", failure.why or "Request exceeds the maximum size"
        case RateLimited():
            return 429, "rate_limit_error", failure.why or "The rate limit of this account is reached; try again later"
        case Unavailable():
            return 529, "overloaded_error", failure.why or "Overloaded"
        case Refused():
            status = failure.status if failure.status in _REFUSALS else 400
            return status, _REFUSALS.get(status, "invalid_request_error"), failure.why or "The request was refused"


def _prompt_too_long(failure: PromptTooLong) -> str:
    """Clients look for the first words, whoever the provider is."""
    if failure.used is not None and failure.limit is not None:
        return f"prompt is too long: {failure.used} tokens > {failure.limit} maximum"
    told = failure.why
    return told if told.startswith("prompt is too long") else f"prompt is too long: {told}".rstrip(": ")


def _output_too_large(failure: OutputTooLarge) -> str:
    used, asked, limit = failure.used, failure.requested_output, failure.limit
    if used is not None and asked is not None and limit is not None:
        numbers = f"{used} + {asked} > {limit}"
        return (
            f"input length and `max_tokens` exceed context limit: {numbers}, "
            "decrease input length or `max_tokens` and try again"
        )
    if asked is not None and limit is not None:
        return f"max_tokens: {asked} > {limit}, which is the maximum allowed number of output tokens for this model"
    return failure.why or "input length and `max_tokens` exceed context limit, decrease `max_tokens` and try again"

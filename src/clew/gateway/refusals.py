"""How does the gateway itself say no, in the words of the client's dialect?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from clew.wire.dialect import Dialect

_ANTHROPIC = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
    404: "not_found_error", 408: "timeout_error", 413: "request_too_large", 426: "invalid_request_error",
    429: "rate_limit_error", 431: "request_too_large", 500: "api_error", 502: "api_error", 503: "overloaded_error",
    504: "timeout_error",
}  # fmt: skip
_OPENAI = {
    400: ("invalid_request_error", None), 401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "permission_denied"), 404: ("invalid_request_error", "not_found"),
    408: ("invalid_request_error", "request_timeout"), 413: ("invalid_request_error", "request_too_large"),
    426: ("invalid_request_error", "websocket_unsupported"), 429: ("rate_limit_error", "rate_limit_exceeded"),
    431: ("invalid_request_error", "headers_too_large"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Refusal(Exception):
    """Something the gateway will not, or cannot, do."""

    status: int
    why: str
    retry_after: float | None = None
    """Seconds."""
    is_final: bool = False
    """Whether asking again can only fail again: clients are told not to."""


def spelled(refusal: Refusal, dialect: Dialect, request: str) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """The body and the headers of a refusal."""
    body = orjson.dumps(_body(refusal, dialect.name, request))
    named = b"request-id" if dialect.name == "anthropic" else b"x-request-id"
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (named, request.encode()),
        (b"x-clew-request", request.encode()),
    ]
    if refusal.retry_after is not None:
        headers.append((b"retry-after", str(max(1, round(refusal.retry_after + 0.5))).encode()))
    if refusal.status in (408, 413):  # more of its body may come, which no one will read
        headers.append((b"connection", b"close"))
    if refusal.is_final:
        headers.append((b"x-should-retry", b"false"))
    return body, headers


def event_of(refusal: Refusal, dialect: Dialect, request: str) -> bytes:
    """The same as an event of a stream that had already begun."""
    if dialect.name == "responses":
        _, code = _openai(refusal.status)
        told = {"type": "error", "code": code or "server_error", "message": refusal.why, "param": None}
        return b"event: error\ndata: " + orjson.dumps({**told, "sequence_number": 0}) + b"\n\n"
    data = b"data: " + orjson.dumps(_body(refusal, dialect.name, request)) + b"\n\n"
    return b"event: error\n" + data if dialect.name == "anthropic" else data


def _body(refusal: Refusal, dialect: str, request: str) -> dict[str, Any]:
    if dialect == "anthropic":
        error = {"type": _ANTHROPIC.get(refusal.status, "api_error"), "message": refusal.why}
        return {"type": "error", "error": error, "request_id": request}
    kind, code = _openai(refusal.status)
    return {"error": {"message": refusal.why, "type": kind, "param": None, "code": code}}


def _openai(status: int) -> tuple[str, str | None]:
    return _OPENAI.get(status, ("server_error", None))

"""How does a provider's refusal read with the numbers of this request in it?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clew.testing.simulator.answers import Answer, json_answer
from clew.testing.simulator.providers import Refusal

Holes = Mapping[str, Any]
"""What the holes of a refusal are filled with."""

_ONE_HOLE = re.compile(r"\{(\w+)\}")
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""Status → Anthropic's name for it; any other is an api_error."""
_WORDS = {
    500: "Internal server error",
    502: "Bad gateway",
    503: "The engine is currently overloaded, please try again later",
    529: "Overloaded",
}


def refused(refusal: Refusal, holes: Holes, dialect: str, headers: Mapping[str, str]) -> Answer:
    """The refusal as it goes out to a client that speaks `dialect`."""
    body = filled(refusal.body, holes)
    if (dialect == "anthropic") != _is_anthropic(body) and not isinstance(body, str):
        body = error_body(dialect, refusal.status, _message(body))
    return json_answer(refusal.status, body, headers)


def error_body(dialect: str, status: int, message: str = "") -> dict[str, Any]:
    """An error with this status in a dialect's own shape."""
    kind, said = _KINDS.get(status, "api_error"), message or _WORDS.get(status, f"Error {status}")
    if dialect == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": said}, "request_id": "req_simulated"}
    spoken = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": said, "type": spoken, "param": None, "code": kind if status < 500 else None}}


def filled(body: Any, holes: Holes) -> Any:
    """A body with its holes filled; what is nothing but a hole becomes the value itself, a number for a number."""
    if isinstance(body, str):
        only = _ONE_HOLE.fullmatch(body)
        return holes[only[1]] if only else body.format_map(holes)
    if isinstance(body, Mapping):
        return {key: filled(value, holes) for key, value in body.items()}
    return [filled(value, holes) for value in body] if isinstance(body, list) else body


def _is_anthropic(body: Any) -> bool:
    return isinstance(body, Mapping) and body.get("type") == "error"


def _message(body: Any) -> str:
    """The sentence in an error, whatever shape it is in."""
    if isinstance(body, list):
        body = body[0]
    said = body.get("error", body)
    return str(said.get("message") or said.get("detail") or said) if isinstance(said, Mapping) else str(said)

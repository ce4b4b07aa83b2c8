"""With which status and body does this endpoint say that a request failed, and in which words on the way?"""

from __future__ import annotations

from typing import Any

from clew.facts.exchange import Failure
from clew.wire.chat import failures as chat

_NAMES = {"messages": "input", "max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
"""Chat's fields → those of the same meaning here."""


def encode_failure(failure: Failure) -> tuple[int, dict[str, Any]]:
    """The status and the body: OpenAI's, as in chat, but for the names of the fields."""
    status, body = chat.encode_failure(failure)
    error = body["error"]
    return status, {"error": {**error, "param": _NAMES.get(error["param"], error["param"])}}


def told_on_the_way(failure: Failure) -> dict[str, Any]:
    """The same as a response object tells it that failed after it had begun."""
    error = encode_failure(failure)[1]["error"]
    return {"code": error["code"] or "server_error", "message": error["message"]}

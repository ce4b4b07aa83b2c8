"""What is a provider, as far as its refusals go, and in which shapes do they come?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status and a body with holes; a text is a page of HTML."""

    status: int
    body: Any


@dataclass(frozen=True, slots=True)
class Provider:
    """How one provider behaves at its limits. None: it has no such limit, or makes the request fit without a word."""

    name: str
    prompt: Refusal | None
    """The prompt alone exceeds the window. None: the provider cuts the prompt, and says so nowhere."""
    window: Refusal | None
    """The prompt fits, but not together with the output asked for."""
    cap: Refusal | None
    """More output is asked for than the model can give."""
    size: Refusal
    """Too many bytes."""
    quota: Refusal
    """Too many tokens in this minute."""
    key: Refusal
    model: Refusal
    illegal: Refusal
    item_prompt: Refusal | None = None
    """How the Responses endpoint says that the prompt is too long. None: as the others do."""
    burst: Refusal | None = None
    """More tokens at once than a minute has. None: as for any other request above the quota."""
    quota_counts_output: bool = True
    """The output asked for is taken from the quota when a request comes in."""
    quota_counts_cached: bool = True
    """So is what is read from the cache."""
    window_field: str = ""
    """Where its list of models tells how large the window is."""


def anthropic_shape(status: int, kind: str, message: str) -> Refusal:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "{request}"}
    return Refusal(status, body)


def openai_shape(
    status: int, message: str, kind: str = "invalid_request_error", param: str | None = None, code: Any = None
) -> Refusal:
    return Refusal(status, {"error": {"message": message, "type": kind, "param": param, "code": code}})


def plain_shape(status: int, code: Any, message: str, /, **more: Any) -> Refusal:
    """OpenRouter, llama.cpp, Google: a code that is the status, and whatever else they say."""
    return Refusal(status, {"error": {"code": code, "message": message, **more}})


def listed_shape(refusal: Refusal) -> Refusal:
    """Google answers chat requests with a list of one."""
    return Refusal(refusal.status, [refusal.body])


def flat_shape(status: int, message: str, kind: str, code: Any) -> Refusal:
    """Mistral, SGLang: no object around it."""
    return Refusal(status, {"object": "error", "message": message, "type": kind, "param": None, "code": code})

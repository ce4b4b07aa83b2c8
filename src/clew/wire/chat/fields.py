"""Which fields of a request do other dialects have too, and under what names were they sent?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clew.facts.exchange import Prompt

LIMITS = ("max_completion_tokens", "max_tokens")
"""Chat's two names for the most the reply may be, the newer first."""
_WANTS_THE_NEWER = re.compile(r"(?:^|[/:])(?:o\d|gpt-(?:[5-9]|\d\d))")
"""OpenAI's models that think refuse the older name: "Unsupported parameter: 'max_tokens' is not supported with this
model. Use 'max_completion_tokens' instead." Others, and most who speak chat besides, know the older one."""

USAGE_ASKED = {"include_usage": True}

SETTINGS = (
    "tool_choice", "stop", "parallel_tool_calls", "temperature", "top_p", "reasoning_effort", "response_format", "user",
)  # fmt: skip


def usual_limit(model: str) -> str:
    """The name for the most the reply may be that a model takes.

    >>> usual_limit("gpt-5.2"), usual_limit("openai/o3"), usual_limit("gpt-oss-20b")
    ('max_completion_tokens', 'max_completion_tokens', 'max_tokens')
    """
    return LIMITS[0] if _WANTS_THE_NEWER.search(model) else LIMITS[1]


def take_limit(own: dict[str, Any]) -> tuple[str, int | None]:
    """Takes the most the reply may be out of a request's fields: its name there and its value."""
    for name in LIMITS:
        if type(own.get(name)) is int:
            return name, own.pop(name)
    return "", None


def take_options(own: dict[str, Any]) -> bool:
    """Takes `stream` out of a request's fields: whether the reply is streamed. What was said about the stream stays,
    also that nothing was said; only a plain request for the usage goes without saying, as clew makes it itself."""
    if own.get("stream") is not True:
        return False
    del own["stream"]
    options = own.pop("stream_options", None)
    if options != USAGE_ASKED:
        own["stream_options"] = options
    return True


def options_for(said: Any) -> dict[str, Any]:
    """The options of a stream: its usage is asked for, unless whoever asked said otherwise."""
    return {**USAGE_ASKED, **said} if isinstance(said, Mapping) else dict(USAGE_ASKED)


def asks_for_usage(prompt: Prompt) -> bool:
    """Whether the one who asked wants to be told the usage of the stream: what clew asks for on its own, only it needs
    to know."""
    options = prompt.foreign.get("chat", {}).get("stream_options", USAGE_ASKED)
    return isinstance(options, Mapping) and options.get("include_usage") is True


def take_settings(own: dict[str, Any]) -> dict[str, Any]:
    """Takes out of a request's fields what other dialects have too. A field that says it in words of its own stays,
    so that it can be said in the same words again."""
    found = {name: _shared(name, own[name]) for name in SETTINGS if name in own}
    settings = {name: value for name, value in found.items() if value is not None}
    for name, value in settings.items():
        if own[name] == value:
            del own[name]
    return settings


def put_settings(body: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The body with these settings, each in the words it already has there if they say the same."""
    for name in SETTINGS:
        said = _shared(name, body.get(name))
        if name in settings and said != settings[name]:
            body[name] = settings[name]
        elif name not in settings and said is not None:
            del body[name]
    return body


def _shared(name: str, value: Any) -> Any:
    """What a field says in the words all dialects share. None: it says nothing that others have."""
    if name == "stop":
        texts = [value] if isinstance(value, str) else value
        return texts if isinstance(texts, list) else None
    if name == "tool_choice":
        shared = "required" if value == "any" else value  # Mistral's word
        return shared if shared in ("auto", "none", "required") or _names_a_function(shared) else None
    return value


def _names_a_function(choice: Any) -> bool:
    match choice:
        case {"type": "function", "function": {"name": str()}}:
            return True
    return False

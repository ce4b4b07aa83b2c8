"""Which prompt is a request's body, and which body a prompt?"""

from __future__ import annotations

from collections.abc import Mapping
from types import EllipsisType
from typing import Any

from clew.facts.exchange import Prompt
from clew.facts.messages import BadMessages, Message
from clew.wire.responses.history import read_history, spell_history
from clew.wire.responses.kinds import RESPONSES
from clew.wire.responses.system import SYSTEM, read_system, spell_system
from clew.wire.responses.tools import (
    is_foreign_tool,
    read_choice,
    read_format,
    read_tool,
    spell_choice,
    spell_format,
    spell_tool,
)

# In foreign["responses"] stand the fields that no other dialect has, as they came, what is left of `reasoning` and
# `text`, the system's spelling (SYSTEM), and these:
FORM = "input"
"""How the input was given, unless as a list: "text" for a bare text, None for none at all."""
CREATED = "created_at"
"""When the reply was made, for whoever answers the prompt: never part of the request."""

_PLAIN: dict[str, type | tuple[type, ...]] = {
    "parallel_tool_calls": bool,
    "temperature": (int, float),
    "top_p": (int, float),
    "user": str,
}
"""Settings that pass as they are, and what they hold when they say something."""


def decode(body: Mapping[str, Any]) -> Prompt:
    """The prompt that a body is; `encode` gives the same body back."""
    given, form = _given(body)
    system, spelling, items = read_system(body, given)
    own = {name: value for name, value in body.items() if name not in ("input", "instructions")} | form
    if spelling is not None:
        own[SYSTEM] = spelling
    return Prompt(
        system=system,
        messages=read_history(items),
        tools=tuple(map(read_tool, _tools(own))),
        max_output=_taken(own, "max_output_tokens", int),
        model=_taken(own, "model", str, ""),
        stream=_taken(own, "stream", bool, False),
        settings=_settings(own),
        foreign={RESPONSES: own} if own else {},
    )


def encode(prompt: Prompt) -> dict[str, Any]:
    """The request's body."""
    own = dict(prompt.foreign.get(RESPONSES, {}))
    form, spelling, _ = own.pop(FORM, ""), own.pop(SYSTEM, None), own.pop(CREATED, None)
    system, leading = spell_system(prompt.system, spelling)
    body = {**own, **system}
    if form is not None or leading or prompt.messages:
        text = _bare_text(prompt.messages, form)
        body["input"] = [*leading, *spell_history(prompt.messages)] if text is None else text
    if tools := [spell_tool(tool) for tool in prompt.tools if not is_foreign_tool(tool)]:
        body["tools"] = tools
    stated = {"model": prompt.model, "max_output_tokens": prompt.max_output, "stream": prompt.stream}
    return {**_with_settings(body, prompt.settings), **{name: value for name, value in stated.items() if value}}


def _given(body: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The input's items, and a word on its form where that is not a list of them."""
    match body.get("input", ...):
        case str(text):
            return [{"role": "user", "content": text}], {FORM: "text"}
        case list(items):
            return items, {}
        case EllipsisType():
            return [], {FORM: None}
        case odd:
            raise BadMessages(f"input: expected a text or a list of items, got {type(odd).__name__}")


def _taken(own: dict[str, Any], name: str, kind: type, otherwise: Any = None) -> Any:
    """A field that others have too, taken out of `own`; one that says nothing stays there."""
    value = own.get(name)
    return own.pop(name) if type(value) is kind and value else otherwise


def _tools(own: dict[str, Any]) -> list[Any]:
    tools = own.get("tools")
    is_sound = isinstance(tools, list) and tools and all(isinstance(tool, Mapping) for tool in tools)
    return own.pop("tools") if is_sound else []


def _settings(own: dict[str, Any]) -> dict[str, Any]:
    """What other dialects can set as well, by chat's names, taken out of `own`."""
    settings = {name: own.pop(name) for name, kind in _PLAIN.items() if name in own and isinstance(own[name], kind)}
    if choice := read_choice(own.get("tool_choice")):
        settings["tool_choice"] = choice
        del own["tool_choice"]
    if isinstance(effort := _taken_from(own, "reasoning", "effort", str), str):
        settings["reasoning_effort"] = effort
    if form := read_format(_taken_from(own, "text", "format", dict)):
        settings["response_format"] = form
    return settings


def _taken_from(own: dict[str, Any], holder: str, name: str, kind: type) -> Any:
    """A field of one of the body's objects; what is left of the object stays in `own`."""
    held = own.get(holder)
    if not isinstance(held, Mapping) or not held.get(name) or not isinstance(held[name], kind):
        return None
    rest = {other: value for other, value in held.items() if other != name}
    own |= {holder: rest}
    if not rest:
        del own[holder]
    return held[name]


def _with_settings(body: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    body |= {name: settings[name] for name in _PLAIN if name in settings}
    if "tool_choice" in settings:
        body["tool_choice"] = spell_choice(settings["tool_choice"])
    if "reasoning_effort" in settings:
        body["reasoning"] = {**_held(body, "reasoning"), "effort": settings["reasoning_effort"]}
    if "response_format" in settings:
        body["text"] = {**_held(body, "text"), "format": spell_format(settings["response_format"])}
    return body


def _held(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    held = body.get(name)
    return held if isinstance(held, Mapping) else {}


def _bare_text(messages: tuple[Message, ...], form: Any) -> str | None:
    """The input as the text it was given as, while nothing has come to it."""
    match messages:
        case (Message(role="user", raw=raw),) if form == "text" and isinstance(raw.get("content"), str):
            return str(raw["content"])
    return None

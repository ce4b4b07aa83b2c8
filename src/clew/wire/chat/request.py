"""A prompt as chat spells it, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clew.facts.exchange import Prompt
from clew.facts.messages import SYSTEM_ROLES, BadMessages, Message, read_messages
from clew.wire.chat.fields import (
    LIMITS,
    options_for,
    put_settings,
    take_limit,
    take_options,
    take_settings,
    usual_limit,
)
from clew.wire.chat.messages import spell_messages
from clew.wire.chat.parts import is_foreign_tool, without_others

# In foreign["chat"] stand the fields that no other dialect has, as they came, and these two of our own:
SYSTEM = "system"
"""The leading system and developer messages, unless they are one plain `system` message."""
LIMIT = "max_output"
"""The name under which the most the reply may be was sent, unless it is the usual one for the model."""


def encode(prompt: Prompt) -> dict[str, Any]:
    """The request's body."""
    own = dict(prompt.foreign.get("chat", {}))
    leading = own.pop(SYSTEM) if _are_leading(own.get(SYSTEM)) else ()
    limit = own.pop(LIMIT) if own.get(LIMIT) in LIMITS else usual_limit(prompt.model)
    sent = own.pop("stream_options", None)
    body = {**own, "messages": [*_spell_system(prompt.system, leading), *spell_messages(prompt.messages)]}
    if prompt.model:
        body["model"] = prompt.model
    if tools := [without_others(tool) for tool in prompt.tools if not is_foreign_tool(tool)]:
        body["tools"] = tools
    if prompt.max_output is not None:
        body[limit] = prompt.max_output
    if prompt.stream:  # options are refused without it
        body |= {"stream": True, "stream_options": options_for(sent)}
    return put_settings(body, prompt.settings)


def decode(body: Mapping[str, Any]) -> Prompt:
    """The prompt that a body is. `encode` makes the same body of it, but that a stream is asked to tell its usage."""
    own = dict(body)
    leading, messages = _parted(own.pop("messages", None))
    model = own.pop("model") if own.get("model") and isinstance(own["model"], str) else ""
    name, limit = take_limit(own)
    if limit is not None and name != usual_limit(model):
        own[LIMIT] = name
    if not _is_plain(leading):
        own[SYSTEM] = [message.to_dict() for message in leading]
    stream = take_options(own)
    return Prompt(
        system=_text_of(leading),
        messages=messages,
        tools=tuple(own.pop("tools")) if _are_tools(own.get("tools")) else (),
        max_output=limit,
        model=model,
        stream=stream,
        settings=take_settings(own),
        foreign={"chat": own} if own else {},
    )


def _spell_system(system: str, leading: Sequence[Any]) -> list[Any]:
    """The system's messages as they came, where they still say what the prompt says; what was added goes behind."""
    said = _text_of(read_messages(leading))
    if not leading or not system.startswith(said):
        return [{"role": "system", "content": system}] if system else []
    rest = system[len(said) :].lstrip("\n")
    return [*leading, {"role": "system", "content": rest}] if rest else list(leading)


def _parted(raws: Any) -> tuple[Sequence[Message], tuple[Message, ...]]:
    """The system's messages at the head, and all that follow; those in mid-conversation stay in their place."""
    if not isinstance(raws, list):
        raise BadMessages(f"messages: expected a list of messages, got {type(raws).__name__}")
    messages = read_messages(raws)
    first = next((place for place, message in enumerate(messages) if not message.is_system), len(messages))
    return messages[:first], messages[first:]


def _text_of(leading: Sequence[Message]) -> str:
    return "\n\n".join(message.text for message in leading)


def _is_plain(leading: Sequence[Message]) -> bool:
    """Whether Prompt.system says it all."""
    said = _text_of(leading)
    return [message.raw for message in leading] == ([{"role": "system", "content": said}] if said else [])


def _are_leading(found: Any) -> bool:
    return isinstance(found, list) and all(
        isinstance(raw, Mapping) and raw.get("role") in SYSTEM_ROLES for raw in found
    )


def _are_tools(found: Any) -> bool:
    return isinstance(found, list) and bool(found) and all(isinstance(tool, Mapping) for tool in found)

"""How does Anthropic spell a prompt?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clew.facts.exchange import Prompt
from clew.facts.messages import BadMessages, Message
from clew.wire.anthropic.blocks import OWN, own_of
from clew.wire.anthropic.messages_in import read_messages
from clew.wire.anthropic.messages_out import spell_messages
from clew.wire.anthropic.settings import read_settings, spell_settings
from clew.wire.anthropic.tools import read_tool, spell_tool
from clew.wire.content import plain

DEFAULT_OUTPUT = 8192
"""Tokens. The API wants a number; every model since Claude 3.5 takes this one."""
_BETWEEN = "\n\n"
"""What parts the texts of several system blocks."""


def decode(body: Mapping[str, Any]) -> Prompt:
    """The prompt that a request's body asks with."""
    if not isinstance(body, Mapping):
        raise BadMessages(f"the request: expected an object, got {type(body).__name__}")
    settings, own = read_settings(body)
    messages = read_messages(own.pop("messages", None))
    system = own.get("system")
    if isinstance(system, str) and system:
        del own["system"]
    return Prompt(
        system=_system_text(system),
        messages=messages,
        tools=tuple(read_tool(tool) for tool in own.pop("tools")) if _is_filled_list(own.get("tools")) else (),
        max_output=own.pop("max_tokens") if _is_count(own.get("max_tokens")) else None,
        model=own.pop("model") if isinstance(own.get("model"), str) else "",
        stream=own.pop("stream") if own.get("stream") is True else False,
        settings=settings,
        foreign={OWN: own} if own else {},
    )


def encode(prompt: Prompt) -> dict[str, Any]:
    """The body of the request that asks with this prompt."""
    own = own_of(prompt.foreign)
    leading = next((at for at, message in enumerate(prompt.messages) if not _leads(message)), len(prompt.messages))
    told = [prompt.system, *(message.text for message in prompt.messages[:leading])]
    system = _spell_system(_BETWEEN.join(text for text in told if text), own.get("system"))
    tools = [made for tool in prompt.tools if (made := spell_tool(tool)) is not None]
    settings = spell_settings(prompt.settings, own)
    if not tools:
        settings.pop("tool_choice", None)  # refused where there is nothing to choose from
    return {
        "model": prompt.model,
        "max_tokens": DEFAULT_OUTPUT,
        **{key: value for key, value in own.items() if key != "system"},
        **settings,
        **({"max_tokens": prompt.max_output} if prompt.max_output is not None else {}),
        **({"stream": True} if prompt.stream else {}),
        **({"system": system} if system is not None else {}),
        **({"tools": tools} if tools else {}),
        "messages": spell_messages(prompt.messages[leading:]),
    }


def _leads(message: Message) -> bool:
    """Whether a message at the front belongs to the system prompt."""
    return message.is_system and not own_of(message.raw)


def _system_text(system: Any) -> str:
    if not isinstance(system, Sequence) or isinstance(system, str):
        return system if isinstance(system, str) else ""
    texts = (block.get("text") for block in system if isinstance(block, Mapping))
    return _BETWEEN.join(text for text in texts if isinstance(text, str) and text)


def _spell_system(text: str, spelling: Any) -> Any:
    """As it was spelled, with what was appended since in a block of its own; plainly when it says something else."""
    said = _system_text(spelling)
    if spelling is not None and said == text:
        return spelling
    if isinstance(spelling, list) and text.startswith(said):
        more = text[len(said) :].removeprefix(_BETWEEN)
        return [*spelling, plain(more)] if more.strip() else spelling
    return text if text.strip() else None


def _is_filled_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

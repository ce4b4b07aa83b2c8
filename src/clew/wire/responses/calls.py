"""How is a call told that waits for the client, and how its answer?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clew.facts.messages import TEXT_PARTS, Message, ToolCall, read_message
from clew.wire.responses.kinds import ANSWERS, RESPONSES, is_asked, kind_of
from clew.wire.responses.parts import read_content, spell_content, told

_BESIDES = frozenset({"type", "id", "call_id", "status"})
"""What an item of a built-in tool has besides what it asks for."""


def read_call(item: Mapping[str, Any]) -> ToolCall:
    """A call in chat's form. A built-in tool's is a function of the tool's name; its fields are the arguments."""
    kind, call_id = kind_of(item), item["call_id"]
    match kind:
        case "function_call":
            name, asked = item["name"], item["arguments"]
            made: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": asked}}
            own = _without(item, "type", "call_id", "name", "arguments")
        case "custom_tool_call":
            name, asked = item["name"], item["input"]
            made = {"type": "custom", "custom": {"name": name, "input": asked}}
            own = _without(item, "type", "call_id", "name", "input")
        case _:
            name, asked = kind.removesuffix("_call"), told(_without(item, *_BESIDES))
            made = {"type": "function", "function": {"name": name, "arguments": asked}}
            own = {key: item[key] for key in ("type", "id", "status") if key in item}
    raw = {"id": call_id, **made, **({RESPONSES: own} if own else {})}
    return ToolCall(call_id, name, asked, raw)


def spell_call(call: ToolCall) -> dict[str, Any]:
    """The item that makes this call."""
    own, custom = own_of(call.raw), call.raw.get("custom")
    if call.raw.get("type") == "custom" and isinstance(custom, Mapping):
        made = {"name": str(custom.get("name", "")), "input": str(custom.get("input", ""))}
        return {"type": "custom_tool_call", "call_id": call.id, **made, **own}
    if kind_of(own) in ANSWERS:
        if asked := _object(call.arguments):
            return {**asked, **own, "call_id": call.id}
        own = {}  # its arguments were rewritten to something the tool does not take
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments, **own}


def is_result(item: Mapping[str, Any]) -> bool:
    """Whether it answers a call, in a form that can be told as a tool's message."""
    output, call_id = item.get("output"), item.get("call_id")
    if not isinstance(call_id, str) or not call_id:
        return False
    match kind_of(item):
        case "function_call_output" | "custom_tool_call_output":
            return isinstance(output, str | list)
        case "local_shell_call_output":
            return isinstance(output, str)
        case "apply_patch_call_output":
            return output is None or isinstance(output, str)
        case "shell_call_output":
            return isinstance(output, list)
        case "computer_call_output":
            return isinstance(output, Mapping)
        case "tool_search_output":
            return isinstance(item.get("tools"), list)
    return False


def read_result(item: Mapping[str, Any], call: str = "function_call") -> Message:
    """The tool's message that an item is; `call` is the kind of item that it answers."""
    kind, output = kind_of(item), item.get("output")
    own = _without(item, "call_id", "type", "output")
    match kind:
        case "shell_call_output":
            content: Any = told(output)
        case "tool_search_output":
            content = told(own.pop("tools"))
        case "computer_call_output":
            content = [output]
        case "apply_patch_call_output":
            content = output or ""
            if not output and "output" in item:
                own["output"] = output
        case _:
            content = read_content(output)
    if kind != ANSWERS[call]:
        own["type"] = kind
    raw = {"role": "tool", "tool_call_id": item["call_id"], "content": content}
    return read_message({**raw, **({RESPONSES: own} if own else {})})


def spell_result(message: Message, call: str = "function_call") -> dict[str, Any]:
    """The item that a tool's message is, for a call of this kind; a text stands in where the message was rewritten."""
    own = own_of(message.raw)
    kind = kind_of(own) or ANSWERS[call]
    return {"type": kind, "call_id": message.call_id, **_output(kind, message), **own}


def own_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What a message, call or tool keeps for this dialect."""
    own = raw.get(RESPONSES)
    return dict(own) if isinstance(own, Mapping) else {}


def is_hosted(item: Mapping[str, Any]) -> bool:
    """Whether it is a call of a client's kind that the provider carried out itself."""
    return kind_of(item) in ANSWERS and not is_asked(item)


def _output(kind: str, message: Message) -> dict[str, Any]:
    content = message.raw.get("content")
    match kind:
        case "shell_call_output":
            ran = {"stdout": message.text, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
            return {"output": _list(message.text, [ran])}
        case "tool_search_output":
            return {"tools": _list(message.text, []), "execution": "client", "status": "completed"}
        case "computer_call_output":
            parts = content if isinstance(content, list) else ()
            shown = (part for part in parts if kind_of(part) not in TEXT_PARTS)
            return {"output": next(shown, message.text)}
        case "apply_patch_call_output":
            return {"status": "completed", **({"output": message.text} if message.text else {})}
        case "local_shell_call_output":
            return {"output": message.text}
    return {"output": spell_content(content) if isinstance(content, list) else message.text}


def _list(text: str, otherwise: list[Any]) -> list[Any]:
    value = _parsed(text)
    return value if isinstance(value, list) else otherwise


def _object(text: str) -> dict[str, Any]:
    value = _parsed(text)
    return value if isinstance(value, dict) else {}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _without(item: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}

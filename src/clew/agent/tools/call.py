"""What does the model get back for a call? A result, always: also for arguments that make no sense."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from clew.agent.tools.tool import Arguments, Tool
from clew.agent.workspace import ToolError, Workspace
from clew.facts.messages import Message, ToolCall, tool_result

Permitted = Callable[[Tool, Arguments, Workspace], str | None]
"""None when the call may be made, otherwise why not, for the model."""


def run_call(call: ToolCall, tools: Sequence[Tool], at: Workspace, permitted: Permitted) -> Message:
    """The result of one call. One that failed or was not allowed carries `is_error`."""
    try:
        tool = _named(call.name, tools)
        arguments = _checked(_read(call.arguments, tool), tool)
        refusal = permitted(tool, arguments, at)
        if refusal is not None:
            raise ToolError(refusal)
        return tool_result(call, tool.run(arguments, at))
    except ToolError as error:
        return failed(call, str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return failed(call, f"{where}{error.strerror or error}")


def failed(call: ToolCall, why: str) -> Message:
    result = tool_result(call, f"Error: {why}")
    return result._replace(raw={**result.raw, "is_error": True})


def _named(name: str, tools: Sequence[Tool]) -> Tool:
    for tool in tools:
        if tool.name == name:
            return tool
    names = [tool.name for tool in tools]
    near = get_close_matches(name, names, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise ToolError(f"there is no tool {name!r}; {meant}The tools are: {', '.join(names)}.")


def _read(written: str, tool: Tool) -> dict[str, Any]:
    try:
        arguments = json.loads(written) if written.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ToolError(f"the arguments of {tool.name} are not JSON ({error}); write one object.") from None
    if not isinstance(arguments, dict):
        raise ToolError(f"the arguments of {tool.name} are {_kind(arguments)}; write one JSON object.")
    return arguments


def _checked(arguments: dict[str, Any], tool: Tool) -> dict[str, Any]:
    """The arguments with their defaults, or ToolError that names the first field that is wrong."""
    fields, required = tool.parameters.get("properties", {}), tool.parameters.get("required", [])
    given = {name: value for name, value in arguments.items() if value is not None or name in required}
    for name in given:
        if name not in fields:
            raise ToolError(f"{tool.name} has no field {name!r}; its fields are: {', '.join(fields)}.")
    for name in required:
        if name not in given:
            raise ToolError(f"{tool.name} needs the field {name!r}. {fields[name].get('description', '')}".rstrip())
    defaults = {name: told["default"] for name, told in fields.items() if "default" in told}
    return defaults | {name: _fitting(value, fields[name], f"{tool.name}: {name}") for name, value in given.items()}


def _fitting(value: Any, told: Mapping[str, Any], place: str) -> Any:
    """Of JSON schema, what the tools here use: strings, whole numbers and choices. The rest a tool checks itself."""
    if told.get("type") == "string":
        _refuse_text(value, place)
    elif told.get("type") == "integer":
        value = _whole(value, told, place)
    if value not in told.get("enum", [value]):
        raise ToolError(f"{place} is {value!r}; it has to be one of: {', '.join(map(str, told['enum']))}.")
    return value


def _refuse_text(value: Any, place: str) -> None:
    if not isinstance(value, str):
        raise ToolError(f"{place} has to be a string, not {_kind(value)}.")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ToolError(f"{place} holds half a character (a lone surrogate), which no file or command can.")


def _whole(value: Any, told: Mapping[str, Any], place: str) -> int:
    if isinstance(value, float) and value.is_integer():  # JSON knows one kind of number
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolError(f"{place} has to be a whole number, not {_kind(value)}.")
    if value < told.get("minimum", value):
        raise ToolError(f"{place} is {value}; the least is {told['minimum']}.")
    if value > told.get("maximum", value):
        raise ToolError(f"{place} is {value}; the most is {told['maximum']}.")
    return value


def _kind(value: Any) -> str:
    kinds = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return "null" if value is None else kinds.get(type(value), "an object")

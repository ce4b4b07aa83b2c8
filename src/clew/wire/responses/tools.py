"""How are tools, the choice among them, and the reply's format spelled? Flat here, nested in chat."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clew.wire.responses.calls import own_of
from clew.wire.responses.kinds import RESPONSES, kind_of

_FUNCTION = ("name", "description", "parameters", "strict")
_OF_ANTHROPIC = re.compile(r"_\d{8}$|^mcp_toolset$")
"""Kinds of tools that Anthropic runs, which are dated: bash_20250124."""
_UNSTATED = "unstated"
"""Fields a tool did not have, where leaving them out means something else here than in chat."""


def read_tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """A tool in chat's spelling; one of the provider's own stays as it is.

    Here a function is strict unless it says no; in chat it is strict only if it says so.
    """
    kind = kind_of(tool)
    if kind == "custom" and isinstance(tool.get("name"), str):
        custom = {name: value for name, value in tool.items() if name != "type"}
        return {"type": "custom", "custom": _regrammared(custom, _nested)}
    if kind != "function" or not isinstance(tool.get("name"), str):
        return tool
    function = {name: tool[name] for name in _FUNCTION if name in tool and name != "strict"}
    own = {name: value for name, value in tool.items() if name not in ("type", *_FUNCTION)}
    match tool.get("strict", _UNSTATED):
        case True:
            function["strict"] = True
        case False:
            pass
        case str():
            own[_UNSTATED] = ["strict"]
        case odd:
            own["strict"] = odd
    return {"type": "function", "function": function, **({RESPONSES: own} if own else {})}


def spell_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool as this dialect has it."""
    held = tool.get(kind_of(tool))
    if kind_of(tool) == "custom" and isinstance(held, Mapping):
        return {"type": "custom", **_regrammared(held, _flat)}
    if kind_of(tool) != "function" or not isinstance(held, Mapping):
        return dict(tool)
    own = own_of(tool)
    unstated = own.pop(_UNSTATED, ())
    flat = {"type": "function", "strict": False, **held, **own}
    return {name: value for name, value in flat.items() if name not in unstated}


def is_foreign_tool(tool: Mapping[str, Any]) -> bool:
    """Whether only another provider could run it."""
    return bool(_OF_ANTHROPIC.search(kind_of(tool)))


def read_choice(choice: Any) -> Any:
    """The choice in chat's words. None: chat has none for it."""
    if choice in ("auto", "none", "required"):
        return choice
    match choice:
        case {"type": "function", "name": str(name)} if len(choice) == 2:
            return {"type": "function", "function": {"name": name}}
    return None


def spell_choice(choice: Any) -> Any:
    match choice:
        case {"type": "function", "function": {"name": name}}:
            return {"type": "function", "name": name}
    return choice


def read_format(form: Any) -> Any:
    """The reply's format in chat's spelling. None: it says none."""
    if kind_of(form) != "json_schema":
        return form if isinstance(form, Mapping) else None
    return {"type": "json_schema", "json_schema": {name: value for name, value in form.items() if name != "type"}}


def spell_format(form: Any) -> Any:
    held = form.get("json_schema") if isinstance(form, Mapping) else None
    return {"type": "json_schema", **held} if isinstance(held, Mapping) else form


def _regrammared(custom: Mapping[str, Any], spelling: Any) -> dict[str, Any]:
    grammar = custom.get("format")
    return {**custom, "format": spelling(grammar)} if kind_of(grammar) == "grammar" else dict(custom)


def _nested(grammar: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "grammar", "grammar": {name: value for name, value in grammar.items() if name != "type"}}


def _flat(grammar: Mapping[str, Any]) -> dict[str, Any]:
    held = grammar.get("grammar")
    return {"type": "grammar", **held} if isinstance(held, Mapping) else dict(grammar)

"""What is a tool: its name, what the model is told of it, what it risks, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clew.agent.workspace import Workspace

Arguments = Mapping[str, Any]


class Risk(StrEnum):
    READS = "reads"
    WRITES = "writes"
    RUNS = "runs"
    FETCHES = "fetches"


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing a model can do. `run` is given arguments that fit the schema; it raises ToolError for the model."""

    schema: Mapping[str, Any]
    """As OpenAI chat spells a function tool."""
    risk: Risk
    run: Callable[[Arguments, Workspace], str]

    @property
    def name(self) -> str:
        return str(self.schema["function"]["name"])

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON schema of its arguments."""
        parameters: Mapping[str, Any] = self.schema["function"]["parameters"]
        return parameters


def function(name: str, does: str, **fields: Mapping[str, Any]) -> dict[str, Any]:
    """A schema. A field made by `text` or `number` with no default has to be given, unless it says `optional`."""
    required = [field for field, told in fields.items() if "default" not in told and not told.get("optional")]
    properties = {
        field: {key: value for key, value in told.items() if key != "optional"} for field, told in fields.items()
    }
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": does, "parameters": parameters}}


def text(told: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": told, **more}


def number(told: str, *, default: int, least: int, most: int | None = None) -> dict[str, Any]:
    bounds = {"minimum": least} if most is None else {"minimum": least, "maximum": most}
    return {"type": "integer", "description": told, "default": default, **bounds}

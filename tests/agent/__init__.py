"""Calls of tools, for the tests of the agent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from clew.agent.tools import EXTRA_TOOLS, TOOLS, Permitted, Tool, run_call
from clew.agent.workspace import Workspace
from clew.facts.messages import Message, ToolCall


def call(name: str, arguments: Any) -> ToolCall:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    raw = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": written}}
    return ToolCall("call_1", name, written, raw)


def result(at: Workspace, name: str, arguments: Any, permitted: Permitted = lambda *_: None) -> Message:
    tools: Sequence[Tool] = (*TOOLS, *EXTRA_TOOLS)
    return run_call(call(name, arguments), tools, at, permitted)


def did(at: Workspace, name: str, **arguments: Any) -> str:
    """The text of a call that has to succeed."""
    message = result(at, name, arguments)
    assert "is_error" not in message.raw, message.text
    return message.text


def refused(at: Workspace, name: str, **arguments: Any) -> str:
    """The text of a call that has to fail."""
    message = result(at, name, arguments)
    assert message.raw.get("is_error") is True, message.text
    assert message.raw["tool_call_id"] == "call_1"
    return message.text

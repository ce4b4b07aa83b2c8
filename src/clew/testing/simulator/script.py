"""What does the model say next?"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from clew.facts.exchange import Failure, Prompt, Reply
from clew.facts.messages import Message, ToolCall, read_message
from clew.testing.simulator.faults import Fault
from clew.wire.content import Item, composed, plain

Line: TypeAlias = str | Mapping[str, Any] | Reply | Failure | Fault
"""One line of a script. A text is said; a dict may hold `text`, `thinking`, `calls` (each a dict with a `name` and
`arguments`) and `stop`, or be a whole message with a `role`; a failure is answered, a fault happens."""

Script: TypeAlias = Iterable[Line] | Callable[[Prompt], Line]

SIGNATURE = "c2ltdWxhdGVk" * 8
"""What stands for the proof that thoughts are the provider's own."""


class Lines:
    """The lines still to be said, those that were written down first. Behind a list of lines there is nothing more; a
    function, or the echo where no script was given, always knows another."""

    def __init__(self, script: Script | None) -> None:
        self._made = script if callable(script) else echo
        self._written: deque[Line] = deque() if script is None or callable(script) else deque(script)
        self._strict = script is not None and not callable(script)

    def add(self, lines: Iterable[Line]) -> None:
        self._written.extend(lines)

    def next(self, prompt: Prompt) -> Line:
        """The line that answers this prompt. It stays the next one until it is `said`."""
        if self._written:
            return self._written[0]
        if self._strict:
            raise LookupError("the script has no line left for this request; give it more, or use say()")
        return self._made(prompt)

    def said(self) -> None:
        if self._written:
            self._written.popleft()


def echo(prompt: Prompt) -> str | Mapping[str, Any]:
    """Something short that depends on nothing but the prompt: a call where one is demanded, else the newest words."""
    newest = prompt.messages[-1] if prompt.messages else None
    forced = prompt.settings.get("tool_choice")
    if prompt.tools and forced not in (None, "auto", "none") and not (newest and newest.is_result):
        return {"calls": [_demanded(prompt, forced)]}
    words = newest.text.split() if newest else []
    return f"You said: {' '.join(words[:8])}" if words else "Hello."


def _demanded(prompt: Prompt, forced: Any) -> dict[str, Any]:
    functions = [tool["function"] for tool in prompt.tools if isinstance(tool.get("function"), Mapping)]
    name = forced["function"]["name"] if isinstance(forced, Mapping) else functions[0]["name"]
    schema = next((f.get("parameters") or {} for f in functions if f["name"] == name), {})
    fields = schema.get("properties", {})
    return {"name": name, "arguments": {key: _example(fields.get(key, {})) for key in schema.get("required", ())}}


def _example(schema: Mapping[str, Any]) -> Any:
    """A value that a schema allows."""
    if schema.get("enum"):
        return schema["enum"][0]
    known = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}, "null": None}
    kind = schema.get("type")
    return known.get(kind, "example") if isinstance(kind, str) else "example"


def reply_for(line: Line, dialect: str, number: int) -> Reply | Failure | Fault:
    """A line as it answers request `number` in this dialect."""
    if isinstance(line, Reply | Failure | Fault):
        return line
    if isinstance(line, str | Mapping):
        return spoken(line, dialect, number)
    raise TypeError(f"a script says text, dicts, replies, failures and faults, not {type(line).__name__}")


def spoken(line: str | Mapping[str, Any], dialect: str, number: int) -> Reply:
    if isinstance(line, str):
        return Reply(composed([plain(line)]))
    message = read_message(line) if "role" in line else _message(line, dialect, number)
    return Reply(message, stop=line.get("stop") or ("tool_calls" if message.calls else "stop"))


def _message(line: Mapping[str, Any], dialect: str, number: int) -> Message:
    unknown = line.keys() - {"text", "thinking", "calls", "stop"}
    if unknown:
        raise TypeError(f"a line of a script has no {', '.join(sorted(unknown))}; it has text, thinking, calls, stop")
    items: list[Item] = []
    beside = {}
    if thought := line.get("thinking"):
        if dialect == "chat":
            beside["reasoning_content"] = thought
        else:
            items.append(_thought(thought, dialect, number))
    if line.get("text"):
        items.append(plain(line["text"]))
    items += [_call(call, dialect, number, place) for place, call in enumerate(line.get("calls", ()))]
    return composed(items, **beside)


def _thought(text: str, dialect: str, number: int) -> dict[str, Any]:
    if dialect == "anthropic":
        return {"type": "thinking", "thinking": text, "signature": SIGNATURE}
    return {"type": "reasoning", "id": f"rs_{number:06}", "summary": [{"type": "summary_text", "text": text}]}


def _call(call: Mapping[str, Any], dialect: str, number: int, place: int) -> ToolCall:
    arguments = call.get("arguments", {})
    spelled = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    call_id = call.get("id") or f"{'toolu' if dialect == 'anthropic' else 'call'}_{number:06}_{place}"
    raw = {"id": call_id, "type": "function", "function": {"name": call["name"], "arguments": spelled}}
    return ToolCall(call_id, call["name"], spelled, raw)

"""How is an OpenAI chat transcript read? (JSON or JSON Lines, one message each; unknown fields are carried through)"""

import json
from typing import Any

from clew.wire.transcripts.values import Format, Message, Problem, Row, Source, Transcript, word

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def knows(source: Source) -> bool:
    return any(word(row.value, "role") for row in source.rows)


def read(source: Source) -> Transcript:
    messages: list[Message] = []
    problems: list[Problem] = []
    for row in source.rows:
        message, wrong = read_message(row)
        problems += wrong
        if message is not None:
            messages.append(message)
    return Transcript(
        messages=tuple(with_system(messages, source.around.get("system"))),
        format=FORMAT.name,
        problems=tuple(problems),
        title=word(source.around, "title") or None,
        model=word(source.around, "model") or None,
    )


def with_system(messages: list[Message], system: Any) -> list[Message]:
    """A request body may carry its system text beside the messages, as text or as blocks of text."""
    text = join_texts(system) if isinstance(system, list) else system
    if not isinstance(text, str) or not text or (messages and messages[0].get("role") == "system"):
        return messages
    return [{"role": "system", "content": text}, *messages]


def join_texts(blocks: list[Any], between: str = "\n\n") -> str:
    """The texts of a list of parts, or of bare strings, as one text."""
    texts = [block if isinstance(block, str) else word(block, "text") for block in blocks]
    return between.join(text for text in texts if text)


def read_message(row: Row) -> tuple[Message | None, list[Problem]]:
    """One row as a message with fields of the right types, and what had to be changed for that."""
    if not isinstance(row.value, dict):
        return None, [Problem(row.line, f"not a message ({kind_of(row.value)})")]
    role = row.value.get("role")
    if not isinstance(role, str) or not role:
        return None, [Problem(row.line, "a message without a role was left out")]
    problems = [] if role in ROLES else [Problem(row.line, f"unknown role {role[:40]!r}; kept as it is")]
    message = dict(row.value)
    if "tool_calls" in message:
        message["tool_calls"], wrong = _read_calls(message["tool_calls"])
        problems += [Problem(row.line, what) for what in wrong]
        if not message["tool_calls"]:
            del message["tool_calls"]  # an empty list is refused by the API, and null says the same as nothing
    message["content"], wrong = _read_content(message)
    return message, problems + [Problem(row.line, what) for what in wrong]


def _read_content(message: Message) -> tuple[Any, list[str]]:
    content = message.get("content")
    match content:
        case str():
            return content, []
        case None:
            # A reply may be nothing but calls, a refusal or a sound; anyone else has to say something.
            return (None, []) if message["role"] == "assistant" else ("", ["no content"])
        case list():
            parts, problems = [], []
            for part in content:
                if isinstance(part, dict):
                    parts.append(part)
                else:
                    parts.append({"type": "text", "text": as_text(part)})
                    problems.append(f"a part of the content is {kind_of(part)}; taken as text")
            return parts, problems
        case dict() if word(content, "type"):
            return [content], ["the content is one part and not a list; taken as a list"]
    return as_text(content), [f"the content is {kind_of(content)}; taken as text"]


def _read_calls(calls: Any) -> tuple[list[Any], list[str]]:
    if isinstance(calls, str):  # databases keep the list as text
        try:
            calls = json.loads(calls)
        except (ValueError, RecursionError):
            return [], ["tool_calls is text that is not JSON; left out"]
    if calls is None:
        return [], []
    if not isinstance(calls, list):
        return [], [f"tool_calls is {kind_of(calls)}; left out"]
    read_calls, problems = [], []
    for call in calls:
        if not isinstance(call, dict):
            problems.append(f"a tool call is {kind_of(call)}; left out")
            continue
        if not word(call, "id"):
            problems.append("a tool call has no id")
        read_calls.append(_read_call(call))
    return read_calls, problems


def _read_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    if not isinstance(function, dict):
        if "custom" in call or not word(call, "name"):
            return call  # a custom tool's call, or nothing known: carried through
        # Written without the wrapping: {"id", "name", "arguments"}.
        function = {"name": call["name"], "arguments": call.get("arguments")}
        call = {key: value for key, value in call.items() if key not in ("name", "arguments")}
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "{}" if arguments is None else as_text(arguments)
    return {**call, "type": "function", "function": {**function, "arguments": arguments}}


def as_text(value: Any) -> str:
    """A value that should have been text; objects and numbers as JSON writes them."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def kind_of(value: Any) -> str:
    """The kind of a JSON value, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
    return "an object"


FORMAT = Format("openai", "OpenAI chat messages (JSON or JSONL)", knows, read)

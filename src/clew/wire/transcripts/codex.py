"""How is a Codex rollout read? (JSONL of Responses items, each in an envelope; bare items in its first versions)

Events repeat what the items say and are read only where a file has no items. A compaction keeps the history before it
and adds its summary, marked is_compact_summary. Turns taken back are left out. Reasoning is kept where it is readable.
Searches and images made at the provider have no result in the file and are left out.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from clew.wire.transcripts.openai import as_text, join_texts
from clew.wire.transcripts.pairing import place_results
from clew.wire.transcripts.values import Format, Message, Problem, Row, Source, Transcript, word

ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
NOT_TYPED = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
"""How the texts begin that Codex writes in the user's place; they are no turns of the user."""


def knows(source: Source) -> bool:
    return any(_is_envelope(row.value) or _is_bare_item(row.value) for row in source.rows)


def read(source: Source) -> Transcript:
    rows, problems = _unwrapped(source.rows)
    only_events = not any(kind == "response_item" for _, kind, _ in rows)
    messages: list[Message] = []
    for _, kind, payload in rows:
        match kind:
            case "response_item":
                messages = _add_item(messages, payload)
            case "compacted":
                messages = _add_summary(messages, payload)
            case "event_msg" if word(payload, "type") == "thread_rolled_back":
                messages = _take_back(messages, payload.get("num_turns"))
            case "event_msg" if only_events:
                messages = _add_event(messages, payload)
    return Transcript(
        messages=tuple(_with_instructions(place_results(_closed(messages)), rows)),
        format=FORMAT.name,
        problems=tuple(problems),
        title=_last_word(rows, "event_msg", "thread_name"),
        model=_last_word(rows, "turn_context", "model") or _last_word(rows, "session_meta", "model"),
    )


_Line = tuple[int, str, dict[str, Any]]
"""Line number, kind of envelope, what is in it."""


def _unwrapped(rows: Sequence[Row]) -> tuple[list[_Line], list[Problem]]:
    lines: list[_Line] = []
    problems: list[Problem] = []
    for row in rows:
        value = row.value
        if not isinstance(value, dict):
            problems.append(Problem(row.line, "not a line of a rollout (no object)"))
        elif _is_envelope(value):
            lines.append((row.line, value["type"], value["payload"]))
        elif word(value, "type") in ENVELOPES:
            problems.append(Problem(row.line, f"a {value['type']} line without a payload was left out"))
        elif word(value, "type"):
            lines.append((row.line, "response_item", value))
        elif "instructions" in value or "id" in value:
            lines.append((row.line, "session_meta", value))
    return lines, problems


def _is_envelope(value: Any) -> bool:
    return word(value, "type") in ENVELOPES and isinstance(value.get("payload"), dict)


def _is_bare_item(value: Any) -> bool:
    if word(value, "type") in CALLS | OUTPUTS:
        return True
    content = value.get("content") if word(value, "type") == "message" else None
    return isinstance(content, list) and any(word(part, "type") in ("input_text", "output_text") for part in content)


def _add_item(messages: list[Message], item: dict[str, Any]) -> list[Message]:
    kind = word(item, "type")
    if kind == "message":
        return _add_message(messages, word(item, "role") or "user", _content(item.get("content")))
    if kind == "reasoning":
        return _add_reasoning(messages, item)
    if kind in CALLS:
        return _add_call(messages, _call(item))
    if kind in OUTPUTS:
        return [*_closed(messages), _result(item)]
    return messages


# While a reply is being put together its last message is marked open; what belongs to the same reply joins it.
_OPEN = "\0open"


def _closed(messages: list[Message]) -> list[Message]:
    if not messages or _OPEN not in messages[-1]:
        return messages
    last = {key: value for key, value in messages[-1].items() if key != _OPEN}
    return [*messages[:-1], last]

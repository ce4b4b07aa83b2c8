"""How is a Codex rollout read? (JSONL of Responses items, each in an envelope; bare items in its first versions)

Events repeat what the items say and are read only where a file has no items. A compaction keeps the history before it
and adds its summary, marked is_compact_summary. Turns taken back are left out. Reasoning is kept where it is readable.
Searches and images made at the provider have no result in the file and are left out.
"""

import json
from collections.abc import Sequence
from typing import Any

from clew.wire.transcripts.openai import as_text, join_texts
from clew.wire.transcripts.pairing import place_results
from clew.wire.transcripts.values import Format, Message, Problem, Row, Source, Transcript, word

ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
TEXTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})
NOT_TYPED = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
"""How the texts begin that Codex writes in the user's place; they are no turns of the user."""


def knows(source: Source) -> bool:
    return any(_is_envelope(row.value) or _is_bare_item(row.value) for row in source.rows)


def read(source: Source) -> Transcript:
    lines, problems = _unwrapped(source.rows)
    has_items = any(kind == "response_item" for kind, _ in lines)
    pieces: list[Message] = []
    for kind, payload in lines:
        match kind:
            case "response_item":
                pieces += _pieces_of(payload)
            case "compacted":
                pieces += _summary(payload, history_is_here=bool(pieces))
            case "event_msg" if word(payload, "type") == "thread_rolled_back":
                del pieces[_start_of_turn(pieces, payload.get("num_turns")) :]
            case "event_msg" if not has_items:
                pieces += _said_in_event(payload)
    return Transcript(
        messages=tuple(_with_instructions(place_results(_join_replies(pieces)), lines)),
        format=FORMAT.name,
        problems=tuple(problems),
        title=_last_word(lines, "event_msg", "thread_name"),
        model=_last_word(lines, "turn_context", "model") or _last_word(lines, "session_meta", "model"),
    )


_Line = tuple[str, dict[str, Any]]
"""Kind of envelope, and what is in it."""


def _unwrapped(rows: Sequence[Row]) -> tuple[list[_Line], list[Problem]]:
    lines: list[_Line] = []
    problems: list[Problem] = []
    for row in rows:
        value = row.value
        if not isinstance(value, dict):
            problems.append(Problem(row.line, "not a line of a rollout (no object)"))
        elif _is_envelope(value):
            lines.append((value["type"], value["payload"]))
        elif word(value, "type") in ENVELOPES:
            problems.append(Problem(row.line, f"a {value['type']} line without a payload was left out"))
        elif word(value, "type"):
            lines.append(("response_item", value))
        elif "instructions" in value or "id" in value:
            lines.append(("session_meta", value))
    return lines, problems


def _is_envelope(value: Any) -> bool:
    return word(value, "type") in ENVELOPES and isinstance(value.get("payload"), dict)


def _is_bare_item(value: Any) -> bool:
    if word(value, "type") in CALLS | OUTPUTS:
        return True
    content = value.get("content") if word(value, "type") == "message" else None
    return isinstance(content, list) and any(word(part, "type") in ("input_text", "output_text") for part in content)


def _pieces_of(item: dict[str, Any]) -> list[Message]:
    """What one item adds: a message, or a piece of a reply whose other pieces are items of their own."""
    kind = word(item, "type")
    if kind == "message":
        content = _content(item.get("content"))
        return [{"role": word(item, "role") or "user", "content": content}] if content else []
    if kind == "reasoning":
        return [_thought(item)]
    if kind in CALLS:
        return [{"role": "assistant", "content": None, "tool_calls": [_call(item)]}]
    if kind in OUTPUTS:
        return [_result(item)]
    return []


def _thought(item: dict[str, Any]) -> Message:
    text = _joined_texts(item.get("content")) or _joined_texts(item.get("summary"))
    return {"role": "assistant", "content": None, "reasoning_content": text}


def _call(item: dict[str, Any]) -> dict[str, Any]:
    match word(item, "type"):
        case "function_call":
            name, arguments = word(item, "name"), as_text(item.get("arguments", "{}"))
        case "custom_tool_call":  # free text for input, where a chat call needs an object
            name, arguments = word(item, "name"), _json({"input": item.get("input")})
        case "local_shell_call":
            name, arguments = "local_shell", _json(item.get("action"))
        case _:
            name, arguments = "tool_search", _json(item.get("arguments"))
    call_id = word(item, "call_id") or word(item, "id")
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _result(item: dict[str, Any]) -> Message:
    output = item.get("output", item.get("tools"))
    failed = False
    if isinstance(output, dict):  # early versions: {"content": …, "success": …}
        failed = output.get("success") is False
        output = output.get("content", output)
    content = _content(output) if isinstance(output, list) else as_text("" if output is None else output)
    message: Message = {"role": "tool", "tool_call_id": word(item, "call_id") or word(item, "id"), "content": content}
    if word(item, "name"):
        message["name"] = word(item, "name")
    return {**message, "is_error": True} if failed else message


def _content(parts: Any) -> str | list[dict[str, Any]]:
    """Responses parts as chat parts; one text where all of them are text."""
    if not isinstance(parts, list):
        return "" if parts is None else as_text(parts)
    if not any(word(part, "type") == "input_image" for part in parts):
        return "\n".join(_part_text(part) for part in parts)
    return [
        {"type": "image_url", "image_url": {"url": word(part, "image_url")}}
        if word(part, "type") == "input_image"
        else {"type": "text", "text": _part_text(part)}
        for part in parts
    ]


def _part_text(part: Any) -> str:
    return word(part, "text") if word(part, "type") in TEXTS else as_text(part)


def _joined_texts(parts: Any) -> str:
    return join_texts(parts) if isinstance(parts, list) else ""


def _json(value: Any) -> str:
    return json.dumps({} if value is None else value, ensure_ascii=False)


def _summary(compacted: dict[str, Any], *, history_is_here: bool) -> list[Message]:
    history = compacted.get("replacement_history")
    if not history_is_here and isinstance(history, list):
        return [piece for item in history if isinstance(item, dict) for piece in _pieces_of(item)]
    text = word(compacted, "message")
    return [{"role": "user", "content": text, "is_compact_summary": True}] if text else []


def _said_in_event(event: dict[str, Any]) -> list[Message]:
    role = {"user_message": "user", "agent_message": "assistant"}.get(word(event, "type"))
    text = word(event, "message")
    return [{"role": role, "content": text}] if role and text else []


def _start_of_turn(pieces: list[Message], back: Any) -> int:
    """Where the user's last `back` turns begin; the end when nothing is to be taken back."""
    typed = [
        place
        for place, piece in enumerate(pieces)
        if piece["role"] == "user"
        and "is_compact_summary" not in piece
        and not (isinstance(piece["content"], str) and piece["content"].startswith(NOT_TYPED))
    ]
    if not isinstance(back, int) or back < 1 or not typed:
        return len(pieces)
    return typed[max(0, len(typed) - back)]


def _join_replies(pieces: list[Message]) -> list[Message]:
    """Thought, words and calls of one reply as one message; a second text begins a new one unless calls are open."""
    groups: list[list[Message]] = []
    speaks = calls = False
    for piece in pieces:
        joins = bool(groups) and piece["role"] == "assistant" == groups[-1][0]["role"]
        if joins and (calls or not (speaks and piece["content"])):
            groups[-1].append(piece)
        else:
            groups.append([piece])
            speaks = calls = False
        speaks = speaks or bool(piece["content"])
        calls = calls or "tool_calls" in piece
    messages = [_joined(group) for group in groups]
    # A thought that led to no word and no call was interrupted; no provider takes it back.
    return [
        message for message in messages if message["content"] or "tool_calls" in message or message["role"] == "tool"
    ]


def _joined(pieces: list[Message]) -> Message:
    if pieces[0]["role"] != "assistant":
        return pieces[0]
    message: Message = {"role": "assistant", "content": _joined_contents([piece["content"] for piece in pieces])}
    calls = [call for piece in pieces for call in piece.get("tool_calls", ())]
    if calls:
        message["tool_calls"] = calls
    thoughts = [word(piece, "reasoning_content") for piece in pieces if word(piece, "reasoning_content")]
    if thoughts:
        message["reasoning_content"] = "\n\n".join(thoughts)
    return message


def _joined_contents(contents: list[Any]) -> Any:
    said = [content for content in contents if content]
    if all(isinstance(content, str) for content in said):
        return "\n\n".join(said) or None
    return [part for content in said for part in _as_parts(content)]


def _as_parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _with_instructions(messages: list[Message], lines: list[_Line]) -> list[Message]:
    """The system text from the head of the file, unless a message says the same."""
    for kind, about in lines:
        if kind != "session_meta":
            continue
        text = word(about.get("base_instructions"), "text") or word(about, "instructions")
        if text and not any(isinstance(message["content"], str) and text in message["content"] for message in messages):
            return [{"role": "system", "content": text}, *messages]
        break  # later heads were copied from the session this one was forked from
    return messages


def _last_word(lines: list[_Line], kind: str, key: str) -> str | None:
    return next((word(payload, key) for k, payload in reversed(lines) if k == kind and word(payload, key)), None)


FORMAT = Format("codex", "Codex rollout (JSONL)", knows, read)

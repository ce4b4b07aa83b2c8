"""How is a Hermes session export read? (one session with its messages, as JSON or as a line of JSONL)

The messages are OpenAI's with the columns of a database around them. Rows taken back by the user (active 0 and not
compacted) are left out, as Hermes itself leaves them out.
"""

from typing import Any

from clew.wire.transcripts.blocks import is_anthropic
from clew.wire.transcripts.openai import read_message, with_system
from clew.wire.transcripts.values import Format, Message, Problem, Row, Source, Transcript, word


def knows(source: Source) -> bool:
    if any(word(row.value, "role") == "session_meta" for row in source.rows):
        return True
    named = any(isinstance(source.around.get(key), str | int) for key in ("session_id", "id"))
    messages = [row.value for row in source.rows if word(row.value, "role")]
    return named and bool(messages) and not any(is_anthropic(message.get("content")) for message in messages)


def read(source: Source) -> Transcript:
    messages: list[Message] = []
    problems: list[Problem] = []
    about = dict(source.around)
    for row in source.rows:
        if word(row.value, "role") == "session_meta":  # the first line of a gateway's log
            about = {**row.value, **about}
            continue
        if isinstance(row.value, dict) and row.value.get("active") in (0, False) and not row.value.get("compacted"):
            continue
        message, wrong = read_message(Row(row.line, _without_columns(row.value)))
        problems += wrong
        if message is not None:
            messages.append(message)
    return Transcript(
        messages=tuple(with_system(messages, about.get("system_prompt"))),
        format=FORMAT.name,
        problems=tuple(problems),
        title=word(about, "title") or None,
        model=word(about, "model") or None,
    )


def _without_columns(message: Any) -> Any:
    """Empty columns say nothing; tool_name and reasoning have their own names in OpenAI's format."""
    if not isinstance(message, dict):
        return message
    kept = {key: value for key, value in message.items() if value is not None}
    if word(kept, "tool_name") and message.get("role") == "tool":
        kept.setdefault("name", kept.pop("tool_name"))
    if word(kept, "reasoning"):
        kept.setdefault("reasoning_content", kept["reasoning"])
        del kept["reasoning"]
    return kept


FORMAT = Format("hermes", "Hermes session export (JSON or JSONL)", knows, read)

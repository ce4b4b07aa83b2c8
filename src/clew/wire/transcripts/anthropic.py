"""How is an Anthropic messages transcript read? (a request body, or its messages)"""

from clew.wire.transcripts.blocks import from_assistant, from_user, is_anthropic
from clew.wire.transcripts.openai import read_message, with_system
from clew.wire.transcripts.values import Format, Message, Problem, Source, Transcript, word


def knows(source: Source) -> bool:
    if any(is_anthropic(row.value.get("content")) for row in source.rows if isinstance(row.value, dict)):
        return True
    if any(_is_openai_only(row.value) for row in source.rows):
        return False
    # Plain text both ways: only Anthropic's body has the system text beside the messages.
    return "system" in source.around and any(word(row.value, "role") for row in source.rows)


def read(source: Source) -> Transcript:
    messages: list[Message] = []
    problems: list[Problem] = []
    for row in source.rows:
        message, wrong = read_message(row)
        problems += wrong
        if message is not None:
            messages += from_message(message)
    return Transcript(
        messages=tuple(with_system(messages, source.around.get("system"))),
        format=FORMAT.name,
        problems=tuple(problems),
        title=word(source.around, "title") or None,
        model=word(source.around, "model") or None,
    )


def from_message(message: Message) -> list[Message]:
    """One Anthropic message as OpenAI ones; one that is plain already stays as it is."""
    content, role = message["content"], message["role"]
    if not isinstance(content, list) or role not in ("user", "assistant") or "tool_calls" in message:
        return [message]
    return from_assistant(content) if role == "assistant" else from_user(content)


def _is_openai_only(message: object) -> bool:
    return word(message, "role") in ("tool", "function", "system", "developer") or (
        isinstance(message, dict) and "tool_calls" in message
    )


FORMAT = Format("anthropic", "Anthropic messages (JSON)", knows, read)

"""What one call carries: the session's system prompt and messages, and for this request alone what is recalled."""

from __future__ import annotations

from dataclasses import replace

from clew.core.pictures import without_pictures
from clew.core.ports import Setup
from clew.facts.exchange import Prompt
from clew.facts.messages import message
from clew.facts.session import Session


def assemble(
    session: Session,
    setup: Setup,
    *,
    max_output: int | None = None,
    pictures: int | None = None,
) -> Prompt:
    """The prompt of the next call. Everything before the newest message is what the last prompt had, byte for byte.

    `pictures` is how many messages keep theirs, the newest first; None is all.
    """
    messages = session.messages
    if pictures is not None:
        messages = without_pictures(messages, keep=pictures)
    output = max_output or setup.model.window.reserved_output or None
    return Prompt(session.system, messages, setup.tools, output, setup.model.name)


def with_recalled(prompt: Prompt, recalled: str) -> Prompt:
    """The prompt with a text behind its newest message, in this request and nowhere else.

    Cache points are placed before: one behind a text that the next request does not have would never be found."""
    newest = prompt.messages[-1]
    told = f"<recalled>\n{recalled}\n</recalled>"
    if newest.role != "user":
        return replace(prompt, messages=(*prompt.messages, message("user", told)))
    content = newest.raw.get("content")
    parts = list(content) if isinstance(content, list) else [{"type": "text", "text": newest.text}]
    grown = newest._replace(raw={**newest.raw, "content": [*parts, {"type": "text", "text": told}]})
    return replace(prompt, messages=(*prompt.messages[:-1], grown))

"""What one call carries: the session's system prompt and messages, plus what is recalled for this turn alone."""

from __future__ import annotations

from clew.core.pictures import without_pictures
from clew.core.ports import Setup
from clew.facts.exchange import Prompt
from clew.facts.messages import Message
from clew.facts.session import Session


def assemble(
    session: Session,
    setup: Setup,
    *,
    recalled: str = "",
    max_output: int | None = None,
    pictures: int | None = None,
) -> Prompt:
    """The prompt of the next call. Everything before the newest message is what the last prompt had, byte for byte.

    `pictures` is how many messages keep theirs, the newest first; None is all.
    """
    messages = session.messages
    if pictures is not None:
        messages = without_pictures(messages, keep=pictures)
    if recalled and messages:
        messages = (*messages[:-1], _with(messages[-1], recalled))
    output = max_output or setup.model.window.reserved_output or None
    return Prompt(session.system, messages, setup.tools, output, setup.model.name)


def _with(newest: Message, recalled: str) -> Message:
    """The newest message with the recalled text behind it: in the request, and nowhere else."""
    return newest.saying(f"{newest.text}\n\n<recalled>\n{recalled}\n</recalled>")

"""What is a conversation called, and how does a stored message begin?"""

from __future__ import annotations

from clew.core.speaker import Speaker, speaker
from clew.facts.messages import BadMessages, Message, read_message
from clew.screen.shown import shown
from clew.store.store import Store
from clew.store.values import Conversation, Stored

LOOKED_AT = 12
"""Messages among which the first one of a person is looked for, where a conversation has no title."""
TITLE = 200
"""Characters of a title that are ever shown."""


def title_of(store: Store, conversation: Conversation) -> str:
    """What a conversation is called, or how the first thing a person said in it begins."""
    if conversation.title:
        return one_line(conversation.title)
    asked = [said for said in store.history(conversation.id, limit=LOOKED_AT) if said.role == "user"]
    messages = [said for said in map(read, asked) if said.text.strip()]
    by_person = [said for said in messages if speaker(said) is Speaker.PERSON]
    return one_line((by_person or messages)[0].text) if messages else "(no title)"


def read(stored: Stored) -> Message:
    """What it says, whatever it is."""
    try:
        return read_message(stored.message)
    except BadMessages:
        return read_message({**stored.message, "role": stored.role or "unknown"})


def one_line(text: str, most: int = TITLE) -> str:
    """How a text begins, ready to be shown in one line."""
    line = " ".join(shown(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"

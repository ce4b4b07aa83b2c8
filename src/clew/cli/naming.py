"""Which conversation did the user mean?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.cli.errors import Failed
from clew.cli.moments import age
from clew.cli.shown import shown
from clew.core.speaker import Speaker, speaker
from clew.facts.messages import BadMessages, Message, read_message
from clew.store.store import Store
from clew.store.trouble import NotFound
from clew.store.values import Conversation, Stored

LAST = "last"
LOOKED_AT = 12
"""Messages among which the first one of a person is looked for, where a conversation has no title."""
TITLE = 200
"""Characters of a title that are ever shown."""


def resolve(store: Store, name: str) -> str:
    """The id of a conversation or of one of its sessions, from any unique beginning of it, or `last`."""
    try:
        store.conversation(name)
        return name
    except NotFound as unknown:
        if name == LAST:
            return _newest(store)
        beginning, number = _taken_apart(name)
        found = store.find(beginning) if beginning else []
        if len(found) == 1:
            return _session(store, found[0], number)
        if found:
            raise Failed("\n".join(_candidates(store, name, found))) from None
        raise Failed(shown(str(unknown))) from None


def title_of(store: Store, conversation: Conversation) -> str:
    """What a conversation is called, or how the first thing a person said in it begins."""
    if conversation.title:
        return one_line(conversation.title)
    asked = [said for said in store.history(conversation.id, limit=LOOKED_AT) if said.role == "user"]
    messages = [said for said in map(_read, asked) if said and said.text.strip()]
    by_person = [said for said in messages if speaker(said) is Speaker.PERSON]
    return one_line((by_person or messages)[0].text) if messages else "(no title)"


def one_line(text: str, most: int = TITLE) -> str:
    """How a text begins, ready to be shown in one line."""
    line = " ".join(shown(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _read(said: Stored) -> Message | None:
    try:
        return read_message(said.message)
    except BadMessages:
        return None


def _newest(store: Store) -> str:
    newest = store.conversations(limit=1)
    if not newest:
        raise Failed("there is no conversation in this store yet. 'clew import FILE' puts some in.")
    return newest[0].id


def _taken_apart(name: str) -> tuple[str, str]:
    """`20261116-ab.2` is the third session of the conversation that begins like this."""
    found = re.fullmatch(r"(.+)\.(\d+)", name)
    return (found[1], found[2]) if found else (name, "")


def _session(store: Store, conversation: str, number: str) -> str:
    if not number:
        return conversation
    session = f"{conversation}.{number}"
    store.session(session)  # NotFound says what there is
    return session


def _candidates(store: Store, name: str, found: list[str]) -> Iterator[str]:
    more = " at least" if len(found) >= 20 else ""
    yield f"{shown(name)} could be any of{more} {len(found)} conversations; type more of the id:"
    for conversation in map(store.conversation, found):
        yield f"  {shown(conversation.id)}  {age(conversation.active):>9}  {title_of(store, conversation)[:50]}"

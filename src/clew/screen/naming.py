"""Which conversation did the user mean?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.screen.moments import age
from clew.screen.shown import shown
from clew.screen.titles import title_of
from clew.store.store import Store
from clew.store.trouble import NotFound

LAST = "last"


class Unclear(NotFound):
    """No conversation, or more than one, goes by that name; the text lists what there is."""


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
            raise Unclear("\n".join(_candidates(store, name, found))) from None
        raise Unclear(shown(str(unknown))) from None


def _newest(store: Store) -> str:
    newest = store.conversations(limit=1)
    if not newest:
        raise Unclear("there is no conversation in this store yet. 'clew import FILE' puts some in.")
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

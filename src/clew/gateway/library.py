"""What does the store know of conversations that memory has lost? Asked from a thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew.facts.usage import Usage
from clew.gateway.told import owner_tag
from clew.store.many import last_usage
from clew.store.store import Store
from clew.store.trouble import NotFound


class Library:
    """The store, as far as requests have to be known again."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def owner_of(self, conversation: str) -> str | None:
        """The key that began it, empty for whoever is on this machine; None when there is no such conversation."""
        try:
            tags = self._store.conversation(conversation).tags
        except NotFound:
            return None
        return _owner(tags)

    def view(self, conversation: str) -> list[dict[str, Any]]:
        """What its live session shows."""
        return [stored.message for stored in self._store.messages(self._store.get_compression_tip(conversation))]

    def recognise(self, messages: list[dict[str, Any]], owner: str) -> str | None:
        """The conversation of this owner that begins like this list."""
        found = self._store.recognise(messages)
        if found is None:
            return None
        conversation = self._store.conversation(found[0])
        return conversation.id if _owner(conversation.tags) == owner else None

    def last_usage(self, conversation: str) -> Usage | None:
        return last_usage(self._store, conversation)


def _owner(tags: Sequence[str]) -> str:
    return next((tag.removeprefix(owner_tag("")) for tag in tags if tag.startswith(owner_tag(""))), "")

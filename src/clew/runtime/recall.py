"""The store and its index put together: search what was said, in the words of whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from clew.core.redact import redact
from clew.recall import search as recall
from clew.recall.index import Index
from clew.recall.search import Found
from clew.store.store import Store

_INDEXES: WeakKeyDictionary[Store, Index] = WeakKeyDictionary()


def index_of(store: Store) -> Index:
    """The store's index, opened once."""
    index = _INDEXES.get(store)
    if index is None:
        index = _INDEXES[store] = Index(store.beside, store, redact)
    return index


def search(
    store: Store,
    query: str,
    *,
    limit: int = 10,
    conversation: str | None = None,
    role: str | None = None,
    tool: str | None = None,
    after: float | None = None,
    before: float | None = None,
    derived: bool = False,
) -> Found:
    """Find messages by words, "phrases", prefixes*, identifiers, paths or a plain question, the best first.

    Looks into texts, tool-call arguments and big output that lies outside. `total` counts every match, `searched` says
    in how many messages was looked, and `complete` whether that was all of them. Summaries are left out unless
    `derived` asks for them.

    >>> import clew, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, clew.open_store(os.path.join(folder, "my.db")) as store:
    ...     session = store.open_session()
    ...     _ = store.append(session, [{"role": "user", "content": "The login times out in auth/session.py"}])
    ...     found = clew.search(store, "auth/session.py")
    ...     found.total, found.complete, found.hits[0].snippet
    (1, True, 'The login times out in auth/session.py')
    """
    return recall.search(
        index_of(store),
        query,
        limit=limit,
        conversation=store.conversation(conversation).id if conversation else None,
        role=role,
        tool=tool,
        after=after,
        before=before,
        derived=derived,
    )


def catch_up(store: Store, progress: Callable[[int], None] | None = None) -> int:
    """Index everything that was said since; how many messages that were."""
    return index_of(store).catch_up(progress=progress)

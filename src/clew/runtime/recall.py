"""The store and its index put together: search what was said, in the words of whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from clew.core.redact import redact
from clew.recall import search as recall
from clew.recall.index import Index
from clew.recall.meaning import encoder
from clew.recall.meant import Mode
from clew.recall.nearness import Nearness
from clew.recall.search import Found
from clew.store.store import Store

_INDEXES: WeakKeyDictionary[Store, Index] = WeakKeyDictionary()
_NEARNESS: WeakKeyDictionary[Store, Nearness] = WeakKeyDictionary()


def index_of(store: Store) -> Index:
    """The store's index, opened once."""
    index = _INDEXES.get(store)
    if index is None:
        index = _INDEXES[store] = Index(store.beside, store, redact)
    return index


def nearness_of(store: Store) -> Nearness | None:
    """The meanings beside the store's index, opened once; None where the extra `clew[semantic]` is not installed."""
    nearness, known = _NEARNESS.get(store), encoder()
    if nearness is None and known is not None:
        nearness = _NEARNESS[store] = Nearness(index_of(store), known)
    return nearness


def search(
    store: Store,
    query: str,
    *,
    mode: Mode | None = None,
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

    `mode` is "words", "meaning" or "hybrid". Left open, a question of several plain words is asked in both ways where
    `clew[semantic]` is installed and `build` has been called; the answer's `mode` says how it was looked for in truth.

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
        mode=mode,
        nearness=None if mode == "words" or (mode is None and query.isalnum()) else nearness_of(store),
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


def build(store: Store, limit: int | None = None, progress: Callable[[int], None] | None = None) -> int:
    """Give at most `limit` messages their meanings, so that they are found by those, too; how many got them.

    Nothing waits for it, and it may be stopped at any time: what is done is done. 0 when there is nothing left to do,
    or when `clew[semantic]` is not installed.
    """
    nearness = nearness_of(store)
    if nearness is None:
        return 0
    catch_up(store)
    return nearness.build(limit, progress)

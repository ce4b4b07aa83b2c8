"""How much is in a store: counts and sizes, added up by the database."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clew.store.address import BLOBS, INDEX, beside
from clew.store.care import collect, numbers_of
from clew.store.log import in_parts, marks
from clew.store.sqlite import Sqlite
from clew.store.store import Store


@dataclass(frozen=True, slots=True)
class Weight:
    """What one conversation takes up in the log."""

    messages: int
    """Also what was edited, taken back or derived."""
    bytes: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What is in a store."""

    conversations: int
    sessions: int
    messages: int
    calls: int
    log_bytes: int
    blobs: int
    blob_bytes: int
    index_bytes: int


@dataclass(frozen=True, slots=True)
class Lease:
    """Someone who is writing or compacting now."""

    conversation: str
    purpose: str
    owner: str
    seconds: float


def facts_of(store: Store) -> Facts:
    """Everything counted at one moment."""
    with store.database.read() as work:
        row = work.one(
            "SELECT (SELECT COUNT(*) FROM conversation), (SELECT COUNT(*) FROM session), "
            "(SELECT COUNT(*) FROM message), (SELECT COUNT(*) FROM call), (SELECT COUNT(*) FROM blob), "
            "CAST((SELECT COALESCE(SUM(size), 0) FROM blob) AS BIGINT)"
        )
    assert row is not None
    conversations, sessions, messages, calls, blobs, blob_bytes = row
    return Facts(
        conversations, sessions, messages, calls, store.database.size(), blobs, blob_bytes, store.beside.size()
    )


def messages_in(store: Store) -> int:
    """How many messages the log has."""
    with store.database.read() as work:
        row = work.one("SELECT COUNT(*) FROM message")
    return int(row[0]) if row else 0


def weight_of(store: Store, conversation: str) -> Weight:
    """What one conversation takes up, counting what it shares with others."""
    with store.database.read() as work:
        row = work.one(
            "SELECT COUNT(*), CAST(COALESCE(SUM(COALESCE(LENGTH(m.body), 0) + COALESCE(LENGTH(t.body), 0)), 0) "
            "AS BIGINT) FROM message m JOIN conversation c ON c.number = m.conversation "
            "LEFT JOIN content t ON t.hash = m.content WHERE c.id = ?",
            (conversation,),
        )
    return Weight(*row) if row else Weight(0, 0)


def loose_blobs(store: Store, conversations: Sequence[str]) -> tuple[int, int]:
    """How many blobs only these conversations point to, and their bytes: what goes with them."""
    own = set(numbers_of(store, conversations))
    uses: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    with store.database.read() as work:
        for part in in_parts(sorted(own)):
            rows = work.all(
                "SELECT b.name, b.size, u.message FROM blob_use u JOIN blob b ON b.name = u.name "
                f"WHERE b.name IN (SELECT name FROM blob_use WHERE message IN ({marks(part)}))",
                list(part),
            )
            for name, bytes_, seq in rows:
                uses.setdefault(name, []).append(seq)
                sizes[name] = bytes_
    gone = [name for name, seqs in uses.items() if own.issuperset(seqs)]
    return len(gone), sum(sizes[name] for name in gone)


def schema_of(store: Store) -> int:
    """The version of its tables."""
    with store.database.read() as work:
        row = work.one("SELECT MAX(version) FROM clew_schema")
    return int(row[0]) if row else 0


def leases_of(store: Store) -> list[Lease]:
    """Who holds a conversation now."""
    with store.database.read() as work:
        now = store.database.now(work)
        rows = work.all(
            "SELECT c.id, l.purpose, l.owner, l.until FROM lease l JOIN conversation c ON c.number = l.conversation "
            "WHERE l.until > ? ORDER BY c.id, l.purpose",
            (now,),
        )
    return [Lease(conversation, purpose, owner, until - now) for conversation, purpose, owner, until in rows]


def collectable(store: Store) -> int:
    """How many blobs nothing points to."""
    return len(collect(store, dry_run=True))


def readable_by_others(store: Store) -> list[Path]:
    """Which of its files someone else on this machine may read."""
    if not isinstance(store.database, Sqlite) or os.name == "nt":
        return []
    path = store.database.path
    files = [
        *store.database.files(),
        beside(path, INDEX),
        beside(path, BLOBS),
    ]
    return [file for file in files if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077]

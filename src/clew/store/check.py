"""Is the store whole? Every hash, every pointer, every blob, looked at one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from clew.store.blobs import Shelf, name_of
from clew.store.database import Work
from clew.store.lineage import digest, link
from clew.store.log import COLUMNS, in_parts, marks, stored
from clew.store.node_care import flaws
from clew.store.spelling import fingerprint
from clew.store.store import Store
from clew.store.trouble import StoreDamaged, StoreError

AT_ONCE = 500
"""Messages read at a time: a proof over a million of them needs no more memory than over a thousand."""


class Kind(StrEnum):
    """What is wrong, which decides what can be done."""

    FILE = "file"
    """The database's own structure."""
    TEXT = "text"
    """What someone said is missing or was changed: only a backup brings it back."""
    CHAIN = "chain"
    """A running hash does not fit: made again from the messages."""
    POINTER = "pointer"
    """Something points to nothing."""
    LEFTOVER = "leftover"
    """Something nothing points to."""
    INDEX = "index"
    """The index is not what the log says: made again from it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it must be."""

    kind: Kind
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def findings(store: Store, progress: Callable[[int], None] = lambda done: None) -> list[Finding]:
    """Everything that is wrong with a store; empty when it is whole. `progress` hears how many messages were read."""
    try:
        with store.database.read() as work:
            broken = store.database.integrity(work)
            if broken:
                return [Finding(Kind.FILE, "database", what) for what in broken]
            return [
                *_messages(work, store.shelf, progress),
                *_contents(work),
                *_sessions(work),
                *_blobs(work, store.shelf),
                *(Finding(Kind.POINTER, name, what) for name, what in flaws(work)),
            ]
    except StoreDamaged as damage:
        return [Finding(Kind.FILE, "database", str(damage))]


def _messages(work: Work, shelf: Shelf, progress: Callable[[int], None]) -> Iterator[Finding]:
    done = 0
    for number, name, seed in work.all("SELECT number, id, seed FROM conversation ORDER BY number"):
        chain, broken, loose = bytes(seed), False, False
        at = (-1, -1)
        while True:
            rows = work.all(
                "SELECT place, seq, hash, chain, standing FROM message WHERE conversation = ? "
                "AND (place, seq) > (?, ?) ORDER BY place, seq LIMIT ?",
                (number, *at, AT_ONCE),
            )
            if not rows:
                break
            yield from _texts(work, shelf, name, {seq: bytes(hash_) for _, seq, hash_, _, _ in rows})
            for place, _, hash_, known, standing in rows:
                if standing and not broken:
                    chain, loose = link(chain, bytes(hash_)), known is None
                    if known is not None and bytes(known) != chain:
                        broken = True  # everything behind it differs too: once is enough
                        yield Finding(Kind.CHAIN, name, f"the running hash does not fit from message {place} on")
            at = rows[-1][:2]
            done += len(rows)
            progress(done)
        if loose and not broken:
            yield Finding(Kind.CHAIN, name, "the line has no running hash at its end")


def _texts(work: Work, shelf: Shelf, name: str, hashes: dict[int, bytes]) -> Iterator[Finding]:
    for part in in_parts(list(hashes)):
        rows = work.all(f"SELECT {COLUMNS} WHERE m.seq IN ({marks(part)})", list(part))
        try:
            readable = stored(work, shelf, rows)
        except (StoreError, ValueError):
            readable = []
            for row in rows:  # one of them cannot be read: say which
                try:
                    readable += stored(work, shelf, [row])
                except (StoreError, ValueError) as wrong:
                    yield Finding(Kind.TEXT, name, f"message {row[2]} cannot be read: {wrong}")
        for said in readable:
            if fingerprint(said.message) != hashes[said.seq]:
                yield Finding(Kind.TEXT, name, f"message {said.place} was changed outside clew")


def _contents(work: Work) -> Iterator[Finding]:
    last = b""
    while rows := work.all("SELECT hash, body FROM content WHERE hash > ? ORDER BY hash LIMIT ?", (last, AT_ONCE)):
        for hash_, body in rows:
            if digest(bytes(body)) != bytes(hash_):
                yield Finding(Kind.TEXT, "content", f"{bytes(hash_).hex()} does not have the bytes it is named for")
        last = bytes(rows[-1][0])
    unused = work.one(
        "SELECT COUNT(*) FROM content WHERE hash NOT IN (SELECT content FROM message WHERE content IS NOT NULL)"
    )
    if unused and unused[0]:
        yield Finding(Kind.LEFTOVER, "content", f"{unused[0]} texts that no message says")


def _sessions(work: Work) -> Iterator[Finding]:
    for name, tip in work.all(
        "SELECT c.id, c.tip FROM conversation c LEFT JOIN session s ON s.id = c.tip AND s.conversation = c.number "
        "WHERE s.id IS NULL"
    ):
        yield Finding(Kind.POINTER, name, f"goes on in session {tip}, which is not there")
    for name, parent in work.all(
        "SELECT s.id, s.parent FROM session s LEFT JOIN session p ON p.id = s.parent "
        "WHERE s.parent IS NOT NULL AND p.id IS NULL AND s.origin = 'compression'"
    ):
        yield Finding(Kind.POINTER, name, f"continues session {parent}, which is not there")
    for (name,) in work.all(
        "SELECT s.id FROM session s WHERE s.end_reason = 'compression' "
        "AND NOT EXISTS (SELECT 1 FROM session c WHERE c.parent = s.id AND c.origin = 'compression')"
    ):
        yield Finding(Kind.POINTER, name, "was ended by a compaction that opened nothing")
    for name, n in work.all(
        "SELECT o.session, COUNT(*) FROM opening o LEFT JOIN message m ON m.seq = o.message "
        "LEFT JOIN session s ON s.id = o.session WHERE m.seq IS NULL OR s.id IS NULL GROUP BY o.session"
    ):
        yield Finding(Kind.POINTER, name, f"opens with {n} messages that are not there")
    for (seq,) in work.all(
        "SELECT m.seq FROM message m LEFT JOIN conversation c ON c.number = m.conversation "
        "WHERE c.number IS NULL LIMIT 20"
    ):
        yield Finding(Kind.POINTER, f"message {seq}", "belongs to no conversation")


def _blobs(work: Work, shelf: Shelf) -> Iterator[Finding]:
    for name, size in work.all("SELECT name, size FROM blob ORDER BY name"):
        try:
            data = shelf.get(name)
        except StoreError as wrong:
            yield Finding(Kind.TEXT, f"blob {name}", str(wrong))
            continue
        if len(data) != size or name_of(data) != name:
            yield Finding(Kind.TEXT, f"blob {name}", "does not have the bytes it is named for")
    for name, seq in work.all(
        "SELECT u.name, u.message FROM blob_use u LEFT JOIN blob b ON b.name = u.name "
        "LEFT JOIN message m ON m.seq = u.message WHERE b.name IS NULL OR m.seq IS NULL"
    ):
        yield Finding(Kind.POINTER, f"message {seq}", f"points to blob {name}, and one of the two is not there")

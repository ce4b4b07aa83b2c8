"""Keeping a store well: mend what is derived, forget what must go, collect what nothing points to."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clew.facts.session import Origin
from clew.store import chain, log
from clew.store.blobs import Shelf
from clew.store.database import Work
from clew.store.log import in_parts, marks, relink
from clew.store.node_care import flaws
from clew.store.spelling import fingerprint, read_back, spelled
from clew.store.store import Store
from clew.store.values import Conversation

_UNSAID = "hash NOT IN (SELECT content FROM message WHERE content IS NOT NULL)"
DAY = 86_400.0
"""Seconds. What nothing points to is left alone for a day: someone may be about to."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a forgetting removed."""

    conversations: tuple[str, ...]
    messages: int
    blobs: int


def mend(store: Store) -> list[str]:
    """Make again what can be made from the messages; what was done, as sentences. Make a backup first."""
    done = []
    with store.database.write() as work:
        done += mend_pointers(work)
        done += _drop_flawed_nodes(work)
        done += _mark_lost_texts(work)
        for number, name in work.all("SELECT number, id FROM conversation ORDER BY number"):
            if relink(work, number, -1):
                done.append(f"{name}: the running hash was made again from its messages")
        done += _say_loose_texts(work, store.shelf)
        work.run("DELETE FROM lease WHERE until < ?", (store.database.now(work),))
    return done


def mend_pointers(work: Work) -> list[str]:
    """Give what lost its owner a new one, and let go of what points to nothing."""
    return [*_own_the_lost(work), *_drop_dangling(work), *_repoint_tips(work)]


def family_of(store: Store, session: str) -> list[str]:
    """A conversation and everything delegated from it, at any depth: what is forgotten together."""
    with store.database.read() as work:
        found = [chain.head_of(work, session).conversation]
        for name in found:  # grows while it is walked
            number = chain.head_of(work, name).number
            found += [
                row[0]
                for row in work.all(
                    "SELECT id FROM conversation WHERE origin = 'delegate' "
                    "AND parent IN (SELECT id FROM session WHERE conversation = ?)",
                    (number,),
                )
                if row[0] not in found
            ]
    return found


def numbers_of(store: Store, conversations: Sequence[str]) -> list[int]:
    """The numbers of all their messages: what the index has to forget too."""
    with store.database.read() as work:
        return [
            row[0]
            for name in conversations
            for row in work.all("SELECT seq FROM message WHERE conversation = ?", (chain.head_of(work, name).number,))
        ]


def forget(store: Store, session: str, *, reason: str) -> Forgotten:
    """Remove a conversation and what it delegated: rows, texts, blobs, journals. A tombstone says that it was there.

    What it cost stays in the ledger, without its words. Branches of it keep their own messages and lose the pointers.
    """
    names = family_of(store, session)
    messages = 0
    loose: dict[str, float] = {}
    with store.database.write() as work:
        for table in ("content", "blob"):  # whoever is about to say the same again waits, and then keeps it anew
            store.database.lock_table(work, table)
        for name in names:
            count, blobs = _forget(work, name, reason)
            messages += count
            loose |= {blob: max(at, loose.get(blob, 0.0)) for blob, at in blobs.items()}
        _drop_unused_content(work)
        gone = _drop_unused_blobs(work, loose)
        for name in gone:
            store.shelf.remove(name)
    store.database.settle()
    return Forgotten(tuple(names), messages, len(gone))


def inactive(store: Store, *, days: float, source: str | None = None, now: float | None = None) -> list[Conversation]:
    """The conversations in which nothing was said for so many days: what retention takes."""
    until = (time.time() if now is None else now) - days * DAY
    return [
        one
        for one in store.conversations()
        if one.active < until and one.origin.value != "delegate" and (source is None or one.source == source)
    ]


def collect(store: Store, *, older_than: float = DAY, dry_run: bool = False) -> list[str]:
    """Remove the blobs that nothing points to and that no one wanted for a day; their names."""
    until = time.time() - older_than
    with store.database.write() as work:
        known = {row[0] for row in work.all("SELECT name FROM blob")}
        unused = {
            row[0]
            for row in work.all(
                "SELECT name FROM blob b WHERE at < ? AND NOT EXISTS (SELECT 1 FROM blob_use u WHERE u.name = b.name)",
                (until,),
            )
        }
        stray = {name for name, wanted in store.shelf.names() if name not in known and wanted < until}
        if not dry_run:
            work.many("DELETE FROM blob WHERE name = ?", [(name,) for name in sorted(unused)])
    if not dry_run:
        for name in unused | stray:
            store.shelf.remove(name)
    return sorted(unused | stray)


def _forget(work: Work, name: str, reason: str) -> tuple[int, dict[str, float]]:
    number = chain.head_of(work, name).number
    seqs = [row[0] for row in work.all("SELECT seq FROM message WHERE conversation = ?", (number,))]
    blobs: dict[str, float] = {}
    for part in in_parts(seqs):
        for blob, at in work.all(
            "SELECT u.name, MAX(m.at) FROM blob_use u JOIN message m ON m.seq = u.message "
            f"WHERE u.message IN ({marks(part)}) GROUP BY u.name",
            part,
        ):
            blobs[blob] = max(at, blobs.get(blob, 0.0))
        work.run(f"DELETE FROM blob_use WHERE message IN ({marks(part)})", part)
        work.run(f"DELETE FROM opening WHERE message IN ({marks(part)})", part)
    work.run("DELETE FROM opening WHERE session IN (SELECT id FROM session WHERE conversation = ?)", (number,))
    work.run("UPDATE call SET conversation = NULL, raw = NULL WHERE conversation = ?", (number,))
    for other in _standing_on(work, number):  # a branch's summaries tell what it shares with the forgotten one
        work.run("DELETE FROM node WHERE conversation = ?", (other,))
    for table in ("node", "host_session", "message", "session", "lease"):
        work.run(f"DELETE FROM {table} WHERE conversation = ?", (number,))
    work.run("DELETE FROM conversation WHERE number = ?", (number,))
    work.run(
        "INSERT INTO tombstone (id, at, reason, messages) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (name, time.time(), reason, len(seqs)),
    )
    return len(seqs), blobs


def _standing_on(work: Work, number: int) -> list[int]:
    """The conversations with nodes over messages of this one."""
    rows = work.all(
        "SELECT DISTINCT n.conversation FROM node n JOIN message m ON m.seq IN (n.first_row, n.last_row) "
        "WHERE m.conversation = ? AND n.conversation <> ?",
        (number, number),
    )
    return [int(row[0]) for row in rows]


def _drop_flawed_nodes(work: Work) -> list[str]:
    """Summaries that do not fit their messages leave; the next compaction makes them again."""
    wrong = list(dict.fromkeys(name for name, _ in flaws(work)))
    for name in wrong:
        work.run("DELETE FROM node WHERE conversation = (SELECT number FROM conversation WHERE id = ?)", (name,))
    return [f"{name}: summaries that did not fit its messages were removed" for name in wrong]


def _drop_unused_content(work: Work) -> None:
    work.run(f"DELETE FROM content WHERE {_UNSAID}")


def _drop_unused_blobs(work: Work, loose: Mapping[str, float]) -> list[str]:
    """Those that nothing else points to, and that no one put there again since: he may be about to point to them."""
    gone = [
        name
        for name, at in loose.items()
        if not work.one("SELECT 1 FROM blob_use WHERE name = ?", (name,))
        and not work.one("SELECT 1 FROM blob WHERE name = ? AND at > ?", (name, at))
    ]
    work.many("DELETE FROM blob WHERE name = ?", [(name,) for name in gone])
    return gone


def _own_the_lost(work: Work) -> list[str]:
    """Messages whose conversation is gone are still what someone said; a conversation needs a session to go on in."""
    done = []
    for (number,) in work.all(
        "SELECT DISTINCT conversation FROM message WHERE conversation NOT IN (SELECT number FROM conversation)"
    ):
        name = f"salvaged-{number}"
        work.run(
            "INSERT INTO conversation (number, id, title, cwd, model, tags, source, origin, created, tip, seed) "
            "VALUES (?, ?, 'salvaged', '', '', '[]', 'salvage', 'new', ?, ?, ?)",
            (number, name, time.time(), f"{name}.0", b""),
        )
        done.append(f"{name}: messages whose conversation was lost have one again")
    work.run("DELETE FROM session WHERE conversation NOT IN (SELECT number FROM conversation)")
    for number, name in work.all(
        "SELECT number, id FROM conversation WHERE number NOT IN (SELECT conversation FROM session)"
    ):
        work.run(
            "INSERT INTO session (id, conversation, origin, number, system, since, opened, state) "
            "VALUES (?, ?, 'new', 0, ?, 0, ?, '{}')",
            (f"{name}.0", number, b"", time.time()),
        )
        done.append(f"{name}: a session that shows all of it was opened")
    return done


def _mark_lost_texts(work: Work) -> list[str]:
    rows = work.all(
        "SELECT seq, role FROM message WHERE content IS NOT NULL AND content NOT IN (SELECT hash FROM content)"
    )
    for seq, role in rows:
        marker = {"role": role, "content": "(clew: the text of this message was lost when the store was damaged)"}
        work.run(
            "UPDATE message SET body = ?, content = NULL, outside = NULL, hash = ? WHERE seq = ?",
            (spelled(marker), fingerprint(marker), seq),
        )
    return [f"{len(rows)} messages lost their text; a note stands in its place"] if rows else []


def _say_loose_texts(work: Work, shelf: Shelf) -> list[str]:
    """Texts whose message was lost are still what someone said: they get a conversation of their own."""
    texts = [read_back(bytes(body)) for (body,) in work.all(f"SELECT body FROM content WHERE {_UNSAID}")]
    if not texts:
        return []
    name = f"salvaged-texts-{time.strftime('%Y%m%d-%H%M%S')}"
    about = chain.About(title="texts whose place was lost", source="salvage")
    session = chain.open_conversation(work, id_=name, about=about, origin=Origin.NEW, parent=None, system="")
    number = chain.head_of(work, session).number
    log.write(work, number, log.prepare(texts, shelf), log.end_of(work, number))
    return [f"{name}: {len(texts)} texts whose place was lost were put there"]


def _drop_dangling(work: Work) -> list[str]:
    statements = (
        "DELETE FROM opening WHERE message NOT IN (SELECT seq FROM message) OR session NOT IN (SELECT id FROM session)",
        "DELETE FROM blob_use WHERE message NOT IN (SELECT seq FROM message) OR name NOT IN (SELECT name FROM blob)",
        "DELETE FROM node WHERE conversation NOT IN (SELECT number FROM conversation)",
        "DELETE FROM host_session WHERE conversation NOT IN (SELECT number FROM conversation)",
    )
    counts = [work.run(statement) for statement in statements]
    return [f"{count} pointers to nothing were removed" for count in counts if count > 0]


def _repoint_tips(work: Work) -> list[str]:
    done = []
    for number, name in work.all(
        "SELECT c.number, c.id FROM conversation c LEFT JOIN session s ON s.id = c.tip WHERE s.id IS NULL"
    ):
        newest = work.one("SELECT id FROM session WHERE conversation = ? ORDER BY number DESC LIMIT 1", (number,))
        if newest:
            work.run("UPDATE conversation SET tip = ? WHERE number = ?", (newest[0], number))
            done.append(f"{name}: goes on in {newest[0]} again")
    return done

"""The chain: a conversation goes on from session to session, branches, delegates, and can go back."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from clew.facts.session import Origin
from clew.store.database import Row, Work
from clew.store.lineage import links, pointers
from clew.store.log import COLUMNS, Line, Prepared, end_of, relink, set_aside, whole, word, write_at
from clew.store.trouble import NotFound, SessionBusy
from clew.store.values import Conversation, SessionRecord

LATEST = 1 << 60
"""Behind every place there is."""


class Head(NamedTuple):
    """The conversation a session belongs to, and where it now goes on."""

    number: int
    conversation: str
    tip: str


@dataclass(frozen=True, slots=True)
class About:
    """What belongs to a conversation and not to its sessions, so that no compaction can lose it."""

    title: str = ""
    cwd: str = ""
    model: str = ""
    tags: tuple[str, ...] = ()
    source: str = ""


class Item(NamedTuple):
    """One message of a session's view, without its text."""

    seq: int
    hash: bytes
    place: int
    role: str
    derived: bool
    opening: bool
    """Whether the session opened with it, as against having been said since."""
    own: bool
    """Whether it stands on the conversation's own line: not derived, and not what a branch shares with another."""


def head_of(work: Work, id_: str, lock: str = "") -> Head:
    """By the id of a session or of a conversation."""
    # Only the conversation's row is locked: two who come by different sessions would else wait for each other.
    row = work.one(f"{_BY_SESSION}{lock}", (id_,)) or work.one(
        f"SELECT number, id, tip FROM conversation WHERE id = ?{lock}", (id_,)
    )
    if row is None:
        raise NotFound(_unknown(work, id_))
    return Head(*row)


def end_of_talk(work: Work, id_: str, lock: str = "") -> tuple[Head, Line, bool]:
    """All that an append has to know, in one look: the conversation, where its line ends, whether anyone has a lease.

    Where a row can be locked it is, by a statement of its own: what is read in the same one is as it was before the
    wait.
    """
    row = None
    if not lock or work.one(f"{_BY_SESSION}{lock}", (id_,)):
        row = work.one(_END_OF_TALK, (id_,))
    if row is None:  # the id of the conversation itself, or of none
        head = head_of(work, id_, lock)
        return head, end_of(work, head.number), True
    number, conversation, tip, place, chain, standing, leases = row
    ended = standing and chain is not None
    end = Line(place + 1, bytes(chain)) if ended else end_of(work, number)
    return Head(number, conversation, tip), end, leases > 0


_BY_SESSION = "SELECT number, id, tip FROM conversation WHERE number = (SELECT conversation FROM session WHERE id = ?)"
_END_OF_TALK = """
    SELECT c.number, c.id, c.tip, m.place, m.chain, m.standing,
        (SELECT COUNT(*) FROM lease l WHERE l.conversation = c.number)
    FROM session s JOIN conversation c ON c.number = s.conversation
    LEFT JOIN message m ON m.seq = (
        SELECT seq FROM message WHERE conversation = c.number ORDER BY place DESC, seq DESC LIMIT 1)
    WHERE s.id = ?"""


def open_conversation(
    work: Work,
    *,
    id_: str | None,
    about: About,
    origin: Origin,
    parent: str | None,
    system: str,
    opening: Sequence[Item] = (),
    at: float | None = None,
) -> str:
    """A new conversation with its first session, whose id is returned."""
    moment = time.time() if at is None else at
    name = word(id_ or _new_id(moment))
    seed = links(b"", (item.hash for item in opening))[-1] if opening else b""
    row = work.one(
        "INSERT INTO conversation (id, title, cwd, model, tags, source, origin, parent, created, tip, seed) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING number",
        (name, word(about.title), word(about.cwd), word(about.model), json.dumps(about.tags), word(about.source),
         origin.value, parent, moment, f"{name}.0", seed),
    )  # fmt: skip
    if row is None or work.one(
        "SELECT 1 FROM session WHERE id = ? UNION ALL SELECT 1 FROM conversation WHERE id = ?", (name, f"{name}.0")
    ):
        raise SessionBusy(f"there is a conversation {name} already; go on with it, or choose another id.")
    head = Head(row[0], name, f"{name}.0")
    _open_session(work, head, 0, parent, origin, system, 0, [item.seq for item in opening], {}, moment)
    return head.tip


def describe(work: Work, head: Head, changes: Mapping[str, Any]) -> None:
    """Change what belongs to the conversation."""
    for field, value in changes.items():
        told = json.dumps(value) if field == "tags" else word(value)
        work.run(f"UPDATE conversation SET {field} = ? WHERE number = ?", (told, head.number))


def view(work: Work, session: str) -> list[Item]:
    """What the model sees in a session: what it opened with, then what stands on the line since."""
    number, since, until = _stretch(work, session)
    return opened_with(work, session) + line(work, number, since, until)


def opened_with(work: Work, session: str) -> list[Item]:
    """What a session points to at its beginning."""
    rows = work.all(
        "SELECT m.seq, m.hash, m.place, m.role, m.derived, m.standing, m.conversation = s.conversation "
        "FROM session s JOIN opening o ON o.session = s.id JOIN message m ON m.seq = o.message "
        "WHERE s.id = ? ORDER BY o.n",
        (session,),
    )
    return [
        Item(seq, bytes(hash_), place, role, bool(derived), opening=True, own=bool(standing and is_here))
        for seq, hash_, place, role, derived, standing, is_here in rows
    ]


def line(work: Work, number: int, since: int = 0, until: int | None = None) -> list[Item]:
    """What stands on a conversation's line between two places."""
    rows = work.all(
        "SELECT seq, hash, place, role, derived FROM message "
        "WHERE conversation = ? AND place >= ? AND place < ? AND standing = 1 ORDER BY place, seq",
        (number, since, LATEST if until is None else until),
    )
    return [
        Item(seq, bytes(hash_), place, role, bool(derived), opening=False, own=True)
        for seq, hash_, place, role, derived in rows
    ]


def open_with(work: Work, session: str, seqs: Sequence[int]) -> None:
    """Let a session begin with these messages."""
    work.run("DELETE FROM opening WHERE session = ?", (session,))
    work.many(
        "INSERT INTO opening (session, n, message) VALUES (?, ?, ?)", [(session, n, seq) for n, seq in enumerate(seqs)]
    )


def first_of(work: Work, head: Head) -> str:
    """The conversation's first session: with what it opened, a branch begins."""
    row = work.one("SELECT id FROM session WHERE conversation = ? ORDER BY number LIMIT 1", (head.number,))
    assert row is not None
    return str(row[0])


def reseed(work: Work, head: Head) -> bool:
    """Make the running hash start from what the conversation opened with, as it now is; whether that is new."""
    chains = links(b"", (item.hash for item in opened_with(work, first_of(work, head))))
    seed = chains[-1] if chains else b""
    return work.run("UPDATE conversation SET seed = ? WHERE number = ? AND seed <> ?", (seed, head.number, seed)) > 0


def view_rows(work: Work, session: str) -> list[Row]:
    """The same with everything the log knows, as rows of `COLUMNS`."""
    number, since, until = _stretch(work, session)
    return work.all(
        f"SELECT {COLUMNS} JOIN opening o ON o.message = m.seq WHERE o.session = ? ORDER BY o.n", (session,)
    ) + whole(
        work.all(
            f"SELECT {COLUMNS} WHERE m.conversation = ? AND m.place >= ? AND m.place < ? AND m.standing = 1 "
            "ORDER BY m.place, m.seq",
            (number, since, LATEST if until is None else until),
        ),
        to_the_end=until is None,
    )


def go_on(
    work: Work,
    head: Head,
    messages: Sequence[Prepared],
    *,
    upto: int,
    system: str | None,
    state: Mapping[str, Any],
    at: float,
) -> str:
    """End the tip with reason `compression` and open its child on the compacted messages. The child's id.

    The child points to what was kept; only what is new, the summary above all, is written. What was said behind the
    first `upto` messages of the view while the summary was being made follows it, in its order.
    """
    seen = view(work, head.tip)
    known, later = seen[:upto], seen[upto:]
    since = next((item.place for item in later if not item.opening), end_of(work, head.number).place)
    beside = max(since - 1, 0)  # a summary stands with the last of what it stands for
    places = pointers([item.hash for item in known], [message.hash for message in messages])
    opening = [
        known[place].seq if place is not None else write_at(work, head.number, message, beside, derived=True, at=at)
        for place, message in zip(places, messages, strict=True)
    ]
    opening += [item.seq for item in later if item.opening]
    old = record_of(work, head.tip)
    work.run("UPDATE session SET ended = ?, end_reason = 'compression', until = ? WHERE id = ?", (at, since, head.tip))
    number = _next_number(work, head)
    child = head._replace(tip=f"{head.conversation}.{number}")
    told = old.system if system is None else system
    _open_session(work, child, number, head.tip, Origin.COMPRESSION, told, since, opening, state, at)
    work.run("UPDATE conversation SET tip = ? WHERE number = ?", (child.tip, head.number))
    return child.tip


def go_back(work: Work, head: Head, at: float) -> Head:
    """Undo the newest compaction: the parent goes on, with everything that was said since."""
    tip = record_of(work, head.tip)
    if tip.origin is not Origin.COMPRESSION or tip.parent is None:
        raise NotFound(f"{head.conversation} has no compaction to undo: {head.tip} is its first session.")
    end = end_of(work, head.number).place
    work.run("UPDATE session SET ended = ?, end_reason = 'undo', until = ? WHERE id = ?", (at, end, head.tip))
    work.run("UPDATE session SET ended = NULL, end_reason = NULL, until = NULL WHERE id = ?", (tip.parent,))
    work.run("UPDATE conversation SET tip = ? WHERE number = ?", (tip.parent, head.number))
    return head._replace(tip=tip.parent)


def take_back(work: Work, head: Head, turns: int, at: float) -> tuple[Head, list[int]]:
    """Take back a person's last turns with all that followed, across compactions. What was taken stays in the log."""
    seen = view(work, head.tip)
    asked = [n for n, item in enumerate(seen) if item.role == "user" and not item.derived]
    start = asked[-turns] if len(asked) >= turns else None
    is_child = record_of(work, head.tip).origin is Origin.COMPRESSION
    if is_child and (start is None or seen[start].opening):
        return take_back(work, go_back(work, head, at), turns, at)
    if start is None:
        raise NotFound(
            f"{head.conversation} has {len(asked)} turn{'' if len(asked) == 1 else 's'} of a person to take back, "
            f"not {turns}. Nothing was changed."
        )
    taken = seen[start:]
    set_aside(work, [item.seq for item in taken if not item.opening])
    relink(work, head.number, LATEST)
    if seen[start].opening:  # a branch gives up what it began with
        kept = [item.seq for item in seen[:start]]
        open_with(work, head.tip, kept)
        reseed(work, head)
    return head, [item.seq for item in taken]


def record_of(work: Work, session: str) -> SessionRecord:
    row = work.one(f"SELECT {_SESSION} WHERE s.id = ?", (session,))
    if row is None:
        raise NotFound(_unknown(work, session))
    return _record(row)


def sessions_of(work: Work, number: int) -> list[SessionRecord]:
    """The sessions of a conversation, first to last."""
    return [
        _record(row) for row in work.all(f"SELECT {_SESSION} WHERE s.conversation = ? ORDER BY s.number", (number,))
    ]


def conversations(
    work: Work, *, limit: int | None = None, id_: str | None = None, parent_in: int | None = None
) -> list[Conversation]:
    """Conversations, the one last active first."""
    where = ""
    values: list[str | int] = []
    if id_ is not None:
        where, values = "WHERE c.id = ?", [id_]
    if parent_in is not None:
        where, values = "WHERE c.parent IN (SELECT id FROM session WHERE conversation = ?)", [parent_in]
    rows = work.all(
        "SELECT c.id, c.title, c.cwd, c.model, c.tags, c.source, c.origin, c.parent, c.created, c.tip, "
        "COALESCE((SELECT m.place + 1 FROM message m WHERE m.conversation = c.number "
        "ORDER BY m.place DESC, m.seq DESC LIMIT 1), 0), "
        "(SELECT COUNT(*) FROM session s WHERE s.conversation = c.number), "
        "COALESCE((SELECT m.at FROM message m WHERE m.conversation = c.number "
        "ORDER BY m.place DESC, m.seq DESC LIMIT 1), c.created) AS active "
        f"FROM conversation c {where} ORDER BY active DESC, c.number DESC" + ("" if limit is None else " LIMIT ?"),
        [*values, *([] if limit is None else [limit])],
    )
    return [
        Conversation(
            id=row[0], title=row[1], cwd=row[2], model=row[3], tags=tuple(json.loads(row[4])), source=row[5],
            origin=Origin(row[6]), parent=row[7], created=row[8], tip=row[9], messages=row[10], sessions=row[11],
            active=row[12],
        )
        for row in rows
    ]  # fmt: skip


_SESSION = (
    "s.id, c.id, s.parent, s.origin, s.number, s.system, s.opened, s.ended, s.end_reason, s.state "
    "FROM session s JOIN conversation c ON c.number = s.conversation"
)


def _record(row: Row) -> SessionRecord:
    id_, conversation, parent, origin, number, system, opened, ended, reason, state = row
    text = bytes(system).decode("utf-8", "surrogatepass")
    return SessionRecord(
        id_, conversation, parent, Origin(origin), number, text, opened, ended, reason, json.loads(state)
    )


def _open_session(
    work: Work, head: Head, number: int, parent: str | None, origin: Origin, system: str, since: int,
    opening: Sequence[int], state: Mapping[str, Any], at: float,
) -> None:  # fmt: skip
    work.run(
        "INSERT INTO session (id, conversation, parent, origin, number, system, since, opened, state) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (head.tip, head.number, parent, origin.value, number, system.encode("utf-8", "surrogatepass"), since, at,
         json.dumps(dict(state))),
    )  # fmt: skip
    open_with(work, head.tip, opening)


def _stretch(work: Work, session: str) -> tuple[int, int, int | None]:
    row = work.one("SELECT conversation, since, until FROM session WHERE id = ?", (session,))
    if row is None:
        raise NotFound(_unknown(work, session))
    return row[0], row[1], row[2]


def _next_number(work: Work, head: Head) -> int:
    row = work.one("SELECT MAX(number) FROM session WHERE conversation = ?", (head.number,))
    assert row is not None
    return int(row[0]) + 1


def _new_id(at: float) -> str:
    return f"{time.strftime('%Y%m%d', time.localtime(at))}-{secrets.token_hex(4)}"


def _unknown(work: Work, id_: str) -> str:
    gone = work.one("SELECT at, reason FROM tombstone WHERE id IN (?, ?)", (id_, id_.rsplit(".", 1)[0]))
    if gone:
        return f"{id_} was forgotten on {time.strftime('%Y-%m-%d', time.localtime(gone[0]))} ({gone[1]})."
    return f"there is no session or conversation {id_[:80]!r}. 'clew sessions list' shows what there is."

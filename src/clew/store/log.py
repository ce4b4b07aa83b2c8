"""The log: messages written in their order, read by place, told from each other by their running hash."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain as chained
from itertools import count, islice, repeat
from typing import Any, NamedTuple

from clew.facts.messages import RESULT_ROLES, read_message
from clew.store.blobs import OUTSIDE, POINTER, Shelf, put_back, take_out
from clew.store.database import Look, Row, Work
from clew.store.lineage import digest, link, links
from clew.store.spelling import read_back, spell, spelled
from clew.store.trouble import StoreDamaged
from clew.store.values import Stored

INLINE = 2_048
"""Bytes up to which a message stands in its own row; longer ones are kept once, for all who say the same. Keeping one
apart dirties two more pages, more than a short text takes."""
COLUMNS = (
    "m.seq, c.id, m.place, m.at, m.role, m.tool, m.derived, m.standing, m.body, m.content, m.outside, m.hash, "
    "m.chain "
    "FROM message m JOIN conversation c ON c.number = m.conversation"
)
KNOT = 32
"""Messages from one knot in the thread to the next, at most; the end of every append is one too. A list that is handed
back is recognised by the last knot it has."""
_POINTS = re.compile(b"blob:").search  # takes half the time of `in`, which first tries to read the word as a number
AT_ONCE = 500
"""Values in one statement: well below what either database allows."""


class Prepared(NamedTuple):
    """A message ready to be written: everything that needs no transaction is done."""

    hash: bytes
    role: str
    tool: str
    call_id: str
    body: bytes
    outside: str | None
    """Where its big texts stood, as JSON; None when it has none."""
    blobs: tuple[tuple[str, int], ...]
    """Names and sizes of what it keeps or points to outside."""


class Line(NamedTuple):
    """Where a conversation's line ends."""

    place: int
    """The next free place."""
    chain: bytes


class _Tools:
    """Which call made which tool work; read only when a result does not say it itself."""

    def __init__(self) -> None:
        self.calling: list[Mapping[str, Any]] = []
        self._names: dict[str, str] = {}

    def answered(self, raw: Mapping[str, Any], place: int) -> tuple[str, str]:
        """The call that a result answers, where that is what tells its tool, and the tool."""
        name = raw.get("name")
        if type(name) is str and name:
            return "", word(name)
        result = read_message(raw, place)
        if result.name or not result.call_id:
            return result.call_id, word(result.name)
        for calling in self.calling:
            self._names |= {call.id: call.name for call in read_message(calling).calls}
        self.calling.clear()
        return result.call_id, word(self._names.get(result.call_id, ""))


def prepare(messages: Sequence[Mapping[str, Any]], shelf: Shelf) -> list[Prepared]:
    """Spell, hash and, for what is big, put on the shelf. Raises before anything is written."""
    tools = _Tools()
    done = []
    for place, raw in enumerate(messages):
        # Its role says all that is needed of most; to read each message closely costs as much as to hash it.
        role = raw.get("role") if type(raw) is dict else None
        if type(role) is not str or not role:
            role = read_message(raw, place).role
        if "tool_calls" in raw:
            tools.calling.append(raw)
        call_id, tool = tools.answered(raw, place) if role in RESULT_ROLES else ("", "")
        try:
            body, print_ = spell(raw)
        except (TypeError, ValueError, RecursionError) as wrong:
            raise ValueError(f"message {place} cannot be stored: {wrong}; hand in plain JSON values") from None
        outside: str | None = None
        blobs = _pointed_to(body) if _POINTS(body) else ()
        if len(body) >= OUTSIDE:
            body, outside, kept = _set_aside(body, shelf)
            blobs += kept
        done.append(Prepared(print_, word(role), tool, call_id, body, outside, blobs))
    return done


def _pointed_to(body: bytes) -> tuple[tuple[str, int], ...]:
    return tuple((name, -1) for name in dict.fromkeys(POINTER.findall(body.decode("utf-8", "replace"))))


def end_of(work: Work, conversation: int) -> Line:
    """Where the line ends; its place is behind everything that ever stood on it."""
    last = work.one(
        "SELECT place, chain, standing FROM message WHERE conversation = ? ORDER BY place DESC, seq DESC LIMIT 1",
        (conversation,),
    )
    if last is not None and last[1] is not None and last[2]:
        return Line(last[0] + 1, bytes(last[1]))
    return Line(0 if last is None else last[0] + 1, chain_before(work, conversation, 1 << 60))


def chain_before(work: Work, conversation: int, place: int) -> bytes:
    """The running hash of everything that stands before a place."""
    knot = work.one(
        "SELECT chain, place, seq FROM message WHERE conversation = ? AND standing = 1 AND chain IS NOT NULL "
        "AND place < ? ORDER BY place DESC, seq DESC LIMIT 1",
        (conversation, place),
    ) or work.one("SELECT seed, -1, -1 FROM conversation WHERE number = ?", (conversation,))
    assert knot is not None
    since = work.all(
        "SELECT hash FROM message WHERE conversation = ? AND standing = 1 AND (place, seq) > (?, ?) AND place < ? "
        "ORDER BY place, seq",
        (conversation, *knot[1:], place),
    )
    return [bytes(knot[0]), *links(bytes(knot[0]), [bytes(row[0]) for row in since])][-1]


def write(work: Work, conversation: int, said: Sequence[Prepared], end: Line, at: float | None = None) -> Line:
    """Write messages behind the end of the line, each stretch up to a knot in one statement; the new end."""
    if not said:
        return end
    moment = time.time() if at is None else at
    prints, roles, tools, _, bodies, outsides, _ = zip(*said, strict=True)
    # Python's sqlite3 asks all bytes how they want to be bound, which takes longer than to bind them; not bytearrays.
    fields = _SHORT
    texts: Iterable[Iterable[Any]] = [map(bytearray, bodies)]
    if max(map(len, bodies)) > INLINE or any(outsides):
        _keep_content(work, bodies)
        fields, texts = _ROW, zip(*map(_apart, said), strict=True)
    rows = zip(repeat(conversation), count(end.place), map(bytearray, prints), repeat(moment), roles, tools, *texts)
    place, chain = end
    while stretch := prints[place - end.place : _behind_knot(place) - end.place]:
        chain = links(chain, stretch)[-1]
        work.run(_insertion(fields, len(stretch)), [*chained.from_iterable(islice(rows, len(stretch))), chain])
        place += len(stretch)
    for here, message in enumerate(said, end.place):
        if message.blobs:
            _note_blobs(work, message, _seq_at(work, conversation, here), moment)
    return Line(place, chain)


def write_at(
    work: Work,
    conversation: int,
    message: Prepared,
    place: int,
    *,
    derived: bool = False,
    standing: bool = True,
    at: float | None = None,
) -> int:
    """Write one message at a place of its own: a summary, an edit, something put in between. Its number."""
    moment = time.time() if at is None else at
    _keep_content(work, [message.body])
    stands = int(standing and not derived)
    print_, role, tool, *_ = message
    made = work.one(
        f"INSERT INTO message ({_ROW}, derived, standing) VALUES ({marks(range(11))}) RETURNING seq",
        (conversation, place, print_, moment, role, tool, *_apart(message), int(derived), stands),
    )
    assert made is not None
    seq = int(made[0])
    _note_blobs(work, message, seq, moment)
    return seq


def make_room(work: Work, conversation: int, place: int, count: int) -> None:
    """Free `count` places from `place` on: what stands there and behind moves up, and so do the sessions' bounds."""
    work.run("UPDATE message SET place = place + ? WHERE conversation = ? AND place >= ?", (count, conversation, place))
    for bound in ("since", "until"):  # a session that begins right here takes in what will be put here
        work.run(
            f"UPDATE session SET {bound} = {bound} + ? WHERE conversation = ? AND {bound} > ?",
            (count, conversation, place),
        )


def relink(work: Work, conversation: int, place: int) -> int:
    """Make the running hash true again from a place on, after something there has changed; how many rows that took."""
    last = work.one("SELECT MAX(place) FROM message WHERE conversation = ? AND standing = 1", (conversation,))
    place = min(place, last[0]) if last and last[0] is not None else place  # the end of the line is always a knot
    chain = chain_before(work, conversation, place)
    updates = []
    rows = work.all(
        "SELECT seq, hash, chain, place FROM message WHERE conversation = ? AND standing = 1 AND place >= ? "
        "ORDER BY place, seq",
        (conversation, place),
    )
    for seq, hash_, known, here in rows:
        chain = link(chain, bytes(hash_))
        if bytes(known) != chain if known is not None else here % KNOT == 0 or seq == rows[-1][0]:
            updates.append((chain, seq))
    work.many("UPDATE message SET chain = ? WHERE seq = ?", updates)
    return len(updates)


def set_aside(work: Work, seqs: Sequence[int]) -> None:
    """These no longer stand on their line: edited, or taken back. They stay in the log."""
    work.many("UPDATE message SET standing = 0, chain = NULL WHERE seq = ?", [(seq,) for seq in seqs])


def name_tool(work: Work, conversation: int, said: list[Prepared]) -> list[Prepared]:
    """Results that do not say which tool they are from, with the name from the call they answer."""
    missing = {message.call_id for message in said if message.call_id and not message.tool}
    if not missing:
        return said
    names: dict[str, str] = {}
    for row in work.all(
        "SELECT body, content FROM message WHERE conversation = ? AND standing = 1 AND role = 'assistant' "
        "ORDER BY place DESC LIMIT 5",
        (conversation,),
    ):
        calls = read_message(read_back(_body(row[0], row[1], _content(work, row[1:])))).calls
        names = {call.id: call.name for call in calls} | names
    return [
        message._replace(tool=word(names.get(message.call_id, ""))) if message.call_id and not message.tool else message
        for message in said
    ]


def stored(work: Look, shelf: Shelf, rows: Sequence[Row]) -> list[Stored]:
    """Rows of `COLUMNS` as messages, whole again."""
    apart = [row[9] for row in rows if row[8] is None]
    bodies = _content(work, apart) if apart else {}
    whole = [_body(row[8], row[9], bodies) for row in rows]
    pointing = [row[0] for row, body in zip(rows, whole, strict=True) if b"blob:" in body or row[10]]
    uses = _uses(work, pointing) if pointing else {}
    found = []
    for row, body in zip(rows, whole, strict=True):
        seq, conversation, place, at, role, tool, derived, standing, _, _, outside, _, _ = row
        try:
            message = read_back(body)
            kept = json.loads(outside) if outside else ()
        except ValueError:
            raise StoreDamaged(
                f"message {place} of {conversation} is damaged and cannot be read. Nothing was changed; "
                "'clew doctor' says what else is, a backup has what it said."
            ) from None
        for path, name in kept:
            put_back(message, path, shelf.get(name).decode("utf-8", "surrogatepass"))
        inside = {name for _, name in kept}
        points = tuple(name for name in uses.get(seq, ()) if name not in inside)
        found.append(Stored(seq, conversation, place, at, role, tool, bool(derived), bool(standing), message, points))
    return found


def whole(rows: list[Row], *, to_the_end: bool) -> list[Row]:
    """Rows of `COLUMNS` that stand one behind the other, once the running hash from knot to knot says that none of them
    is missing: a bad block may hide a message from the database without a word. The end of a line is a knot."""
    chain: bytes | None = None
    for row in rows:
        chain = None if chain is None else link(chain, bytes(row[11]))
        if row[12] is not None:
            if chain is not None and chain != bytes(row[12]):
                raise _incomplete(row)
            chain = bytes(row[12])
    if to_the_end and rows and rows[-1][12] is None:
        raise _incomplete(rows[-1])
    return rows


def _incomplete(row: Row) -> StoreDamaged:
    return StoreDamaged(
        f"messages of {row[1]} around number {row[2]} are damaged: what can be read of them does not fit their running "
        "hash. Nothing was changed; 'clew doctor' says what else is, a backup has what they said."
    )


def in_parts(values: Sequence[Any]) -> list[Sequence[Any]]:
    """The values in portions that fit one statement."""
    return [values[start : start + AT_ONCE] for start in range(0, len(values), AT_ONCE)]


def marks(values: Sequence[Any]) -> str:
    """A `?` for each value."""
    return ", ".join("?" * len(values))


def _behind_knot(place: int) -> int:
    """The place behind the next knot, which may be at this one."""
    return place + 1 + -place % KNOT


_SHORT = "conversation, place, hash, at, role, tool, body"
"""What is written of a message whose text stands in its row."""
_ROW = f"{_SHORT}, content, outside"


@cache
def _insertion(fields: str, count: int) -> str:
    """One statement for so many messages, the last of them a knot. It takes half the time of one for each."""
    values = marks(fields.split())
    return f"INSERT INTO message ({fields}, chain) VALUES {f'({values}, NULL), ' * (count - 1)}({values}, ?)"


def _apart(message: Prepared) -> tuple[bytes | None, bytes | None, str | None]:
    body = message.body
    return (body, None, message.outside) if len(body) <= INLINE else (None, digest(body), message.outside)


def _seq_at(work: Work, conversation: int, place: int) -> int:
    row = work.one("SELECT seq FROM message WHERE conversation = ? AND place = ?", (conversation, place))
    assert row is not None
    return int(row[0])


def _keep_content(work: Work, bodies: Iterable[bytes]) -> None:
    rows = [(digest(body), body) for body in {*bodies} if len(body) > INLINE]
    if rows:  # in one order for all writers: two that keep the same texts would otherwise wait for each other
        work.many("INSERT INTO content (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING", sorted(rows))


def note_blob(work: Work, name: str, size: int, at: float) -> None:
    """There is such a blob, and someone wants it now."""
    work.run(
        "INSERT INTO blob (name, size, at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at",
        (name, size, at),
    )


def _note_blobs(work: Work, message: Prepared, seq: int, at: float) -> None:
    for name, size in message.blobs:
        if size >= 0:
            note_blob(work, name, size, at)
        work.run(
            "INSERT INTO blob_use (name, message) SELECT name, ? FROM blob WHERE name = ? ON CONFLICT DO NOTHING",
            (seq, name),
        )


def _body(body: Any, content: Any, bodies: Mapping[bytes, bytes]) -> bytes:
    if body is not None:
        return bytes(body)
    try:
        return bodies[bytes(content)]
    except KeyError:
        raise StoreDamaged("the text of a message is gone from the store. 'clew doctor' says which one.") from None


def _content(work: Look, hashes: Sequence[Any]) -> dict[bytes, bytes]:
    found = {}
    for part in in_parts([bytes(hash_) for hash_ in hashes if hash_ is not None]):
        for hash_, body in work.all(f"SELECT hash, body FROM content WHERE hash IN ({marks(part)})", part):
            found[bytes(hash_)] = bytes(body)
    return found


def _uses(work: Look, seqs: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for part in in_parts(seqs):
        for name, seq in work.all(f"SELECT name, message FROM blob_use WHERE message IN ({marks(part)})", part):
            found.setdefault(seq, []).append(name)
    return found


@lru_cache(1_024)
def word(text: str) -> str:
    """A role or a tool's name as both databases can hold it; the message itself keeps every character."""
    return text if text.isascii() and "\0" not in text else text.encode(errors="replace").decode().replace("\0", "?")


def _set_aside(body: bytes, shelf: Shelf) -> tuple[bytes, str | None, tuple[tuple[str, int], ...]]:
    rest, texts = take_out(read_back(body))
    kept, blobs = [], []
    for path, text in texts:
        data = text.encode("utf-8", "surrogatepass")
        name = shelf.put(data)
        kept.append((path, name))
        blobs.append((name, len(data)))
    return spelled(rest), json.dumps(kept) if kept else None, tuple(blobs)

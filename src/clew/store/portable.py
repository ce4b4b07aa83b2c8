"""A conversation as lines of JSON that any store can take in again: nothing left out, nothing changed."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any

from clew.facts.session import Origin
from clew.store import chain, log
from clew.store.database import Row, Work
from clew.store.lineage import links
from clew.store.store import Store
from clew.store.trouble import StoreError

FORMAT = "clew-conversation"
VERSION = 1

_CALL = (
    "session, at, quarter, provider, model, purpose, failed, input, output, cache_read, cache_write, reasoning, cost, "
    "priced, tools, raw"
)
_NODE = (
    "id, depth, first_row, last_row, row_count, prints, chain, parent, text, tokens, made_by, degraded, stale, "
    "created, archived, replaced_by"
)


def export(store: Store, session: str) -> Iterator[dict[str, Any]]:
    """The lines of one conversation: what it is, its messages, its sessions, its blobs, its calls, and their number."""
    count = 0
    for line in _lines(store, session):
        count += 1
        yield line
    yield {"end": count}


def _lines(store: Store, session: str) -> Iterator[dict[str, Any]]:
    with store.database.read() as work:
        head = chain.head_of(work, session)
        about = chain.conversations(work, id_=head.conversation)[0]
        yield {
            "format": FORMAT, "version": VERSION, "id": about.id, "title": about.title, "cwd": about.cwd,
            "model": about.model, "tags": list(about.tags), "source": about.source, "origin": about.origin.value,
            "parent": about.parent, "created": about.created, "tip": about.tip,
        }  # fmt: skip
        own = work.all(f"SELECT {log.COLUMNS} WHERE m.conversation = ? ORDER BY m.seq", (head.number,))
        lent = work.all(
            f"SELECT DISTINCT {log.COLUMNS} JOIN opening o ON o.message = m.seq JOIN session s ON s.id = o.session "
            "WHERE s.conversation = ? AND m.conversation <> ? ORDER BY m.seq",
            (head.number, head.number),
        )
        revised: dict[int, int | None] = dict(
            work.all("SELECT seq, revised FROM message WHERE conversation = ?", (head.number,))
        )
        names: dict[int, int] = {}
        blobs: list[str] = []
        for part in log.in_parts([*lent, *own]):
            for said in log.stored(work, store.shelf, part):
                names[said.seq] = len(names)
                blobs += said.blobs
                yield {
                    "message": said.message, "n": names[said.seq], "place": said.place, "at": said.at,
                    "tool": said.tool, "derived": said.derived, "standing": said.standing,
                    "lent": None if said.conversation == head.conversation else said.conversation,
                }  # fmt: skip
        yield from (
            {"revised": names[old], "by": names[new]}
            for old, new in revised.items()
            if new is not None and new in names
        )
        for record in chain.sessions_of(work, head.number):
            yield _session_line(work, record.id, names)
        for name in dict.fromkeys(blobs):
            yield {"blob": name, "base64": base64.b64encode(store.shelf.get(name)).decode()}
        yield from _node_lines(work, head.number, names)
        for row in work.all(f"SELECT {_CALL} FROM call WHERE conversation = ? ORDER BY number", (head.number,)):
            yield {"call": dict(zip(_CALL.split(", "), row, strict=True))}


def is_export(line: Any) -> bool:
    """Whether this is the first line of one."""
    return isinstance(line, dict) and line.get("format") == FORMAT


def restore(store: Store, lines: Iterable[dict[str, Any]]) -> tuple[str, bool]:
    """Take a conversation in; its id, and whether it was new. One that is there already is left as it is."""
    first, *rest = lines
    if not is_export(first):
        raise StoreError("this is not a conversation exported by clew: its first line does not say so.")
    if first.get("version", 0) > VERSION:
        raise StoreError(
            f"this export has format {first['version']}; this clew reads up to {VERSION}. Use a newer clew."
        )
    if not rest or rest[-1].get("end") != len(rest):
        raise StoreError(f"the export of {first.get('id')} was cut short: its last line is missing. Export it again.")
    said = [line for line in rest if "message" in line]
    prepared = log.prepare([line["message"] for line in said], store.shelf)
    for line in rest:
        if "blob" in line:
            _put_blob(store, line)
    with store.database.write() as work:
        if work.one("SELECT 1 FROM conversation WHERE id = ?", (first["id"],)):
            return first["id"], False
        number = _conversation(work, first)
        seqs: dict[int, int] = {}
        for line, message in zip(said, prepared, strict=True):
            seqs[line["n"]] = _message(work, number, line, message._replace(tool=line["tool"]))
        for line in rest:
            if "revised" in line:
                work.run("UPDATE message SET revised = ? WHERE seq = ?", (seqs[line["by"]], seqs[line["revised"]]))
            elif "session" in line:
                _session(work, number, line, seqs)
            elif "call" in line:
                _call(work, number, line["call"])
        _nodes(work, number, [line["node"] for line in rest if "node" in line], seqs)
        work.run("DELETE FROM tombstone WHERE id = ?", (first["id"],))
        _seed(work, number, first["id"])
        log.relink(work, number, -1)
    return first["id"], True


def _session_line(work: Work, session: str, names: dict[int, int]) -> dict[str, Any]:
    row = work.one("SELECT since, until FROM session WHERE id = ?", (session,))
    record = chain.record_of(work, session)
    opening = work.all("SELECT message FROM opening WHERE session = ? ORDER BY n", (session,))
    assert row is not None
    return {
        "session": record.id, "parent": record.parent, "origin": record.origin.value, "number": record.number,
        "system": record.system, "opened": record.opened, "ended": record.ended, "end_reason": record.end_reason,
        "state": dict(record.state), "since": row[0], "until": row[1], "opening": [names[seq] for (seq,) in opening],
    }  # fmt: skip


def _node_lines(work: Work, number: int, names: dict[int, int]) -> Iterator[dict[str, Any]]:
    """The summaries. Nodes point to messages and to each other by their numbers in the export."""
    for row in work.all(f"SELECT number, {_NODE} FROM node WHERE conversation = ? ORDER BY number", (number,)):
        node = dict(zip(["n", *_NODE.split(", ")], row, strict=True))
        if node["first_row"] in names and node["last_row"] in names:
            text = bytes(node["text"]).decode("utf-8", "surrogatepass")
            anchors = {end: names[node[end]] for end in ("first_row", "last_row")}
            hashes = {what: bytes(node[what]).hex() for what in ("prints", "chain")}
            yield {"node": {**node, **anchors, **hashes, "text": text}}


def _put_blob(store: Store, line: dict[str, Any]) -> None:
    name = store.keep_blob(base64.b64decode(line["base64"]))
    if name != line["blob"]:
        raise StoreError(f"the export is damaged: blob {line['blob']} does not have the bytes it is named for.")


def _conversation(work: Work, line: dict[str, Any]) -> int:
    row = work.one(
        "INSERT INTO conversation (id, title, cwd, model, tags, source, origin, parent, created, tip, seed) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
        (line["id"], line["title"], line["cwd"], line["model"], json.dumps(line["tags"]), line["source"],
         Origin(line["origin"]).value, line["parent"], line["created"], line["tip"], b""),
    )  # fmt: skip
    assert row is not None
    return int(row[0])


def _message(work: Work, number: int, line: dict[str, Any], message: log.Prepared) -> int:
    lender = line["lent"] and work.one(
        "SELECT m.seq FROM message m JOIN conversation c ON c.number = m.conversation "
        "WHERE c.id = ? AND m.place = ? AND m.hash = ? ORDER BY m.seq LIMIT 1",
        (line["lent"], line["place"], message.hash),
    )
    if lender:
        return int(lender[0])
    standing = line["standing"] and not line["lent"]  # without its lender it is kept here, but was not said here
    seq = log.write_at(work, number, message, line["place"], derived=line["derived"], at=line["at"])
    if not standing:
        log.set_aside(work, [seq])
    return seq


def _session(work: Work, number: int, line: dict[str, Any], seqs: dict[int, int]) -> None:
    work.run(
        "INSERT INTO session (id, conversation, parent, origin, number, system, since, until, opened, ended, "
        "end_reason, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (line["session"], number, line["parent"], line["origin"], line["number"],
         line["system"].encode("utf-8", "surrogatepass"), line["since"], line["until"], line["opened"], line["ended"],
         line["end_reason"], json.dumps(line["state"])),
    )  # fmt: skip
    work.many(
        "INSERT INTO opening (session, n, message) VALUES (?, ?, ?)",
        [(line["session"], n, seqs[name]) for n, name in enumerate(line["opening"])],
    )


def _nodes(work: Work, number: int, nodes: list[dict[str, Any]], seqs: dict[int, int]) -> None:
    numbers: dict[int, int] = {}
    for node in nodes:
        values = {
            **node,
            **{end: seqs[node[end]] for end in ("first_row", "last_row")},
            **{what: bytes.fromhex(node[what]) for what in ("prints", "chain")},
            "text": node["text"].encode("utf-8", "surrogatepass"), "parent": None, "replaced_by": None,
        }  # fmt: skip
        row = (number, *(values[column] for column in _NODE.split(", ")))
        made = work.one(f"INSERT INTO node (conversation, {_NODE}) VALUES ({log.marks(row)}) RETURNING number", row)
        assert made is not None
        numbers[node["n"]] = int(made[0])
    for node in nodes:
        work.run(
            "UPDATE node SET parent = ?, replaced_by = ? WHERE number = ?",
            (numbers.get(node["parent"]), numbers.get(node["replaced_by"]), numbers[node["n"]]),
        )


def _call(work: Work, number: int, call: dict[str, Any]) -> None:
    columns = _CALL.split(", ")
    row: Row = (number, *(call[column] for column in columns))
    work.run(f"INSERT INTO call (conversation, {_CALL}) VALUES ({log.marks(row)})", row)


def _seed(work: Work, number: int, conversation: str) -> None:
    """The running hash that a branch begins with: over what it opened with."""
    first = work.one(
        "SELECT id FROM session WHERE conversation = ? AND origin = 'branch' ORDER BY number LIMIT 1", (number,)
    )
    if first:
        opened = [item.hash for item in chain.view(work, first[0]) if item.opening]
        seed = links(b"", opened)[-1] if opened else b""
        work.run("UPDATE conversation SET seed = ? WHERE id = ?", (seed, conversation))

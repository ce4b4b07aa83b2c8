"""How nodes are read: rows of their table, with the places at which what they cover stands now."""

from __future__ import annotations

from typing import NamedTuple

from clew.facts.node import Node
from clew.store.database import Row
from clew.store.ground import Ground

_COLUMNS = (
    "n.number, n.first_row, n.last_row, n.chain, f.place, l.place, "
    "n.id, n.depth, n.row_count, n.text, n.tokens, n.made_by, n.degraded, n.stale, n.created, n.archived, p.id, r.id "
    "FROM node n LEFT JOIN node p ON p.number = n.parent LEFT JOIN node r ON r.number = n.replaced_by "
    "JOIN message f ON f.seq = n.first_row JOIN message l ON l.seq = n.last_row WHERE n.conversation = ?"
)


class Found(NamedTuple):
    """A node, and what the table has of it besides."""

    node: Node
    number: int
    first_row: int
    last_row: int
    chain: bytes
    """The log's running hash behind its last message, as it was."""


def found(ground: Ground, which: str, *values: object) -> list[Found]:
    """The nodes of a conversation for which a condition holds, in the order of what they cover."""
    rows = ground.work.all(f"SELECT {_COLUMNS} {which}", (ground.head.number, *values))
    return sorted((_read(ground, row) for row in rows), key=lambda one: (one.node.last, one.node.depth, one.number))


def standing(ground: Ground) -> list[Found]:
    """Those that no other stands for."""
    return found(ground, "AND n.parent IS NULL AND n.archived IS NULL")


def _read(ground: Ground, row: Row) -> Found:
    number, first, last, chain, begins, ends, id_, depth, count, text, tokens, made_by, degraded, stale, *rest = row
    created, archived, parent, better = rest
    node = Node(
        id=id_, depth=depth, first=ground.place(first, begins), last=ground.place(last, ends), rows=count,
        text=bytes(text).decode("utf-8", "surrogatepass"), tokens=tokens, made_by=made_by, degraded=bool(degraded),
        stale=bool(stale), created=created, archived=archived, parent=parent, replaced_by=better,
    )  # fmt: skip
    return Found(node, number, first, last, bytes(chain))

"""Do the nodes fit the log? Found out one by one, and made to fit where a host edited what they stand for."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from clew.facts.node import Node, made_from
from clew.store.chain import head_of
from clew.store.database import Work
from clew.store.ground import Ground

_LEAVES = (
    "SELECT n.number, n.id, n.first_row, n.last_row, n.row_count, n.prints, f.place, l.place, n.chain FROM node n "
    "JOIN message f ON f.seq = n.first_row JOIN message l ON l.seq = n.last_row "
    "WHERE n.conversation = ? AND n.depth = 0 AND n.archived IS NULL"
)


def untiled(ground: Ground, tops: Sequence[Node]) -> str:
    """Where the nodes that stand leave a message out or cover one twice; empty where they do not."""
    frontier = -1
    for node in tops:
        expected = ground.after(frontier)
        if expected != node.first:
            return f"node {node.id} covers messages from {node.first} on; {expected} is the one that comes next."
        if node.last < node.first:
            return f"node {node.id} ends at {node.last}, before it begins."
        frontier = node.last
    return ""


def flaws(work: Work) -> Iterator[tuple[str, str]]:
    """The conversation and what is wrong with its nodes. What was edited since and not yet fitted is not wrong."""
    for name, id_ in work.all(
        "SELECT c.id, n.id FROM node n JOIN conversation c ON c.number = n.conversation "
        "LEFT JOIN node p ON p.number = n.parent AND p.conversation = n.conversation AND p.archived IS NULL "
        "LEFT JOIN message f ON f.seq = n.first_row LEFT JOIN message l ON l.seq = n.last_row "
        "WHERE f.seq IS NULL OR l.seq IS NULL OR (n.parent IS NOT NULL AND p.number IS NULL)"
    ):
        yield name, f"node {id_} stands on messages or below a node that are not there"
    for name, id_ in work.all(
        "SELECT c.id, n.id FROM node n JOIN conversation c ON c.number = n.conversation WHERE n.depth > 0 "
        "AND n.archived IS NULL AND NOT EXISTS (SELECT 1 FROM node s WHERE s.parent = n.number)"
    ):
        yield name, f"node {id_} stands on no other node"
    for (name,) in work.all(
        "SELECT DISTINCT c.id FROM node n JOIN conversation c ON c.number = n.conversation ORDER BY c.id"
    ):
        yield from ((name, wrong) for wrong in uncovered(Ground(work, head_of(work, name))))


def uncovered(ground: Ground) -> Iterator[str]:
    """Messages up to the frontier that are not in exactly one leaf, and leaves that are not of their messages."""
    leaves = _leaves(ground)
    if not leaves or leaves[-1][6] != ground.chain(leaves[-1][3]):
        return  # edited since: fitted when the conversation is next compacted
    rows = ground.hashes(0, leaves[-1][3])
    places = [place for place, _, _ in rows]
    times = dict.fromkeys(places, 0)
    for _, id_, first, last, count, prints, _ in leaves:
        inside = rows[bisect_left(places, first) : bisect_right(places, last)]
        for place, _, _ in inside:
            times[place] += 1
        if len(inside) != count or made_from(hash_ for _, _, hash_ in inside) != prints:
            yield f"node {id_} was not made from messages {first} to {last} as they are"
    yield from (f"message {place} is in {n} leaves" for place, n in times.items() if n != 1)


def mend(ground: Ground) -> None:
    """Fit the leaves to the log as it now is: what was put between two belongs to the later one; what changed is stale,
    and so is all that stands on it; what has nothing left to stand for leaves."""
    work, frontier = ground.work, -1
    chain = ground.chain(-1)
    for number, _, _, last, count, prints, known in _leaves(ground):
        rows = ground.hashes(frontier + 1, last)
        if not rows:
            work.run("UPDATE node SET archived = ?, parent = NULL WHERE number = ?", (time.time(), number))
            continue
        frontier, chain = rows[-1][0], ground.chain(rows[-1][0])
        now = made_from(hash_ for _, _, hash_ in rows)
        if (now, len(rows), chain) != (prints, count, known):
            work.run(
                "UPDATE node SET first_row = ?, last_row = ?, row_count = ?, prints = ?, chain = ?, "
                "stale = CASE WHEN prints <> ? THEN 1 ELSE stale END WHERE number = ?",
                (rows[0][1], rows[-1][1], len(rows), now, chain, now, number),
            )
    _fit_upwards(ground)


def _fit_upwards(ground: Ground) -> None:
    """Every node over nodes with the ends and the state of those below it."""
    work = ground.work
    for number, stale, was in work.all(
        "SELECT number, stale, row_count FROM node WHERE conversation = ? AND depth > 0 AND archived IS NULL "
        "ORDER BY depth",
        (ground.head.number,),
    ):
        below = work.all(
            "SELECT s.first_row, s.last_row, s.row_count, s.chain, s.stale, l.place FROM node s "
            "JOIN message l ON l.seq = s.last_row WHERE s.parent = ? AND s.archived IS NULL",
            (number,),
        )
        if not below:
            work.run("UPDATE node SET archived = ?, parent = NULL WHERE number = ?", (time.time(), number))
            continue
        below.sort(key=lambda row: ground.place(row[1], row[5]))
        count = sum(row[2] for row in below)
        worn = int(stale or count != was or any(row[4] for row in below))
        work.run(
            "UPDATE node SET first_row = ?, last_row = ?, row_count = ?, chain = ?, stale = ? WHERE number = ?",
            (below[0][0], below[-1][1], count, below[-1][3], worn, number),
        )


def _leaves(ground: Ground) -> list[tuple[int, str, int, int, int, bytes, bytes]]:
    """Number, id, places, count, prints and running hash of every leaf that counts, in their order."""
    found = [
        (number, id_, ground.place(first, begins), ground.place(last, ends), count, bytes(prints), bytes(chain))
        for number, id_, first, last, count, prints, begins, ends, chain in ground.work.all(
            _LEAVES, (ground.head.number,)
        )
    ]
    return sorted(found, key=lambda leaf: leaf[3])

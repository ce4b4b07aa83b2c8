"""A node becomes part of a conversation: only where it covers exactly what comes next, unchanged since."""

from __future__ import annotations

import time

from clew.facts.node import Draft, Node, made_from
from clew.store.ground import Ground
from clew.store.lineage import digest, links
from clew.store.log import word
from clew.store.node_care import untiled
from clew.store.node_rows import Found, found, standing
from clew.store.trouble import StoreError


class NotPublished(StoreError):
    """A node that would not fit what is there. Nothing was changed; the text says what is in its way."""


def publish(ground: Ground, draft: Draft) -> Node:
    """Write the node, then look whether everything up to the frontier is covered once. Raises before a commit."""
    if draft.replaces is not None:
        made = _in_place_of(ground, draft)
    elif draft.sources:
        made = _over_nodes(ground, draft)
    else:
        made = _leaf(ground, draft)
    if wrong := untiled(ground, [one.node for one in standing(ground)]):
        raise NotPublished(f"{wrong} Nothing was changed.")
    return made.node


def _leaf(ground: Ground, draft: Draft) -> Found:
    """A leaf over the very next messages, unchanged since its text was made."""
    tops = standing(ground)
    frontier = tops[-1].node.last if tops else -1
    if tops and tops[-1].chain != ground.chain(frontier):
        raise NotPublished(f"messages up to {frontier} were edited meanwhile: fit the nodes to them first.")
    if ground.after(frontier) != draft.first:
        raise NotPublished(
            f"a leaf over messages {draft.first} to {draft.last} does not go on where the nodes end, at {frontier}: "
            "someone else was first, or a message is missing between them."
        )
    covered = _made_from(ground, draft)
    chain = links(ground.chain(frontier), (hash_ for _, _, hash_ in covered))[-1]
    if chain != ground.chain(draft.last):
        raise NotPublished(f"messages {draft.first} to {draft.last} do not fit their running hash.")
    return _insert(ground, draft, 0, (covered[0][1], covered[-1][1]), draft.prints, chain)


def _made_from(ground: Ground, draft: Draft) -> list[tuple[int, int, bytes]]:
    """The messages a leaf covers, if they are still those that its text was made from."""
    covered = ground.hashes(draft.first, draft.last)
    if len(covered) != draft.rows or made_from(hash_ for _, _, hash_ in covered) != draft.prints:
        raise NotPublished(f"messages {draft.first} to {draft.last} are no longer those this text was made from.")
    return covered


def _over_nodes(ground: Ground, draft: Draft) -> Found:
    """A node over some that stand side by side."""
    tops = standing(ground)
    ids = [one.node.id for one in tops]
    start = ids.index(draft.sources[0]) if draft.sources[0] in ids else 0
    below = tops[start : start + len(draft.sources)]
    if tuple(one.node.id for one in below) != draft.sources or len(below) < 2:
        raise NotPublished(
            f"{', '.join(draft.sources)} are not nodes that stand side by side; those that stand are {', '.join(ids)}."
        )
    depth = 1 + max(one.node.depth for one in below)
    ends = (below[0].first_row, below[-1].last_row)
    made = _insert(ground, draft, depth, ends, _made_of(draft.sources), below[-1].chain)
    ground.work.many("UPDATE node SET parent = ? WHERE number = ?", [(made.number, one.number) for one in below])
    return made


def _in_place_of(ground: Ground, draft: Draft) -> Found:
    """A better text for the same stretch. The old node stays, archived."""
    old = next(iter(found(ground, "AND n.id = ? AND n.archived IS NULL", draft.replaces)), None)
    if old is None:
        raise NotPublished(f"{draft.replaces} does not count any more: someone else was first.")
    if old.node.depth == 0:
        _made_from(ground, draft)
    work = ground.work
    parent = work.one("SELECT parent FROM node WHERE number = ?", (old.number,))
    prints = draft.prints or _made_of(draft.sources)
    made = _insert(ground, draft, old.node.depth, (old.first_row, old.last_row), prints, old.chain)
    work.run("UPDATE node SET parent = ? WHERE parent = ?", (made.number, old.number))
    work.run("UPDATE node SET parent = ? WHERE number = ?", (parent[0] if parent else None, made.number))
    work.run(
        "UPDATE node SET archived = ?, replaced_by = ?, parent = NULL WHERE number = ?",
        (made.node.created, made.number, old.number),
    )
    return made


def _made_of(sources: tuple[str, ...]) -> bytes:
    return made_from(source.encode() for source in sources)


def _insert(ground: Ground, draft: Draft, depth: int, ends: tuple[int, int], prints: bytes, chain: bytes) -> Found:
    text = draft.text.encode("utf-8", "surrogatepass")
    for again in range(100):  # an old text may come back: its node needs another name
        id_ = f"n{digest(b'%d %d %s ' % (again, depth, prints) + text).hex()[:8]}"
        made = ground.work.run(
            "INSERT INTO node (id, conversation, depth, first_row, last_row, row_count, prints, chain, text, tokens, "
            "made_by, degraded, stale, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?) "
            "ON CONFLICT (conversation, id) DO NOTHING",
            (id_, ground.head.number, depth, *ends, draft.rows, prints, chain, text, draft.tokens,
             word(draft.made_by), int(draft.degraded), time.time()),
        )  # fmt: skip
        if made > 0:
            return found(ground, "AND n.id = ?", id_)[0]
    raise NotPublished("no name was free for a node.")

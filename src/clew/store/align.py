"""A list that was handed back, laid against what is known: only what is new is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.store.chain import LATEST, Head, Item, view
from clew.store.database import Work
from clew.store.lineage import Drop, Insert, Keep, Revise, line_up, links
from clew.store.log import Line, Prepared, end_of, in_parts, marks, relink, set_aside, write, write_at


@dataclass(frozen=True, slots=True)
class Aligned:
    """What a list that was handed back brought."""

    session: str
    """The live session: hand this id on."""
    added: int = 0
    revised: int = 0
    """Messages that were edited: the new reading stands, the old one stays in the log."""
    dropped: int = 0
    """Messages that the list no longer has; they stay in the log."""


def align(work: Work, head: Head, handed: Sequence[Prepared]) -> Aligned:
    """Write what is new in the list. It may be the whole conversation, or what its newest session shows the model."""
    chains = links(_seed(work, head), (message.hash for message in handed))
    end = end_of(work, head.number)
    if not end.chain or end.chain in chains:  # the list goes on where the log ends
        behind = chains.index(end.chain) + 1 if end.chain in chains else 0
        if _is_whole(work, head):
            write(work, head.number, handed[behind:], end)
            return Aligned(head.tip, added=len(handed) - behind)
    line = _known_of_line(work, head, chains)
    seen = view(work, head.tip)
    shared = _in_common([item.hash for item in seen], [message.hash for message in handed])
    if not _is_whole(work, head) and shared >= line:
        return _against_view(work, head, handed, seen, shared, end)
    return _against_line(work, head, handed, line, end)


def recognise(work: Work, chains: Sequence[bytes]) -> tuple[int, int] | None:
    """The conversation that shares the longest beginning with a list, by its number, and how many messages that is."""
    for part in reversed(in_parts(chains)):
        found = work.all(
            f"SELECT chain, conversation FROM message WHERE standing = 1 AND chain IN ({marks(part)})", list(part)
        )
        if found:
            length = {chain: place for place, chain in enumerate(chains, 1)}
            best, number = max((length[bytes(chain)], number) for chain, number in found)
            return number, best
    return None


def _is_whole(work: Work, head: Head) -> bool:
    """Whether the newest session shows all of the conversation: nothing was compacted away."""
    row = work.one(
        "SELECT since FROM session WHERE id = ? AND NOT EXISTS (SELECT 1 FROM opening WHERE session = ?)",
        (head.tip, head.tip),
    )
    return row is not None and row[0] == 0


def _seed(work: Work, head: Head) -> bytes:
    row = work.one("SELECT seed FROM conversation WHERE number = ?", (head.number,))
    assert row is not None
    return bytes(row[0])


def _known_of_line(work: Work, head: Head, chains: Sequence[bytes]) -> int:
    """How many messages the list begins with stand on the line: found by halving, for a link holds all before it."""
    low, high = 0, len(chains)
    while low < high:
        middle = (low + high + 1) // 2
        known = work.one(
            "SELECT 1 FROM message WHERE chain = ? AND conversation = ? AND standing = 1",
            (chains[middle - 1], head.number),
        )
        low, high = (middle, high) if known else (low, middle - 1)
    return low


def _in_common(known: Sequence[bytes], handed: Sequence[bytes]) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(known, handed, strict=False)) if a != b), min(len(known), len(handed))
    )


def _against_line(work: Work, head: Head, handed: Sequence[Prepared], shared: int, end: Line) -> Aligned:
    """The list is the whole conversation: the line becomes what it says."""
    rest = handed[shared:]
    if not rest:
        return Aligned(head.tip)  # a beginning, sent again: nothing new
    rows = work.all(
        "SELECT seq, hash, place, role, derived FROM message WHERE conversation = ? AND standing = 1 AND place < ? "
        "ORDER BY place, seq",
        (head.number, LATEST),
    )[shared:]
    known = [Item(row[0], bytes(row[1]), row[2], row[3], bool(row[4]), False) for row in rows]
    if not known:
        write(work, head.number, rest, end)
        return Aligned(head.tip, added=len(rest))
    return _rewrite(work, head, known, rest, end)


def _against_view(
    work: Work, head: Head, handed: Sequence[Prepared], seen: Sequence[Item], shared: int, end: Line
) -> Aligned:
    """The list is what the model sees."""
    rest = handed[shared:]
    if not rest:
        return Aligned(head.tip)
    if shared == len(seen):
        write(work, head.number, rest, end)
        return Aligned(head.tip, added=len(rest))
    return _rewrite(work, head, list(seen[shared:]), rest, end, before=[item.seq for item in seen[:shared]])


def _rewrite(
    work: Work,
    head: Head,
    known: Sequence[Item],
    handed: Sequence[Prepared],
    end: Line,
    before: list[int] | None = None,
) -> Aligned:
    """Known messages were edited, dropped, or got others between them.

    `before` are the messages of the session's view in front of these; None when it is the whole line that changes.
    """
    steps = line_up(
        [item.hash for item in known],
        [message.hash for message in handed],
        ([item.role for item in known], [message.role for message in handed]),
    )
    tail = _tail_of(steps)  # what only comes behind everything known is no rewrite, just more
    changed: list[int] = []
    now: list[int] = []  # the list as numbers of messages
    place = known[0].place
    revised = dropped = 0
    for step in steps[: len(steps) - tail]:
        match step:
            case Keep(old, _):
                place = known[old].place
                now.append(known[old].seq)
            case Revise(old, new):
                place = known[old].place
                now.append(_revise(work, head, known[old], handed[new]))
                changed.append(place)
                revised += 1
            case Drop(old):
                dropped += 1
                if before is None:
                    _drop(work, head, known[old])
                    changed.append(known[old].place)
            case Insert(new):
                now.append(write_at(work, head.number, handed[new], place))
                changed.append(place)
    inserted = sum(isinstance(step, Insert) for step in steps)
    if changed:
        relink(work, head.number, min(changed))
    if before is not None:
        _reopen(work, head, before + now, end)
    write(work, head.number, handed[len(handed) - tail :], end_of(work, head.number))
    return Aligned(head.tip, added=inserted, revised=revised, dropped=dropped)


def _tail_of(steps: Sequence[object]) -> int:
    count = 0
    for step in reversed(steps):
        if not isinstance(step, Insert):
            break
        count += 1
    return count


def _revise(work: Work, head: Head, old: Item, message: Prepared) -> int:
    seq = write_at(work, head.number, message, old.place, derived=old.derived)
    work.run("UPDATE message SET revised = ? WHERE seq = ?", (seq, old.seq))
    set_aside(work, [old.seq])
    work.run("UPDATE opening SET message = ? WHERE session = ? AND message = ?", (seq, head.tip, old.seq))
    return seq


def _drop(work: Work, head: Head, old: Item) -> None:
    set_aside(work, [old.seq])
    work.run("DELETE FROM opening WHERE session = ? AND message = ?", (head.tip, old.seq))


def _reopen(work: Work, head: Head, seqs: Sequence[int], end: Line) -> None:
    """The session shows exactly these, then what will be said."""
    work.run("DELETE FROM opening WHERE session = ?", (head.tip,))
    work.many(
        "INSERT INTO opening (session, n, message) VALUES (?, ?, ?)", [(head.tip, n, seq) for n, seq in enumerate(seqs)]
    )
    work.run("UPDATE session SET since = ? WHERE id = ?", (end.place, head.tip))

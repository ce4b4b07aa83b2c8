"""A list that was handed back, laid against what is known: only what is new is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Any

from clew.store.chain import LATEST, Head, Item, first_of, line, open_with, opened_with, reseed, view
from clew.store.database import Row, Work
from clew.store.lineage import Drop, Insert, Keep, Revise, Step, line_up, links
from clew.store.log import Prepared, end_of, in_parts, make_room, marks, relink, set_aside, write, write_at

ALIKE = 20
"""Conversations that begin alike and are looked into for how far that goes: the newest."""


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


@dataclass(frozen=True, slots=True)
class Handed:
    """A list that was handed back. All of it is hashed; only what is new in it is made ready to be written."""

    messages: Sequence[Mapping[str, Any]]
    prints: Sequence[bytes]
    roles: Sequence[str]
    ready: Callable[[Sequence[Mapping[str, Any]]], list[Prepared]]

    def behind(self, place: int) -> Handed:
        """The rest of it."""
        return Handed(self.messages[place:], self.prints[place:], self.roles[place:], self.ready)

    def at(self, places: Sequence[int]) -> list[Prepared]:
        """Some of it, ready to be written."""
        return self.ready([self.messages[place] for place in places])

    def last(self, count: int) -> list[Prepared]:
        """The end of it, ready to be written."""
        return self.ready(self.messages[len(self.messages) - count :])


def align(work: Work, head: Head, handed: Handed) -> Aligned:
    """Write what is new in the list. It may be the whole conversation, or what its newest session shows the model."""
    prints, chains = handed.prints, links(b"", handed.prints)
    first = first_of(work, head)
    begun = opened_with(work, first)
    end = end_of(work, head.number)
    shared = chains.index(end.chain) + 1 if end.chain in chains else _known_of_whole(work, head, begun, prints)
    if head.tip != first:
        seen = view(work, head.tip)
        seen_too = _in_common(seen, prints)
        if seen_too > shared or (seen_too == shared and _is_like(seen, [*begun, *line(work, head.number)], prints)):
            return _against(work, head, head.tip, handed, seen, seen_too)
    if not end.chain or end.chain in chains:  # the list goes on where the log ends
        new = len(prints) - shared
        write(work, head.number, handed.last(new), end)
        return Aligned(head.tip, added=new)
    return _against(work, head, first, handed, [*begun, *line(work, head.number)], shared)


def recognise(work: Work, prints: Sequence[bytes], conversation: int | None = None) -> tuple[int, int] | None:
    """The conversation that shares the longest beginning with a list, by its number, and how many messages that is.

    The last knot that the list has says which conversation, and from there on each message is compared.
    """
    chains = links(b"", prints)
    only, which = ("", ()) if conversation is None else ("AND conversation = ?", (conversation,))
    for part in reversed(in_parts(chains)):
        knots = work.all(
            "SELECT chain, conversation, place, seq FROM message "
            f"WHERE standing = 1 AND chain IN ({marks(part)}) {only} ORDER BY seq DESC",
            (*part, *which),
        )
        if knots:
            length = {chain: count for count, chain in enumerate(chains, 1)}
            last = max(length[bytes(chain)] for chain, *_ in knots)
            alike = [knot[1:] for knot in knots if length[bytes(knot[0])] == last][:ALIKE]
            known, number = max((last + _on_from(work, knot, prints[last:]), knot[0]) for knot in alike)
            return number, known
    return None


def _on_from(work: Work, knot: Row, prints: Sequence[bytes]) -> int:
    """How many more messages of the list stand behind a knot."""
    rows = work.all(
        "SELECT hash FROM message WHERE conversation = ? AND (place, seq) > (?, ?) AND standing = 1 "
        "ORDER BY place, seq LIMIT ?",
        (*knot, len(prints)),
    )
    same = (bytes(hash_) == print_ for (hash_,), print_ in zip(rows, prints, strict=False))
    return sum(1 for _ in takewhile(bool, same))


def _known_of_whole(work: Work, head: Head, begun: Sequence[Item], prints: Sequence[bytes]) -> int:
    """How many messages the list begins with are the conversation's."""
    shared = _in_common(begun, prints)
    if shared < len(begun):
        return shared
    found = recognise(work, prints, head.number)
    return found[1] if found else shared + _on_from(work, (head.number, -1, -1), prints[shared:])


def _in_common(known: Sequence[Item], prints: Sequence[bytes]) -> int:
    pairs = enumerate(zip(known, prints, strict=False))
    return next((n for n, (item, print_) in pairs if item.hash != print_), min(len(known), len(prints)))


def _is_like(seen: Sequence[Item], whole: Sequence[Item], prints: Sequence[bytes]) -> bool:
    """Whether a list that parts from both at the same message has more of what the model sees than of the whole."""
    return _strange(seen, prints) <= _strange(whole, prints)


def _strange(known: Sequence[Item], prints: Sequence[bytes]) -> int:
    ours, theirs = Counter(item.hash for item in known), Counter(prints)
    return (ours - theirs).total() + (theirs - ours).total()


def _against(work: Work, head: Head, session: str, handed: Handed, items: Sequence[Item], shared: int) -> Aligned:
    """Make a session's view what the list says; the first session's is the whole conversation."""
    known, rest = items[shared:], handed.behind(shared)
    if not rest.messages:
        return Aligned(head.tip)  # a beginning, sent again: nothing new
    steps = line_up([item.hash for item in known], rest.prints, ([item.role for item in known], rest.roles))
    tail = _tail_of(steps)  # what only comes behind everything known is no rewrite, just more
    if len(steps) > tail:
        _rewrite(work, head, session, items[:shared], known, rest, steps[: len(steps) - tail])
    write(work, head.number, rest.last(tail), end_of(work, head.number))
    kinds = Counter(type(step) for step in steps)
    return Aligned(head.tip, added=kinds[Insert], revised=kinds[Revise], dropped=kinds[Drop])


def _rewrite(
    work: Work,
    head: Head,
    session: str,
    before: Sequence[Item],
    known: Sequence[Item],
    handed: Handed,
    steps: Sequence[Step],
) -> None:
    """Known messages were edited, dropped, or got others between them."""
    is_whole = session == first_of(work, head)
    opening = [item.seq for item in before if item.opening]
    ends = sum(item.opening for item in known)  # the session opened with that many of the known ones
    changed: list[int] = []  # places from which the running hash is no longer true
    after = 0  # how many of the known ones lie behind us
    for is_new, run in groupby(steps, lambda step: isinstance(step, Insert)):
        if is_new:
            fresh = handed.at([step.new for step in run if isinstance(step, Insert)])
            if after >= ends:
                place = _place_of(work, known[after].seq)
                changed.append(place)
                _put_in(work, head, fresh, place)
            elif is_whole:  # in front of the line: held by a pointer alone
                opening += [write_at(work, head.number, message, 0, standing=False) for message in fresh]
            else:
                own = next((item.seq for item in known[after:ends] if item.own), None)
                place = _since(work, session) if own is None else _place_of(work, own)
                changed.append(place)
                opening += _put_in(work, head, fresh, place)
                if own is None:  # shown as part of the opening, not once more as said since
                    work.run("UPDATE session SET since = since + ? WHERE id = ?", (len(fresh), session))
            continue
        for step in run:
            match step:
                case Keep(old, _):
                    opening += [known[old].seq] if known[old].opening else []
                case Revise(old, new):
                    seq = _revise(work, head, known[old], *handed.at([new]))
                    changed.append(_place_of(work, seq))
                    opening += [seq] if known[old].opening else []
                case Drop(old) if is_whole or not known[old].opening:
                    changed.append(_place_of(work, known[old].seq))
                    _drop(work, head, known[old])
                case Drop(old):
                    pass  # no longer shown, but said all the same
                case Insert():
                    raise AssertionError("inserts come in runs of their own")
            after = old + 1
    open_with(work, session, opening)
    relink(work, head.number, 0 if reseed(work, head) else min(changed, default=LATEST))


def _tail_of(steps: Sequence[Step]) -> int:
    count = 0
    for step in reversed(steps):
        if not isinstance(step, Insert):
            break
        count += 1
    return count


def _put_in(work: Work, head: Head, messages: Sequence[Prepared], place: int) -> list[int]:
    make_room(work, head.number, place, len(messages))
    return [write_at(work, head.number, message, place + n) for n, message in enumerate(messages)]


def _revise(work: Work, head: Head, old: Item, message: Prepared) -> int:
    """The new reading in the place of the old one. What another conversation said is not ours to change."""
    here = work.one("SELECT place FROM message WHERE seq = ? AND conversation = ?", (old.seq, head.number))
    seq = write_at(work, head.number, message, here[0] if here else 0, derived=old.derived, standing=old.own)
    if here:
        work.run("UPDATE message SET revised = ? WHERE seq = ?", (seq, old.seq))
        set_aside(work, [old.seq])
    work.run(f"UPDATE opening SET message = ? WHERE message = ? AND {_IN_ITS_SESSIONS}", (seq, old.seq, head.number))
    return seq


def _drop(work: Work, head: Head, old: Item) -> None:
    if old.own:
        set_aside(work, [old.seq])
    work.run(f"DELETE FROM opening WHERE message = ? AND {_IN_ITS_SESSIONS}", (old.seq, head.number))


_IN_ITS_SESSIONS = "session IN (SELECT id FROM session WHERE conversation = ?)"


def _place_of(work: Work, seq: int) -> int:
    row = work.one("SELECT place FROM message WHERE seq = ?", (seq,))
    assert row is not None
    return int(row[0])


def _since(work: Work, session: str) -> int:
    row = work.one("SELECT since FROM session WHERE id = ?", (session,))
    assert row is not None
    return int(row[0])

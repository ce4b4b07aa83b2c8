"""The nodes of a conversation: summaries of stretches of it, what they stand for, and who knows it by which name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from clew.facts.messages import read_message
from clew.facts.node import Draft, Node, Row
from clew.facts.session import Origin
from clew.store import log
from clew.store.blobs import Shelf
from clew.store.chain import About, Head, head_of, open_conversation, opened_with
from clew.store.database import Database, Work
from clew.store.database import Row as Columns
from clew.store.ground import Ground
from clew.store.node_care import mend, uncovered, untiled
from clew.store.node_rows import found, standing
from clew.store.publishing import publish


class Nodes:
    """The nodes of a store's conversations. A session is named by any id of its conversation."""

    def __init__(
        self, database: Database, shelf: Shelf, on: Callable[[str], AbstractContextManager[tuple[Work, Head]]]
    ) -> None:
        self._database, self._shelf, self._on = database, shelf, on

    def publish(self, session: str, draft: Draft) -> Node:
        """Make a node part of the conversation: all of it, or, with `NotPublished`, nothing."""
        with self._on(session) as (work, head):
            return publish(Ground(work, head), draft)

    def standing(self, session: str) -> list[Node]:
        """The nodes that no other stands for, oldest first: together they cover everything up to the frontier."""
        with self._looking(session) as ground:
            return [one.node for one in standing(ground)]

    def settle(self, session: str) -> bool:
        """Fit the nodes to a log that was edited since. Whether there was anything to do; one look when not."""
        with self._looking(session) as ground:
            tops = standing(ground)
            if not tops or tops[-1].chain == ground.chain(tops[-1].node.last):
                return False
        with self._on(session) as (work, head):
            mend(Ground(work, head))
        return True

    def flaws(self, session: str) -> list[str]:
        """What is wrong with the nodes: messages up to the frontier that are not in exactly one leaf, and the like."""
        with self._looking(session) as ground:
            gap = untiled(ground, [one.node for one in standing(ground)])
            return [*uncovered(ground), *([gap] if gap else [])]

    def ailing(self, session: str, limit: int, *, degraded: bool) -> list[Node]:
        """Nodes whose text is to be written again, the deepest first: stale ones, and, if asked, degraded ones."""
        which = "AND n.degraded + n.stale > 0" if degraded else "AND n.stale = 1"
        with self._looking(session) as ground:
            some = found(ground, f"AND n.archived IS NULL {which} ORDER BY n.depth, n.number LIMIT ?", limit)
            return sorted((one.node for one in some), key=lambda node: node.depth)

    def find(self, session: str, id_: str) -> Node | None:
        """By its id."""
        with self._looking(session) as ground:
            return next((one.node for one in found(ground, "AND n.id = ?", id_)), None)

    def over(self, session: str, place: int) -> Node | None:
        """The leaf that covers a place."""
        return next((leaf for leaf in self.leaves(session) if leaf.first <= place <= leaf.last), None)

    def leaves(self, session: str) -> list[Node]:
        """Every leaf that counts, oldest first."""
        with self._looking(session) as ground:
            return [one.node for one in found(ground, "AND n.archived IS NULL AND n.depth = 0")]

    def sources(self, session: str, id_: str) -> list[Node]:
        """What a node over nodes was made from, oldest first."""
        with self._looking(session) as ground:
            return [one.node for one in found(ground, "AND p.id = ? AND n.archived IS NULL", id_)]

    def rows(self, session: str, first: int, last: int) -> tuple[Row, ...]:
        """The messages between two places, both included."""
        with self._looking(session) as ground:
            places, rows = ground.rows(first, last)
            said = log.stored(ground.work, self._shelf, rows)
        return tuple(
            Row(place, bytes(row[11]), one.at, read_message(one.message))
            for place, row, one in zip(places, rows, said, strict=True)
        )

    def places(self, session: str, first: int, last: int) -> list[int]:
        """At which places between two there is a message: those that were taken back leave gaps."""
        with self._looking(session) as ground:
            return [place for place, _, _ in ground.hashes(first, last)]

    def view(self, session: str) -> list[tuple[int | None, Row]]:
        """What the newest session shows, each with its place in the conversation; None for what clew wrote itself."""
        with self._looking(session) as ground:
            shown = ground.shown()
            seqs = list(dict.fromkeys(item.seq for _, item in shown))
            rows: list[Columns] = []
            for part in log.in_parts(seqs):
                rows += ground.work.all(f"SELECT {log.COLUMNS} WHERE m.seq IN ({log.marks(part)})", list(part))
            by_seq = {one.seq: one for one in log.stored(ground.work, self._shelf, rows)}
        return [
            (place, Row(-1 if place is None else place, item.hash, one.at, read_message(one.message)))
            for place, item in shown
            for one in (by_seq[item.seq],)
        ]

    def opened(self, session: str) -> list[bytes]:
        """The hashes of what one session of the conversation opened with."""
        with self._database.read() as work:
            return [item.hash for item in opened_with(work, session)]

    def line(self, session: str) -> list[tuple[int, bytes]]:
        """Place and hash of everything that stands in the conversation."""
        with self._looking(session) as ground:
            return [(place, hash_) for place, _, hash_ in ground.hashes(0, 1 << 60)]

    def place_of(self, session: str, seq: int) -> int | None:
        """Where a message stands in this conversation; None where it does not."""
        with self._looking(session) as ground:
            row = ground.work.one("SELECT place, conversation FROM message WHERE seq = ?", (seq,))
            if row is None or (row[1] != ground.head.number and seq not in {item.seq for item in ground.begun}):
                return None
            return ground.place(seq, row[0])

    def lenders(self, session: str) -> dict[str, int]:
        """The conversations that a branch comes from, over any number of branches, and up to which place of theirs."""
        with self._looking(session) as ground:
            lent: dict[str, int] = {}
            for item in ground.begun:
                row = ground.work.one(
                    "SELECT c.id FROM message m JOIN conversation c ON c.number = m.conversation WHERE m.seq = ?",
                    (item.seq,),
                )
                if row and row[0] != ground.head.conversation:
                    lent[row[0]] = max(item.place, lent.get(row[0], 0))
        for lender in list(lent):
            for further, upto in self.lenders(lender).items():
                lent.setdefault(further, upto)
        return lent

    def by_any(self, id_: str) -> str | None:
        """The conversation that has a node of this id, whichever it is."""
        with self._database.read() as work:
            row = work.one(
                "SELECT c.id FROM node n JOIN conversation c ON c.number = n.conversation WHERE n.id = ? "
                "ORDER BY n.number DESC LIMIT 1",
                (id_,),
            )
        return None if row is None else str(row[0])

    # Conversations under the names another host gives their sessions

    def hosted(self, host: str) -> str | None:
        """The conversation that a host's session is part of."""
        with self._database.read() as work:
            row = work.one(
                "SELECT c.id FROM host_session h JOIN conversation c ON c.number = h.conversation WHERE h.id = ?",
                (log.word(host),),
            )
        return None if row is None else str(row[0])

    def host(self, host: str, session: str) -> None:
        """From now on that host's session is part of this conversation."""
        with self._on(session) as (work, head):
            _name(work, host, head)

    def begin(self, host: str, source: str) -> str:
        """Open a conversation for a host's session; its first session here."""
        with self._database.write() as work:
            about = About(source=source)
            made = open_conversation(work, id_=None, about=about, origin=Origin.NEW, parent=None, system="")
            _name(work, host, head_of(work, made))
            return made

    @contextmanager
    def _looking(self, session: str) -> Iterator[Ground]:
        """A conversation at one moment."""
        with self._database.read() as work:
            yield Ground(work, head_of(work, session))


def _name(work: Work, host: str, head: Head) -> None:
    work.run(
        "INSERT INTO host_session (id, conversation) VALUES (?, ?) "
        "ON CONFLICT (id) DO UPDATE SET conversation = excluded.conversation",
        (log.word(host), head.number),
    )

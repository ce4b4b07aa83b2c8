"""The store: everything that can be asked of it, each in one transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from clew.facts.messages import read_message
from clew.facts.session import Origin
from clew.store import align, chain, leases, ledger, log, windows
from clew.store.align import Aligned
from clew.store.blobs import Shelf, lines, pointer_to
from clew.store.chain import About, Head
from clew.store.database import Database, Look, Work
from clew.store.leases import Purpose
from clew.store.ledger import By, Call, Spent
from clew.store.nodes import Nodes
from clew.store.schema import migrate
from clew.store.spelling import fingerprint
from clew.store.trouble import SessionBusy, StoreDamaged
from clew.store.values import Conversation, Mark, SessionRecord, Stored
from clew.store.windows import LearnedWindow

Messages = Sequence[Mapping[str, Any]]


class Store:
    """Every message of every conversation, its chain of sessions, and what each call cost.

    >>> import clew, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with clew.open_store(os.path.join(folder, "my.db")) as store:
    ...         session = store.open_session(title="Parser")
    ...         _ = store.append(session, [{"role": "user", "content": "Port the parser."}])
    ...         [said.message["content"] for said in store.messages(session)]
    ['Port the parser.']
    """

    def __init__(self, database: Database, shelf: Shelf, open_beside: Callable[[], Database]) -> None:
        """`open_beside` opens the place for what is made from the store and can be made again."""
        self.database = database
        self.shelf = shelf
        self._open_beside = open_beside
        self._owner = leases.new_owner()
        try:
            migrate(database)
        except BaseException:
            database.close()
            raise

    @property
    def owner(self) -> str:
        """Who holds this store's leases: this process, not one that was forked from it."""
        if not leases.is_ours(self._owner):
            self._owner = leases.new_owner()
        return self._owner

    # Conversations and their sessions

    def open_session(
        self,
        *,
        id: str | None = None,  # noqa: A002
        title: str = "",
        cwd: str = "",
        model: str = "",
        tags: Sequence[str] = (),
        source: str = "",
        system: str = "",
    ) -> str:
        """Open a new conversation; the id of its first session. `id` names the conversation, else one is made up."""
        about = About(title, cwd, model, tuple(tags), source)
        with self.database.write() as work:
            return chain.open_conversation(work, id_=id, about=about, origin=Origin.NEW, parent=None, system=system)

    def branch(self, session: str, *, upto: int | None = None, title: str = "") -> str:
        """Open a conversation that begins with the first `upto` messages of this one's view. Nothing is copied."""
        with self.database.write() as work:
            head = chain.head_of(work, session)
            of = chain.conversations(work, id_=head.conversation)[0]
            about = About(title or of.title, of.cwd, of.model, of.tags, of.source)
            return chain.open_conversation(
                work,
                id_=None,
                about=about,
                origin=Origin.BRANCH,
                parent=head.tip,
                system=chain.record_of(work, head.tip).system,
                opening=chain.view(work, head.tip)[:upto],
            )

    def delegate(self, session: str, *, title: str = "", system: str = "", model: str = "") -> str:
        """Open a conversation for work handed to another agent; its cost counts into this one's family."""
        with self.database.write() as work:
            head = chain.head_of(work, session)
            of = chain.conversations(work, id_=head.conversation)[0]
            about = About(title, of.cwd, model or of.model, of.tags, of.source)
            return chain.open_conversation(
                work, id_=None, about=about, origin=Origin.DELEGATE, parent=head.tip, system=system
            )

    def describe(self, session: str, **changes: Any) -> None:
        """Change the conversation's title, cwd, model, tags or source."""
        unknown = changes.keys() - {"title", "cwd", "model", "tags", "source"}
        if unknown:
            raise TypeError(f"a conversation has no {', '.join(sorted(unknown))}")
        with self._on(session) as (work, head):
            chain.describe(work, head, changes)

    def conversations(self, *, limit: int | None = None) -> list[Conversation]:
        """One for each conversation, the one last active first."""
        with self.database.read() as work:
            return chain.conversations(work, limit=limit)

    def conversation(self, session: str) -> Conversation:
        """By its own id or that of any of its sessions."""
        with self.database.read() as work:
            return chain.conversations(work, id_=chain.head_of(work, session).conversation)[0]

    def find(self, beginning: str) -> list[str]:
        """The conversations whose id begins like this: people type less than a whole id."""
        with self.database.read() as work:
            rows = work.all(
                "SELECT id FROM conversation WHERE SUBSTR(id, 1, ?) = ? ORDER BY id LIMIT 20",
                (len(beginning), beginning),
            )
        return [row[0] for row in rows]

    def session(self, session: str) -> SessionRecord:
        """One session; for the id of a conversation the one in which it goes on."""
        with self.database.read() as work:
            head = chain.head_of(work, session)
            return chain.record_of(work, head.tip if session == head.conversation else session)

    def sessions(self, session: str) -> list[SessionRecord]:
        """The sessions of a conversation, first to last."""
        with self.database.read() as work:
            return chain.sessions_of(work, chain.head_of(work, session).number)

    def children(self, session: str) -> list[Conversation]:
        """What was branched or delegated from a conversation."""
        with self.database.read() as work:
            return chain.conversations(work, parent_in=chain.head_of(work, session).number)

    def get_compression_tip(self, session: str) -> str:
        """The session in which the conversation now goes on, however many compactions lie between."""
        with self.database.read() as work:
            return chain.head_of(work, session).tip

    # The log

    def append(self, session: str, messages: Messages) -> str:
        """Write messages at the end of the conversation; durable when it returns. The live session's id.

        The id of any session of the conversation will do: what is said belongs to the conversation, so an id from
        before a compaction loses nothing. SessionBusy when someone else holds the lease to write.
        """
        said = log.prepare(messages, self.shelf)
        with self.database.write() as work:
            head, end, leased = chain.end_of_talk(work, session, self.database.row_lock)
            if leased:
                self._refuse_others(work, head, Purpose.WRITE)
            said = log.name_tool(work, head.number, said)
            log.write(work, head.number, said, end)
            self._keep_shelved(said, messages)
            return head.tip

    def align(self, session: str, messages: Messages) -> Aligned:
        """Write what is new in a list that a client or a host hands back, whole or as the model saw it.

        Sending the same list again adds nothing; an edited message becomes a revision of the old one.
        """
        roles = [log.word(read_message(message, place).role) for place, message in enumerate(messages)]
        prints = [fingerprint(message) for message in messages]
        with self._on(session, Purpose.WRITE) as (work, head):

            def ready(new: Messages) -> list[log.Prepared]:
                return log.name_tool(work, head.number, log.prepare(new, self.shelf))

            return align.align(work, head, align.Handed(messages, prints, roles, ready))

    def recognise(self, messages: Messages) -> tuple[str, int] | None:
        """The live session of the conversation that begins like this list, and how many of its messages are known."""
        prints = [fingerprint(message) for message in messages]
        with self.database.read() as work:
            found = align.recognise(work, prints)
            if found is None:
                return None
            row = work.one("SELECT tip FROM conversation WHERE number = ?", (found[0],))
        return (row[0], found[1]) if row else None

    def messages(self, session: str) -> list[Stored]:
        """What the model sees in a session: what it opened with, and what was said since."""
        with self.database.read() as work:
            head = chain.head_of(work, session)
            return log.stored(
                work, self.shelf, chain.view_rows(work, head.tip if session == head.conversation else session)
            )

    def history(
        self, session: str, *, start: int = 0, limit: int | None = None, aside: bool = False
    ) -> Iterator[Stored]:
        """Everything said in a conversation, from a place on. `aside` adds what was edited, taken back or derived."""
        place, seq, left = start, -1, limit
        while left is None or left > 0:
            page = min(left or log.AT_ONCE, log.AT_ONCE)
            with self.database.read() as work:
                number = chain.head_of(work, session).number
                rows = work.all(
                    f"SELECT {log.COLUMNS} WHERE m.conversation = ? AND (m.place, m.seq) > (?, ?) "
                    f"{'' if aside else 'AND m.standing = 1'} ORDER BY m.place, m.seq LIMIT ?",
                    (number, place - 1 if seq < 0 else place, chain.LATEST if seq < 0 else seq, page),
                )
                end = len(rows) < page and left is None
                found = log.stored(work, self.shelf, rows if aside else log.whole(rows, to_the_end=end))
            if not found:
                return
            yield from found
            place, seq = found[-1].place, found[-1].seq
            left = None if left is None else left - len(found)

    def neighbours(self, seq: int, *, before: int = 2, after: int = 2) -> list[Stored]:
        """A message with those around it, at the same cost in a conversation of any length."""
        with self.database.read() as work:
            here = work.one("SELECT conversation, place FROM message WHERE seq = ?", (seq,))
            if here is None:
                return []
            where = f"SELECT {log.COLUMNS} WHERE m.conversation = ? AND m.standing = 1 AND (m.place, m.seq)"
            earlier = work.all(f"{where} < (?, ?) ORDER BY m.place DESC, m.seq DESC LIMIT ?", (*here, seq, before))
            itself = work.all(f"SELECT {log.COLUMNS} WHERE m.seq = ?", (seq,))
            later = work.all(f"{where} > (?, ?) ORDER BY m.place, m.seq LIMIT ?", (*here, seq, after))
            return log.stored(work, self.shelf, [*reversed(earlier), *itself, *later])

    # The chain

    def continue_session(
        self,
        session: str,
        messages: Messages,
        *,
        upto: int,
        system: str | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> str:
        """End a session with reason `compression` and open its child with the compacted messages. The child's id.

        `upto` is how many messages of the session were compacted: what was said behind them meanwhile comes after the
        summary. Kept messages are pointed to, not copied. SessionBusy when someone else was first.
        """
        kept = log.prepare(messages, self.shelf)
        with self._on(session, Purpose.WRITE, Purpose.COMPACT) as (work, head):
            if head.tip != session:
                raise SessionBusy(
                    f"{session} was compacted by someone else and goes on as {head.tip}. Nothing was changed."
                )
            child = chain.go_on(work, head, kept, upto=upto, system=system, state=state or {}, at=time.time())
            self._keep_shelved(kept, messages)
            return child

    def undo(self, session: str, *, turns: int = 1) -> tuple[str, list[Stored]]:
        """Take back a person's last turns, across compactions. The live session, and what was taken (still stored)."""
        if turns < 1:
            raise ValueError("turns is at least 1")
        with self._on(session, Purpose.WRITE, Purpose.COMPACT) as (work, head):
            head, seqs = chain.take_back(work, head, turns, time.time())
            return head.tip, self._fetched(work, seqs)

    def undo_compaction(self, session: str) -> str:
        """Go back to before the newest compaction, keeping everything said since. The live session's id."""
        with self._on(session, Purpose.WRITE, Purpose.COMPACT) as (work, head):
            return chain.go_back(work, head, time.time()).tip

    def end(self, session: str, reason: str) -> None:
        """Note that the conversation's live session is over; appending to it opens nothing new and loses nothing."""
        with self._on(session) as (work, head):
            work.run("UPDATE session SET ended = ?, end_reason = ? WHERE id = ?", (time.time(), reason, head.tip))

    def note(self, session: str, state: Mapping[str, Any]) -> None:
        """Keep what the next turn has to know, in place of what was kept before."""
        with self._on(session) as (work, head):
            work.run("UPDATE session SET state = ? WHERE id = ?", (json.dumps(dict(state)), head.tip))

    @contextmanager
    def hold(self, session: str, purpose: Purpose = Purpose.WRITE, *, seconds: float = 60.0) -> Iterator[Lease]:
        """Be the only one to write (or to compact) while the block runs. SessionBusy when someone else is."""
        lease = Lease(self, session, purpose, seconds)
        lease.renew()
        try:
            yield lease
        finally:
            with self._on(session) as (work, head):
                leases.give_back(work, head.number, purpose, owner=self.owner)

    # Blobs

    def spill(self, text: str) -> str:
        """Keep a big text outside; the pointer to write in its place. Kept for good once a message says the pointer."""
        return pointer_to(self.keep_blob(text.encode("utf-8", "surrogatepass")))

    def keep_blob(self, data: bytes) -> str:
        """Keep these bytes outside; their name."""
        name = self.shelf.put(data)
        with self.database.write() as work:
            log.note_blob(work, name, len(data), time.time())
        return name

    def read_blob(self, name: str) -> bytes:
        """All of a blob, by its name or the pointer to it."""
        return self.shelf.get(name.removeprefix("blob:"))

    def read_lines(self, name: str, *, offset: int = 1, limit: int | None = None) -> str:
        """Some lines of a blob, from line `offset`, counted from 1."""
        return lines(self.read_blob(name), offset, limit)

    # The ledger

    def record(self, session: str, call: Call) -> None:
        """Note one call of a provider."""
        with self._on(session) as (work, head):
            ledger.record(work, head.tip if session == head.conversation else session, head.number, call)

    def spent(
        self,
        by: By | str = By.ALL,
        *,
        conversation: str | None = None,
        family: bool = False,
        session: str | None = None,
        after: float | None = None,
        before: float | None = None,
    ) -> list[Spent]:
        """What calls came to, added up by session, conversation, day, model, provider, purpose or tool.

        `family` takes in everything the conversation delegated, at any depth.
        """
        with self.database.read() as work:
            number = chain.head_of(work, conversation).number if conversation else None
            return ledger.spent(
                work, By(by), conversation=number, family=family, session=session, after=after, before=before
            )

    @cached_property
    def nodes(self) -> Nodes:
        """Summaries of stretches of a conversation, and what they stand for."""
        return Nodes(self.database, self.shelf, self._on)

    # What providers said of themselves

    def learn_window(self, endpoint: str, model: str, window: int, *, said: str = "") -> None:
        """Remember the window that a provider stated; only a smaller one replaces what is known."""
        with self.database.write() as work:
            windows.learn(work, endpoint, model, window, said)

    def learned_windows(self) -> list[LearnedWindow]:
        """What was learned, with the provider's words and when."""
        with self.database.read() as work:
            return windows.learned(work)

    def forget_window(self, endpoint: str, model: str) -> bool:
        """Let a provider's window count again as it is known elsewhere."""
        with self.database.write() as work:
            return windows.forget(work, endpoint, model)

    # What the index reads

    def after(self, mark: Mark, limit: int) -> list[tuple[Mark, Stored]]:
        """The next messages behind a mark, each with the mark that stands behind it."""
        condition, values = self.database.behind(mark)
        with self.database.read() as work:
            moments = work.all(
                f"SELECT {self.database.moment}, seq FROM message WHERE {condition} ORDER BY 1, 2 LIMIT ?",
                (*values, limit),
            )
            by_seq = {said.seq: said for said in self._fetched(work, [seq for _, seq in moments])}
        return [((moment, seq), by_seq[seq]) for moment, seq in moments]

    def behind(self, mark: Mark) -> int:
        """How many messages there are behind a mark."""
        condition, values = self.database.behind(mark, settled=False)
        return int(self.database.glance.all("SELECT COUNT(*) FROM message WHERE " + condition, values)[0][0])

    def fetch(self, seqs: Sequence[int]) -> dict[int, Stored]:
        """These messages, whichever of them there are."""
        try:
            return {said.seq: said for said in self._fetched(self.database.glance, seqs)}
        except StoreDamaged:  # or forgotten between two looks: at one moment the truth can be told
            with self.database.read() as work:
                return {said.seq: said for said in self._fetched(work, seqs)}

    @cached_property
    def beside(self) -> Database:
        """Where the search index lives: apart from the log, so that it can be dropped and made again."""
        return self._open_beside()

    def close(self) -> None:
        self.database.close()
        if "beside" in self.__dict__:
            self.beside.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _on(self, session: str, *needs: Purpose) -> Iterator[tuple[Work, Head]]:
        """A transaction with the session's conversation locked, and no one else's lease in the way of what it needs."""
        with self.database.write() as work:
            head = chain.head_of(work, session, self.database.row_lock)
            if needs:
                self._refuse_others(work, head, *needs)
            yield work, head

    def _refuse_others(self, work: Work, head: Head, *needs: Purpose) -> None:
        leases.refuse_others(work, head.number, needs, owner=self.owner, now=self.database.now)

    def _keep_shelved(self, said: Sequence[log.Prepared], messages: Messages) -> None:
        """Put back big texts that someone forgot, with the only other message that had them, while we waited."""
        shelved = [name for message in said for name, size in message.blobs if size >= 0]
        if shelved and not all(map(self.shelf.has, shelved)):
            log.prepare(messages, self.shelf)

    def _fetched(self, work: Look, seqs: Sequence[int]) -> list[Stored]:
        found = []
        for part in log.in_parts(seqs):
            rows = work.all(f"SELECT {log.COLUMNS} WHERE m.seq IN ({log.marks(part)}) ORDER BY m.seq", list(part))
            found += log.stored(work, self.shelf, rows)
        return found


class Lease:
    """The right to be the only one, until it runs out."""

    def __init__(self, store: Store, session: str, purpose: Purpose, seconds: float) -> None:
        self._store, self._session, self._purpose, self._seconds = store, session, purpose, seconds

    def renew(self) -> None:
        """Have it for as long again. SessionBusy when it ran out and someone else took it."""
        store = self._store
        with store._on(self._session) as (work, head):
            leases.take(
                work,
                head.number,
                self._purpose,
                owner=store.owner,
                seconds=self._seconds,
                now=store.database.now,
            )

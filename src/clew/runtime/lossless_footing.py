"""Which conversation of the store a list of messages belongs to, and where each of them stands in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clew.engines.lossless.blocks import left_out_of, node_named
from clew.engines.lossless.seen import Seen, Shown
from clew.facts.messages import Message, read_messages
from clew.facts.node import row_id
from clew.facts.session import Origin
from clew.store.lineage import digest, pointers
from clew.store.spelling import fingerprint
from clew.store.store import Store
from clew.store.trouble import NotFound

Messages = Sequence[Mapping[str, Any]]
SOURCE = "lossless"
"""Where conversations come from that this engine opened itself."""
SURELY = 4
"""Messages in a row that show that a list without an id is a known conversation, sent again."""


class Footing:
    """The engine's conversation. Its host may keep it in the same store; else the engine keeps it there itself."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.session: str | None = None
        self.keeps = True
        """Whether the engine writes the conversation down; False: its host does."""
        self._name: str | None = None
        self._length = 0

    def start(self, host: str, *, goes_on: bool, old: str | None) -> None:
        """The host's session begins; with `goes_on` it is the same conversation as in `old`."""
        known = self.store.nodes.hosted(host)
        if known is None and self._has(host):
            self.session, self.keeps, self._name = host, False, None
            return
        if known is None and goes_on:
            known = (self.store.nodes.hosted(old) if old else None) or (self.session if self.keeps else None)
            if known is not None:
                self.store.nodes.host(host, known)
        self.session, self.keeps, self._name = known, True, host

    def leave(self) -> None:
        """What comes next is another conversation."""
        self.session, self.keeps, self._name = None, True, None

    def stand(self, messages: Messages) -> Seen:
        """The list in the log, each message with its place, and the nodes there are."""
        said = read_messages(messages)
        session = self.keep(messages)
        self.store.nodes.settle(session)
        return Seen(self._shown(session, messages, said), tuple(self.store.nodes.standing(session)))

    def keep(self, messages: Messages) -> str:
        """Write down what is new in the list; the session."""
        if self.session is None:
            self.session = self._found(messages)
        if self.session is None:
            self.session = self.store.append(self._begun(), messages)
        elif self.keeps and messages:
            self._go_back_to(self.session, messages)
            self.session = self.store.align(self.session, messages).session
        return self.session

    def go_on(self, messages: Messages) -> None:
        """The host goes on with this list. One that keeps the conversation itself has said so to the store."""
        if self.keeps and self.session is not None:
            tip = self.store.get_compression_tip(self.session)
            self.session = self.store.continue_session(tip, messages, upto=self._length)

    def _begun(self) -> str:
        if self._name is None:
            return self.store.open_session(source=SOURCE)
        return self.store.nodes.begin(self._name, SOURCE)

    def _branched(self, conversation: str, host: str) -> str:
        """A host's new session that begins with the summaries of another: a branch of it, which shares its messages."""
        session = self.store.branch(conversation)
        self.store.nodes.host(host, session)
        return session

    def _has(self, id_: str) -> bool:
        try:
            self.store.session(id_)
        except NotFound:
            return False
        return True

    def _found(self, messages: Messages) -> str | None:
        """A list that comes without an id, after a restart: known by its summaries, or by how it begins."""
        for text in (message.get("content") for message in messages):
            if isinstance(text, str) and (id_ := node_named(text)) and (known := self.store.nodes.by_any(id_)):
                return known if self._name is None else self._branched(known, self._name)
        if self._name is not None or (found := self.store.recognise(messages)) is None:
            return None
        session, shared = found
        about = self.store.conversation(session)
        again = shared == about.messages or (shared == len(messages) and shared >= SURELY)
        return session if again and about.source == SOURCE else None

    def _go_back_to(self, session: str, messages: Messages) -> None:
        """A host that did not take a compaction goes on from before it: so does the log."""
        tip = self.store.get_compression_tip(session)
        if not self.store.nodes.opened(tip):
            return  # never compacted: there is nothing to go back to
        prints = [fingerprint(message) for message in messages]
        back, here = 0, tip
        while not _begins(prints, self.store.nodes.opened(here)):
            record = self.store.session(here)
            if record.origin is not Origin.COMPRESSION or record.parent is None:
                return  # none of the sessions: the whole conversation, or something new
            back, here = back + 1, record.parent
        if here != tip and self.store.nodes.opened(here):
            for _ in range(back):
                self.store.undo_compaction(session)

    def _shown(self, session: str, messages: Messages, said: Sequence[Message]) -> tuple[Shown, ...]:
        view = self.store.nodes.view(session)
        self._length = len(view)
        at = _found_again([_key(row.message.raw) for _, row in view], [_key(message) for message in messages])
        places: list[tuple[int | None, str | None]] = []
        for n in at:
            place, row = view[n] if n is not None else (None, None)
            places.append((place, row.id if row is not None and place is not None else None))
        if self.keeps and None in at:
            line = self.store.nodes.line(session)
            found = pointers([hash_ for _, hash_ in line], [fingerprint(message) for message in messages])
            for n, where in enumerate(found):
                if at[n] is None and where is not None:
                    places[n] = (line[where][0], row_id(*line[where]))
        return tuple(
            Shown(one, left_out_of(one) if place is None else place, id_)
            for one, (place, id_) in zip(said, places, strict=True)
        )


def _found_again(known: Sequence[bytes], handed: Sequence[bytes]) -> Sequence[int | None]:
    """For each message that was handed in its place among those known. More may have been said meanwhile."""
    return range(len(handed)) if _begins(known, handed) else pointers(known, handed)


def _begins(whole: Sequence[bytes], like: Sequence[bytes]) -> bool:
    return list(whole[: len(like)]) == list(like)


_SAID = ("role", "content", "tool_calls", "tool_call_id")


def _key(message: Mapping[str, Any]) -> bytes:
    """What a message says, whatever a host hangs on it besides: names of tools, an empty text for none."""
    return digest(json.dumps([message.get(key) or "" for key in _SAID], sort_keys=True, default=str).encode())

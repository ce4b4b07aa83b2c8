"""Which conversation is this? By its name, or by its beginning, which the client sends again every time."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from clew.facts.messages import BadMessages
from clew.facts.usage import Usage
from clew.gateway.asked import Asked
from clew.gateway.known import How, Known, New
from clew.gateway.layout import Layout, Unreadable, items_between, lay_out, lay_out_rest
from clew.gateway.prints import print_of
from clew.gateway.refusals import Refusal
from clew.gateway.relation import Again, Continues, Edited, Forked, Strange, relate
from clew.gateway.talks import Boundary, Scope, Talk, Talks, shared

SESSION = b"x-clew-session"
NAMED = b"x-claude-code-session-id"
"""In which a client says which of its sessions this is. Several lists may go by one name: those of sub-agents,
of titles; so a name narrows the search and does not end it."""
REPLIES_KEPT = 10_000
"""Ids of replies that are remembered, for requests that name the one they go on from."""


class Library(Protocol):
    """What the store knows, asked from a thread."""

    def owner_of(self, conversation: str) -> str | None:
        """The key that began it; None when there is no such conversation."""
        ...

    def view(self, conversation: str) -> list[dict[str, Any]]: ...

    def recognise(self, messages: list[dict[str, Any]], owner: str) -> str | None: ...

    def last_usage(self, conversation: str) -> Usage | None: ...


class Knowing:
    """Knows conversations again."""

    def __init__(self, talks: Talks, library: Library, settle: Callable[[], Awaitable[None]]) -> None:
        """`settle` waits until everything that was heard is in the store."""
        self.talks = talks
        self._library = library
        self._settle = settle
        self._replies: OrderedDict[tuple[str, str], Talk] = OrderedDict()

    async def know(self, asked: Asked) -> Known | None:
        """What is known of a request; None when it cannot be read. Refusal when it names a conversation of no one, or
        of someone else."""
        session = asked.header(SESSION)
        name = asked.header(NAMED)
        scope: Scope = (asked.key.name, asked.dialect.name, name)
        try:
            found = self._named(asked, session) if session else self.talks.find(scope, asked.body)
            known = self._quickly(asked, *found) if found else None
            known = known or await self._closely(asked, scope, session, found)
        except Unreadable:
            if session:
                await self._settle()
                await asyncio.to_thread(self._refuse_others, session, asked.key.name)
            return None
        known.last_usage = self._library.last_usage
        return known

    def keep(self, known: Known) -> None:
        """The request was answered, or begins something: remember where its conversation stands."""
        known.advance()
        self.talks.keep(known.talk)

    def answered(self, talk: Talk, reply: str) -> None:
        """The provider calls its reply by this id; a next request may name it instead of sending the history."""
        talk.reply = reply
        self._replies[(talk.scope[0], reply)] = talk
        while len(self._replies) > REPLIES_KEPT:
            self._replies.popitem(last=False)

    def _named(self, asked: Asked, session: str) -> tuple[Talk, Boundary] | None:
        talk = self.talks.named(asked.key.name, session)
        boundary = shared(talk, asked.body) if talk and talk.scope[1] == asked.dialect.name else None
        return (talk, boundary) if talk and boundary else None

    def _quickly(self, asked: Asked, talk: Talk, boundary: Boundary) -> Known | None:
        """Where nothing but the end of the list has changed: the new items alone are read."""
        body, start = asked.body, boundary.end
        stop = len(body) - len(talk.rest)
        if boundary is not talk.ends[-1] or stop < start or not body.endswith(talk.rest):
            return None
        asked.fields = talk.fields
        if stop == start:
            return Known(asked, talk, Again(), [], stop, boundary.items, shared=start)
        if body[start : start + 1] != b",":
            return None
        new = items_between(body, start, stop)
        total = boundary.items + len(new)
        return Known(asked, talk, Continues(), new, stop, total, shared=start, is_verbatim=True)

    async def _closely(self, asked: Asked, scope: Scope, session: str, found: tuple[Talk, Boundary] | None) -> Known:
        """Where something else has changed too, or nothing is known of it."""
        if found:
            talk, boundary = found
            layout = lay_out_rest(asked.body, boundary.end, talk.before, asked.list_name)
            if _hint(layout.fields) == _hint(talk.fields):
                asked.fields = layout.fields
                return self._from_boundary(asked, talk, boundary, layout)
        layout = lay_out(asked.body, asked.list_name)
        asked.fields = layout.fields
        if isinstance(earlier := layout.fields.get("previous_response_id"), str):
            before = await self._replied(asked.key.name, earlier)
            if before is not None:
                return Known(asked, before, Continues(), _given(asked, layout))
        if session or _has_history(layout.items):
            await self._settle()
            return await asyncio.to_thread(self._from_store, asked, scope, session, layout)
        return self._new(asked, scope, layout)

    def _from_boundary(self, asked: Asked, talk: Talk, boundary: Boundary, layout: Layout) -> Known:
        """From the last place up to which all bytes are the same, the lists are compared item by item."""
        old = items_between(talk.body, boundary.end, talk.ends[-1].end)
        known = [print_of(item) for item in old if isinstance(item, Mapping)]
        handed = [print_of(item) for item in layout.items if isinstance(item, Mapping)]
        how, total = relate(known, handed), boundary.items + len(layout.items)
        match how:
            case Continues():
                return Known(asked, talk, how, layout.items[len(old) :], layout.end, total, shared=boundary.end)
            case Forked(at):
                return self._forked(asked, talk, boundary.items + at, layout)
            case Strange():  # all that stood behind the boundary was left
                return self._forked(asked, talk, boundary.items, layout)
        return Known(asked, talk, how, layout.items, layout.end, total, shared=boundary.end)

    def _forked(self, asked: Asked, talk: Talk, at: int, layout: Layout) -> Known:
        fork = Talk(_new_id(), talk.scope, before=layout.before)
        items = lay_out(asked.body, asked.list_name).items
        return Known(asked, fork, Forked(at), items[at:], layout.end, len(items), of=talk.conversation)

    def _from_store(self, asked: Asked, scope: Scope, session: str, layout: Layout) -> Known:
        """A conversation from before a restart, or one that others have pushed out of memory."""
        owner = asked.key.name
        try:
            messages = [message.to_dict() for message in asked.prompt.messages]
        except BadMessages as wrong:
            raise Unreadable(str(wrong)) from None
        if session:
            self._refuse_others(session, owner)
        conversation = session or self._library.recognise(messages, owner)
        if conversation is None:
            return self._new(asked, scope, layout)
        view = [print_of(message) for message in self._library.view(conversation)]
        how: How = relate(view, [print_of(message) for message in messages])
        talk, whole = Talk(conversation, scope, before=layout.before), (layout.end, len(layout.items))
        match how:
            case Strange() if not session:
                return self._new(asked, scope, layout)
            case Forked(at) if len(view) - at > 1:
                fork = Talk(_new_id(), scope, before=layout.before)
                return Known(asked, fork, how, layout.items, *whole, of=conversation, messages=messages[at:])
            case Forked():  # the last reply alone is spelled in another way: no fork, but an edit of it
                how = Edited()
            case Continues():
                return Known(asked, talk, how, layout.items, *whole, messages=messages[len(view) :])
        return Known(asked, talk, how, layout.items, *whole, messages=messages)

    def _new(self, asked: Asked, scope: Scope, layout: Layout) -> Known:
        talk = Talk(_new_id(), scope, before=layout.before)
        return Known(asked, talk, New(), layout.items, layout.end, len(layout.items))

    async def _replied(self, owner: str, reply: str) -> Talk | None:
        """The talk whose newest reply goes by this id."""
        if (owner, reply) not in self._replies:
            await self._settle()  # it may have been said a moment ago
        talk = self._replies.get((owner, reply))
        return talk if talk is not None and talk.reply == reply else None

    def _refuse_others(self, session: str, owner: str) -> None:
        if self._library.owner_of(session) != owner:
            raise Refusal(404, f"there is no conversation {session[:80]!r} here", is_final=True)


def _hint(fields: Mapping[str, Any]) -> tuple[Any, ...]:
    """By what a client tells its sessions apart in the body."""
    metadata = fields.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    conversation = fields.get("conversation")
    return user, fields.get("prompt_cache_key"), str(conversation) if conversation else None


def _has_history(items: list[Any]) -> bool:
    """Whether a model has spoken in it: if not, nothing can have come before."""
    asking = ("user", "system", "developer")
    return any(isinstance(item, Mapping) and item.get("role") not in asking for item in items)


def _given(asked: Asked, layout: Layout) -> list[Any]:
    text = layout.fields.get(asked.list_name)
    return [{"role": "user", "content": text}] if isinstance(text, str) else layout.items


def _new_id() -> str:
    return f"{time.strftime('%Y%m%d')}-{secrets.token_hex(6)}"

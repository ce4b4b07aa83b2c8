"""Sessions from the store and back: the turn's wishes carried out on the log, and a session taken up where it stood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from clew.core.effects import Append, Continue, Effect, Learn, Spill
from clew.facts.messages import Message, read_message
from clew.facts.session import Measured, Opened, Session
from clew.store.store import Store


def load(store: Store, id: str, count: Callable[[Message], int]) -> Session:  # noqa: A002
    """The session in which a conversation goes on, by the id of any of its sessions; its window bounds the cost."""
    record = store.session(store.get_compression_tip(id))
    state = record.state
    session = Session(
        id=record.id,
        system=record.system,
        origin=record.origin,
        parent=record.parent,
        measured=Measured(**state["measured"]) if state.get("measured") else None,
        compactions=record.number,
        fruitless=state.get("fruitless", 0),
        settled_at=state.get("settled_at"),
        pins=tuple(state.get("pins", ())),
    )
    for stored in store.messages(record.id):
        said = read_message(stored.message)
        session = session.add(said, count(said))
    return session


def keep(store: Store, session: Session) -> None:
    """Remember what the next turn has to know, so that any process can take it."""
    measured = asdict(session.measured) if session.measured else None
    state = {"measured": measured, "fruitless": session.fruitless, "settled_at": session.settled_at}
    store.note(session.id, {**state, "pins": session.pins})


def hands(
    store: Store, endpoint: str = "", *, renew: Callable[[Session], str] = lambda session: session.system
) -> dict[type[Effect[Any]], Callable[[Any], Any]]:
    """What `drive` needs to write a conversation down; `endpoint` is where its model is served, `renew` tells the
    system prompt with which it goes on after a compaction."""
    return {
        Append: lambda wish: _append(store, wish),
        Continue: lambda wish: _continue(store, wish, renew(wish.session) + wish.compaction.system_note),
        Spill: lambda wish: store.spill(wish.text),
        Learn: lambda wish: store.learn_window(endpoint, wish.model.name, wish.window, said=wish.said),
    }


def _append(store: Store, wish: Append) -> None:
    store.append(wish.session.id, [said.to_dict() for said in wish.messages])


def _continue(store: Store, wish: Continue, system: str) -> Opened:
    session, done = wish.session, wish.compaction
    child = store.continue_session(
        session.id,
        [said.to_dict() for said in done.messages],
        upto=len(session.entries),
        system=system,
        state={"pins": session.pins},
    )
    return Opened(child, system)

"""`clew sessions show`: what was said in a conversation, or what its model sees now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from clew.cli.options import json_option, store_option

if TYPE_CHECKING:
    from clew.store.store import Store
    from clew.store.values import Stored


@click.command(short_help="What was said in one.")
@click.argument("name", metavar="ID")
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=40, show_default=True, help="How many messages."
)
@click.option("--from", "start", metavar="PLACE", type=int, default=0, help="The first one shown; -10: the last ten.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option("--full", is_flag=True, help="Long texts whole.")
@click.option("--view", "as_seen", is_flag=True, help="What the model sees now instead of all that was said.")
@store_option
@json_option
def show(
    name: str,
    *,
    limit: int,
    start: int,
    everything: bool,
    full: bool,
    as_seen: bool,
    store_url: str | None,
    as_json: bool,
) -> None:
    """Show the messages of a conversation; credentials are taken out.

    For the id of a session, --view shows what the model saw at the end of that session.
    """
    from clew.cli import messages, screen, stores
    from clew.screen import conversations
    from clew.screen.naming import resolve
    from clew.screen.titles import title_of

    with stores.opened(store_url) as store:
        id_ = resolve(store, name)
        about = store.conversation(id_)
        spent = store.spent(conversation=about.id)[0]
        page = (
            _seen(store, id_, start, None if everything else limit)
            if as_seen
            else (_said(store, about.id, about.messages, start, None if everything else limit))
        )
        listed = conversations.Listed(about, title_of(store, about), spent if spent.calls else None)
        sizes = messages.blob_sizes(store, page.shown)
    if as_json:
        document = {
            "conversation": conversations.document(listed),
            "view": as_seen,
            "messages": [messages.document(said, sizes) for said in page.shown],
            "left": page.left,
        }
        screen.put(screen.as_json(document))
        return
    console = screen.console()
    messages.show_about(console, listed)
    for place, said in enumerate(page.shown):
        messages.show(console, said, sizes, full=full, number=page.start + place if as_seen else said.place)
    messages.show_end(console, page)


@dataclass(frozen=True, slots=True)
class Page:
    """Some messages of many."""

    shown: list[Stored]
    start: int
    """The number of the first."""
    left: int
    """How many follow."""
    following: int
    """The number of the next."""


def _said(store: Store, conversation: str, end: int, start: int, limit: int | None) -> Page:
    first = max(end + start, 0) if start < 0 else start
    shown = list(store.history(conversation, start=first, limit=limit))
    following = shown[-1].place + 1 if shown else end
    return Page(shown, first, max(end - following, 0), following)


def _seen(store: Store, session: str, start: int, limit: int | None) -> Page:
    seen = store.messages(session)
    first = max(len(seen) + start, 0) if start < 0 else start
    shown = seen[first : None if limit is None else first + limit]
    following = first + len(shown)
    return Page(shown, first, max(len(seen) - following, 0), following)

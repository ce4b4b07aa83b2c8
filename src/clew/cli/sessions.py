"""`clew sessions`: what is in the store, conversation by conversation."""

from __future__ import annotations

import click

from clew.cli.export import export
from clew.cli.forgetting import delete, prune
from clew.cli.options import ListByDefault, json_option, store_option
from clew.cli.show import show
from clew.cli.tree import tree
from clew.cli.undo import undo


@click.group(cls=ListByDefault, short_help="List, show, export, undo and delete conversations.")
def sessions() -> None:
    """What is in the store. Without a command: the list.

    An ID is a conversation's or a session's, or any unique beginning of one, or 'last' for the one last active.
    """


@sessions.command("list", short_help="The conversations, the one last active first.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), default=20, show_default=True, help="How many.")
@click.option("--all", "everything", is_flag=True, help="Every one of them.")
@store_option
@json_option
def list_(*, limit: int, everything: bool, store_url: str | None, as_json: bool) -> None:
    """List the conversations, the one last active first."""
    from clew.cli import screen, stores
    from clew.screen import conversations

    with stores.opened(store_url) as store:
        listed = conversations.listed(store, limit=None if everything else limit)
        total = conversations.total(store)
    if as_json:
        rows = [conversations.document(row) for row in listed]
        screen.put(screen.as_json({"conversations": rows, "total": total}))
    else:
        conversations.show_list(screen.console(), listed, total)


for command in (show, tree, export, undo, delete, prune):
    sessions.add_command(command)

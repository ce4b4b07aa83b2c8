"""`clew sessions tree`: how conversations went on, branched and delegated."""

from __future__ import annotations

import click

from clew.cli.options import json_option, store_option


@click.command(short_help="Continuations, branches and delegates as a tree.")
@click.argument("name", metavar="[ID]", required=False)
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=10, show_default=True, help="How many, without an ID."
)
@store_option
@json_option
def tree(name: str | None, *, limit: int, store_url: str | None, as_json: bool) -> None:
    """Draw the family of a conversation: each session with how it ended, and what was branched or delegated from it.

    Without an ID: the families last active.
    """
    from clew.cli import families, screen, stores
    from clew.screen.naming import resolve

    with stores.opened(store_url) as store:
        asked = None if name is None else store.conversation(resolve(store, name)).id
        roots = [families.root_of(store, asked)] if asked else families.newest_roots(store, limit)
        drawn = [families.family(store, root) for root in roots]
    if as_json:
        screen.put(screen.as_json({"families": [families.document(root) for root in drawn]}))
    else:
        families.show(screen.console(), drawn, asked)

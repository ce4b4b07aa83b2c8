"""`clew search`: find again what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from clew.cli.options import json_option, store_option, when_option

if TYPE_CHECKING:
    from clew.recall.meant import Mode
    from clew.store.store import Store

WORTH_A_WAIT = 300
"""Messages the index may be behind before a person is shown that it catches up."""


@click.command(short_help="Find what was said.")
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@click.option("--in", "within", metavar="ID", help="Only in this conversation.")
@click.option("--role", metavar="R", help="Only what this role said: user, assistant, tool …")
@click.option("--tool", metavar="T", help="Only calls and results of this tool.")
@click.option(
    "--after", metavar="WHEN", callback=when_option, help="Only since then: 2026-11-01, '2026-11-01 14:00', 3d, 12h."
)
@click.option("--before", metavar="WHEN", callback=when_option, help="Only until then.")
@click.option("--derived", is_flag=True, help="Also summaries that clew wrote.")
@click.option(
    "--mode",
    type=click.Choice(["words", "meaning", "hybrid"]),
    help="How it is looked for.  [default: hybrid for a question, where meanings are kept]",
)
@click.option("--limit", metavar="N", type=click.IntRange(min=1), default=10, show_default=True, help="How many.")
@click.option("--context", metavar="N", type=click.IntRange(min=0), default=0, help="Messages around each, too.")
@store_option
@json_option
def search(
    words: tuple[str, ...],
    *,
    within: str | None,
    role: str | None,
    tool: str | None,
    after: float | None,
    before: float | None,
    derived: bool,
    mode: Mode | None,
    limit: int,
    context: int,
    store_url: str | None,
    as_json: bool,
) -> None:
    """Find messages by words, "phrases", prefixes*, identifiers, paths or a plain question, the best first.

    Looks into texts, tool calls and big output kept outside. A word after a minus sign must not occur:
    clew search -- parser -lexer. By meaning needs the extra clew[semantic]; the first time, it reads every message.
    """
    from clew.cli import screen, stores
    from clew.cli.hits import document
    from clew.runtime import recall
    from clew.screen import hits
    from clew.screen.naming import resolve

    question = " ".join(words).strip()
    if not question:
        raise click.UsageError("say what to look for.")
    with stores.opened(store_url) as store:
        conversation = None if within is None else store.conversation(resolve(store, within)).id
        _catch_up(store)
        if mode in ("meaning", "hybrid"):
            _keep_meanings(store)
        found = recall.search(
            store,
            question,
            mode=mode,
            limit=limit,
            conversation=conversation,
            role=role,
            tool=tool,
            after=after,
            before=before,
            derived=derived,
        )
        chosen = hits.Chosen(conversation, role, tool, after, before, derived)
        seen = [hits.seen(store, hit, context) for hit in found.hits]
    if as_json:
        screen.put(screen.as_json(document(question, found, chosen, seen)))
    else:
        hits.show(screen.console(), question, found, chosen, seen)


def _catch_up(store: Store) -> None:
    """A long backlog is indexed first, with a bar; a short one the search indexes itself."""
    from clew.cli import screen
    from clew.runtime.recall import index_of
    from clew.store.trouble import StoreBusy, StoreReadOnly

    index = index_of(store)
    behind = index.behind()
    if behind <= WORTH_A_WAIT:
        return
    try:
        with screen.progress("indexing", behind) as progress:
            index.catch_up(progress=progress)
    except (StoreBusy, StoreReadOnly):
        return  # the search tells what it could not look into


def _keep_meanings(store: Store) -> None:
    """What has no meaning kept yet gets it first, with a bar."""
    from clew.cli import screen
    from clew.runtime.recall import nearness_of
    from clew.store.trouble import StoreBusy, StoreReadOnly

    nearness = nearness_of(store)
    behind = nearness.behind() if nearness else 0
    if nearness is None or behind <= WORTH_A_WAIT:
        return
    try:
        with screen.progress("reading for meaning", behind) as progress:
            nearness.build(progress=progress)
    except (StoreBusy, StoreReadOnly):
        return  # the search tells what it could not look into

"""`clew insights`: what was spent, on what, and what the store holds."""

from __future__ import annotations

import click

from clew.cli.options import json_option, store_option, when_option

BY = ("day", "model", "provider", "purpose", "tool", "session", "conversation")


@click.command(short_help="What was spent, and on what.")
@click.option("--days", metavar="N", type=click.IntRange(min=1), help="The last N days.  [default: 30]")
@click.option(
    "--since", metavar="WHEN", callback=when_option, help="Instead of --days: from then on (2026-11-01, 12h)."
)
@click.option("--until", metavar="WHEN", callback=when_option, help="Up to then.")
@click.option("--by", type=click.Choice(BY), help="Only this table, with all its rows.")
@store_option
@json_option
def insights(
    *,
    days: int | None,
    since: float | None,
    until: float | None,
    by: str | None,
    store_url: str | None,
    as_json: bool,
) -> None:
    """Show what the recorded calls of providers took and cost: in all, by day, by model, by tool, by conversation.

    A conversation's row has what it delegated in it.
    """
    from clew.cli import screen, stores
    from clew.screen import spending

    if days and since is not None:
        raise click.UsageError("--days and --since both say where to begin; say one of them.")
    period = spending.period(days, since, until)
    with stores.opened(store_url) as store:
        picture = spending.picture(store, period, (by,) if by else ("day", "model", "tool", "conversation"))
    if as_json:
        screen.put(screen.as_json(spending.document(picture)))
    else:
        spending.show(screen.console(), picture, whole=by is not None)

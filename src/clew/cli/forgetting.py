"""`clew sessions delete` and `prune`: what must go, gone everywhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from clew.cli.errors import INTERRUPTED
from clew.cli.options import Command, json_option, store_option

if TYPE_CHECKING:
    from clew.cli.leaving import Leaving
    from clew.store.care import Forgotten
    from clew.store.store import Store


def _sure_options(command: Command) -> Command:
    dry = click.option("--dry-run", is_flag=True, help="Show what would go; remove nothing.")
    return dry(click.option("--yes", is_flag=True, help="Do not ask.")(command))


@click.command(short_help="Remove conversations for good.")
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", metavar="TEXT", default="asked", help="Kept beside the id, so that one knows why it is gone.")
@_sure_options
@store_option
@json_option
def delete(
    names: tuple[str, ...], *, reason: str, dry_run: bool, yes: bool, store_url: str | None, as_json: bool
) -> None:
    """Remove conversations with everything they delegated: messages, big output, index, and the backups beside the
    store that still have them.

    Their bytes are overwritten. What they cost stays in the ledger, without their words.
    """
    from clew.cli import leaving, stores
    from clew.screen.naming import resolve

    with stores.opened(store_url) as store:
        leaves = leaving.leaving(store, [resolve(store, name) for name in names])
        _go(store, leaves, reason=reason, dry_run=dry_run, yes=yes, as_json=as_json)


@click.command(short_help="Remove conversations that were not active for long.")
@click.option(
    "--older-than", metavar="DAYS", type=click.FloatRange(min=0), required=True, help="Days without a new message."
)
@click.option("--source", metavar="S", help="Only those that came from there, as 'clew sessions show' tells it.")
@_sure_options
@store_option
@json_option
def prune(
    *, older_than: float, source: str | None, dry_run: bool, yes: bool, store_url: str | None, as_json: bool
) -> None:
    """Remove the conversations in which nothing was said for DAYS days, and big output that nothing points to.

    A conversation stays as long as anything it delegated is active.
    """
    from clew.cli import leaving, stores

    with stores.opened(store_url) as store:
        leaves = leaving.inactive(store, older_than, source)
        _go(
            store,
            leaves,
            reason=f"older than {older_than:g} days",
            dry_run=dry_run,
            yes=yes,
            as_json=as_json,
            tidy=True,
        )


def _go(
    store: Store, leaves: Leaving, *, reason: str, dry_run: bool, yes: bool, as_json: bool, tidy: bool = False
) -> None:
    """Say what goes, make sure that it is wanted, remove it, say what went."""
    from clew.cli import leaving, screen
    from clew.store.care import collect

    console = screen.console()
    loose = collect(store, dry_run=True) if tidy else []
    if not as_json:
        leaving.show(console, leaves, loose)
    wanted = bool(leaves.families or loose)
    if wanted and not dry_run:
        _make_sure(yes, as_json)
    done = _remove(store, leaves, reason, tidy) if wanted and not dry_run else _Done()
    if as_json:
        screen.put(screen.as_json({**leaving.document(leaves, loose), "dry_run": dry_run, **done.document()}))
    elif dry_run:
        leaving.say_dry(console)
    elif wanted:
        leaving.show_done(console, done.gone, done.collected)
    if done.interrupted:
        screen.warn(
            [f"clew: interrupted after {len(done.gone)} of {len(leaves.families)}; the others are still there."]
        )
        raise click.exceptions.Exit(INTERRUPTED)


@dataclass(slots=True)
class _Done:
    """What was removed so far. Ctrl-C ends it early."""

    gone: list[Forgotten] = field(default_factory=list)
    collected: Sequence[str] = ()
    interrupted: bool = False

    def document(self) -> dict[str, Any]:
        return {
            "removed": {
                "conversations": [name for one in self.gone for name in one.conversations],
                "messages": sum(one.messages for one in self.gone),
                "blobs": sum(one.blobs for one in self.gone) + len(self.collected),
            },
            "interrupted": self.interrupted,
        }


def _make_sure(yes: bool, as_json: bool) -> None:
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise click.UsageError("this removes for good; say --yes to do it, or --dry-run to see what would go.")
    click.confirm("Remove this for good?", abort=True, err=True)


def _remove(store: Store, leaves: Leaving, reason: str, tidy: bool) -> _Done:
    from clew.cli import screen
    from clew.runtime.care import forget
    from clew.store.care import collect

    done = _Done()
    try:
        with screen.progress("removing", len(leaves.families)) as progress:
            for family in leaves.families:
                done.gone.append(forget(store, family[0], reason=reason))
                progress(len(done.gone))
        done.collected = collect(store) if tidy else ()
    except KeyboardInterrupt:
        done.interrupted = True
    return done

"""`clew doctor`: is the store whole, and what can be done where it is not?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from clew.cli.options import json_option, store_option

if TYPE_CHECKING:
    from clew.cli.checkup import Checkup


@click.command(short_help="Prove that the store is whole, or mend it.")
@click.option("--repair", is_flag=True, help="Mend what can be mended, after a backup.")
@click.option(
    "--backup", metavar="PATH", type=click.Path(dir_okay=False, path_type=Path),
    help="Where the backup goes.  [default: beside the store]",
)  # fmt: skip
@store_option
@json_option
def doctor(*, repair: bool, backup: Path | None, store_url: str | None, as_json: bool) -> None:
    """Look at every message, hash, pointer and blob, and at the search index.

    Exit code 0: all is well, also when that took a repair. 1: something is wrong.
    """
    from clew.cli import checkup, mending, screen

    if backup and not repair:
        raise click.UsageError("--backup says where --repair puts its backup; say --repair with it.")
    first = checkup.look(store_url)
    done = mending.mend(store_url, first, backup) if repair and (first.findings or first.open_files) else None
    last = checkup.look(store_url) if done else first
    if as_json:
        document = checkup.document(last)
        document["repair"] = mending.document(done, first) if done else None
        screen.put(screen.as_json(document))
    else:
        _show(first, last, done, repair)
    if last.findings:
        raise click.exceptions.Exit(1)


def _show(first: Checkup, last: Checkup, done: object, repair: bool) -> None:
    from clew.cli import checkup, mending, screen
    from clew.screen import layout

    console = screen.console()
    checkup.show(console, first)
    if isinstance(done, mending.Mended):
        mending.show(console, done)
        checkup.show_left(console, last)
    elif repair:
        layout.say(console, "Nothing to repair; no backup was made.")

"""`clew sessions export`: a conversation as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clew.cli.options import json_option, store_option

if TYPE_CHECKING:
    from clew.store.store import Store


@click.command(short_help="Write one to a file.")
@click.argument("name", metavar="ID")
@click.option(
    "-o", "--output", metavar="OUT", type=click.Path(dir_okay=False, allow_dash=True), help="Where to write it."
)
@click.option(
    "--format", "format_", type=click.Choice(["clew", "openai"]), default="clew", show_default=True,
    help="clew: JSON Lines that 'clew import' takes in again exactly. openai: a JSON list of messages.",
)  # fmt: skip
@click.option("--view", "as_seen", is_flag=True, help="With openai: only what the model sees now.")
@click.option("--redact", "veil", is_flag=True, help="Take credentials out.")
@store_option
@json_option
def export(
    name: str,
    output: str | None,
    *,
    format_: str,
    as_seen: bool,
    veil: bool,
    store_url: str | None,
    as_json: bool,
) -> None:
    """Write a conversation as it is stored, to the letter, on standard output unless -o names a file.

    The clew format has everything: messages that were edited or taken back, sessions, big output, what calls cost.
    """
    from clew.cli import exports, screen, stores
    from clew.cli.writing import refuse_unwritable, write_whole
    from clew.screen import layout
    from clew.screen.amounts import count
    from clew.screen.naming import resolve
    from clew.store import portable

    if as_seen and format_ == "clew":
        raise click.UsageError("the clew format always has everything; --view goes with --format openai.")
    out = None if output in (None, "-") else Path(str(output))
    if out:
        refuse_unwritable(out)
    with stores.opened(store_url) as store:
        id_ = resolve(store, name)
        conversation = store.conversation(id_).id
        if format_ == "clew":
            lines: list[Any] = list(
                exports.redacted(portable.export(store, id_)) if veil else portable.export(store, id_)
            )
            number, data = sum("message" in line for line in lines), exports.as_bytes(lines)
        else:
            lines = _messages(store, id_, as_seen, veil)
            number, data = len(lines), screen.as_json(lines)
    if out:
        write_whole(out, data)
    if as_json:
        document = {"conversation": conversation, "format": format_, "messages": number, "redacted": veil}
        screen.put(
            screen.as_json({**document, "output": str(out)} if out else {**document, "output": None, "lines": lines})
        )
    elif out:
        layout.say(screen.console(), f"{conversation}: {count(number, 'message')} written to {out}.")
    else:
        screen.put(data)


def _messages(store: Store, id_: str, as_seen: bool, veil: bool) -> list[Any]:
    from clew.cli.exports import veiled

    messages = [said.message for said in (store.messages(id_) if as_seen else store.history(id_))]
    return [veiled(message) for message in messages] if veil else messages

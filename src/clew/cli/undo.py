"""`clew sessions undo`: the last turns, or the last compaction, taken back."""

from __future__ import annotations

import click

from clew.cli.options import json_option, store_option


@click.command(short_help="Take back the last turns or the last compaction of one.")
@click.argument("name", metavar="ID")
@click.option("--turns", metavar="N", type=click.IntRange(min=1), help="How many turns of the person.  [default: 1]")
@click.option("--compaction", is_flag=True, help="Go back to before the last compaction; nothing said is lost.")
@store_option
@json_option
def undo(name: str, *, turns: int | None, compaction: bool, store_url: str | None, as_json: bool) -> None:
    """Take back the person's last turn with everything that followed, also across compactions.

    What is taken back leaves the conversation, not the store.
    """
    from clew.cli import messages, screen, stores
    from clew.screen import layout
    from clew.screen.amounts import count
    from clew.screen.naming import resolve
    from clew.screen.shown import shown
    from clew.screen.titles import one_line, read

    if compaction and turns:
        raise click.UsageError("--turns takes back what was said, --compaction how it was summed up; say one of them.")
    with stores.opened(store_url) as store:
        id_ = resolve(store, name)
        before = store.get_compression_tip(id_)
        session, taken = (store.undo_compaction(id_), []) if compaction else store.undo(id_, turns=turns or 1)
        sizes = messages.blob_sizes(store, taken)
    if as_json:
        document = {
            "session": session,
            "before": before,
            "taken_back": [messages.document(said, sizes) for said in taken],
        }
        screen.put(screen.as_json(document))
        return
    console = screen.console()
    if not compaction:
        layout.say(console, f"Taken back, {count(len(taken), 'message')}:")
        for said in taken:
            tool = f" {shown(said.tool)}" if said.tool else ""
            calls = "".join(f" → {shown(call.name)}" for call in read(said).calls)
            beginning = one_line(read(said).text, 60)
            layout.say(console, f"  #{said.place:,} {shown(said.role)}{tool}: {beginning}{calls}")
    if session != before:
        layout.say(console, f"The compaction that opened {before} is undone.")
    layout.say(console, f"The conversation goes on in {session}.")

"""`clew compact`: one transcript made smaller."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clew.cli.options import context_length_option, engine_option, json_option

if TYPE_CHECKING:
    from clew.cli.account import Change
    from clew.facts.budget import Budget


@click.command(short_help="Make one transcript smaller.")
@click.argument("source", metavar="FILE")
@click.option(
    "-o", "--output", metavar="OUT", type=click.Path(dir_okay=False, allow_dash=True), help="Where to write the result."
)
@click.option("--focus", metavar="TOPIC", help="What the summary should be about in the first place.")
@context_length_option(200_000)
@engine_option
@click.option("--dry-run", is_flag=True, help="Show what would happen; write nothing.")
@click.option("--force", is_flag=True, help="Allow OUT to be FILE itself.")
@json_option
def compact(
    source: str,
    output: str | None,
    *,
    focus: str | None,
    context_length: int,
    engine: str,
    dry_run: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Compact the transcript in FILE ('-' for standard input) for a window of N tokens.

    Reads OpenAI, Anthropic, Claude Code, Codex and Hermes transcripts, told apart by content. The result is a JSON
    list of OpenAI-format messages, on standard output unless -o names a file. What stays is written as it was, to
    the letter; tables and summaries show no credentials.
    """
    from clew.cli import documents, recordings, screen, tables
    from clew.cli.account import account_of
    from clew.cli.engines import named_engine
    from clew.cli.options import budget_of
    from clew.cli.writing import write_whole
    from clew.core.effects import Consult, Summarise
    from clew.facts.messages import read_messages
    from clew.facts.model import Policy
    from clew.runtime.beside import consulted
    from clew.runtime.drive import drive
    from clew.runtime.scales import Scale
    from clew.screen import layout

    out = None if output in (None, "-") else Path(str(output))
    policy, scale = Policy(), Scale()
    budget = budget_of(context_length, policy)
    chosen = named_engine(engine, policy, scale, window=context_length)
    if out and not dry_run:
        _refuse_bad_output(source, out, force)
    recording = recordings.load(source)
    screen.warn(recordings.problem_lines(recording))

    history = read_messages(recording.transcript.messages)
    done = drive(chosen.make_room(history, budget, focus=focus), {Summarise: lambda _: None, Consult: consulted})
    account = account_of(history, done, scale.message)
    notes = [*done.notes, *_remarks(account.everything, budget)]
    messages = [said.to_dict() for said in done.messages]

    to_stdout = out is None and not dry_run
    if out and not dry_run:
        write_whole(out, screen.as_json(messages))
    if as_json:
        document = documents.compaction_document(recording, done, budget, account, notes)
        document["output"] = str(out) if out and not dry_run else None
        screen.put(screen.as_json({**document, "messages": messages} if to_stdout else document))
        return
    if to_stdout:
        screen.put(screen.as_json(messages))
    console = screen.console(stderr=to_stdout)
    tables.show_compaction(console, recording, budget, account, notes)
    if dry_run:
        tables.show_opening(console, done.summary)
        layout.say(console, "Dry run: nothing was written.")
    elif out:
        layout.say(console, f"Written to {out}.")


def _refuse_bad_output(source: str, out: Path, force: bool) -> None:
    from clew.cli.writing import refuse_unwritable

    refuse_unwritable(out)
    # os.path answers False where Path.exists raises: a name too long, a folder that may not be looked into
    is_input = source != "-" and os.path.exists(source) and os.path.exists(out) and os.path.samefile(source, out)
    if is_input and not force:
        raise click.UsageError(f"{out} is the transcript itself; name another file, or say --force to overwrite it.")


def _remarks(change: Change, budget: Budget) -> list[str]:
    remarks = []
    if change.before.tokens < budget.trigger:
        remarks.append(f"an agent would not have compacted it yet: it does so at {budget.trigger:,} tokens")
    if change.after.tokens >= budget.trigger:
        remarks.append(f"still at or above the {budget.trigger:,} tokens at which the next compaction is due")
    return remarks

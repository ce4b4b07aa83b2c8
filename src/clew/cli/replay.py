"""`clew replay`: recorded conversations run through the real thing."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clew.cli.errors import INTERRUPTED, Failed
from clew.cli.options import context_length_option, engine_option, json_option

if TYPE_CHECKING:
    from clew.cli.outcome import Outcome
    from clew.cli.recordings import Recording


@click.command(short_help="Run recorded conversations through a window.")
@click.argument("names", metavar="[FILE]...", nargs=-1)
@click.option("--sample", is_flag=True, help="Replay the recorded session that ships with clew.")
@context_length_option(64_000)
@engine_option
@click.option(
    "--report", metavar="OUT.html", type=click.Path(dir_okay=False, path_type=Path), help="Also write a page about it."
)
@json_option
def replay(
    names: tuple[str, ...], *, sample: bool, context_length: int, engine: str, report: Path | None, as_json: bool
) -> None:
    """Run the conversations in FILEs, folders or patterns through a window of N tokens.

    The same gate and the same engine as in an agent, with the recorded replies as the model: no key and no network.
    Shows what was sent, what would have been sent without compaction, and each compaction.
    """
    from clew.cli import recordings, screen, tables
    from clew.cli.writing import refuse_unwritable
    from clew.screen import layout

    if not names and not sample:
        raise click.UsageError("Name a transcript, or say --sample to see the one that ships with clew.")
    replayed = _replaying(engine, context_length)
    if report:
        refuse_unwritable(report)
    sources = [*([recordings.SAMPLE] if sample else []), *recordings.named_sources(names)]
    console = screen.console()

    work = _replay_all(sources, replayed, lambda outcome: None if as_json else tables.show_replay(console, outcome))
    if report and work.outcomes:
        _write_report(report, work.outcomes)
        work.report = str(report)
    if as_json:
        screen.put(screen.as_json(_document(engine, work)))
    else:
        if len(work.outcomes) > 1:
            tables.show_all(console, work.outcomes)
        if work.report:
            layout.say(console, f"Report written to {report}.")
        elif sample:
            layout.say(console, "--report OUT.html writes this as a page, with every digest.")
    _end(work, len(sources))


@dataclass(slots=True)
class _Work:
    """What was done so far. Ctrl-C ends it early."""

    outcomes: list[Outcome] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    interrupted: bool = False
    report: str | None = None


def _replaying(engine: str, window: int) -> Callable[[Recording], Outcome]:
    """How one recording is replayed; a wrong engine or window is refused before any file is read."""
    from clew.cli import outcome, screen
    from clew.cli.engines import named_engine
    from clew.cli.options import budget_of
    from clew.facts.model import Policy
    from clew.runtime.scales import Scale

    policy, scale = Policy(), Scale()
    named_engine(engine, policy, scale, window=window)
    budget_of(window, policy)

    def replayed(recording: Recording) -> Outcome:
        with screen.progress(recording.name, len(recording.transcript.messages)) as progress:
            fresh = named_engine(engine, policy, scale, window=window)  # what one recording taught it is its own
            return outcome.run(recording, window=window, engine=fresh, policy=policy, scale=scale, progress=progress)

    return replayed


def _replay_all(
    sources: Sequence[str], replayed: Callable[[Recording], Outcome], show: Callable[[Outcome], None]
) -> _Work:
    """One after the other; a failing one is reported and the others go on."""
    from clew.cli import recordings, screen
    from clew.core.state import ContextExhausted
    from clew.facts.messages import BadMessages
    from clew.facts.model import Unsatisfiable
    from clew.screen.shown import shown

    work = _Work()
    for source in sources:
        try:
            recording = recordings.load(source)
            screen.warn(recordings.problem_lines(recording))
            outcome = replayed(recording)
        except KeyboardInterrupt:
            work.interrupted = True
            break
        except Failed as failed:
            work.failures.append((source, failed.message))
        except (BadMessages, ContextExhausted, Unsatisfiable) as wrong:
            work.failures.append((source, f"{recording.name}: {shown(str(wrong))}"))
        except Exception as wrong:  # an engine's own mistake must not cost the other conversations
            screen.warn([shown(traceback.format_exc())])
            work.failures.append((source, f"{source}: the replay broke off ({type(wrong).__name__}); see above."))
        else:
            work.outcomes.append(outcome)
            show(outcome)
            continue
        screen.warn([f"Error: {work.failures[-1][1]}"])
    return work


def _write_report(path: Path, outcomes: Sequence[Outcome]) -> None:
    from clew.cli.report import page
    from clew.cli.writing import write_whole

    write_whole(path, page(outcomes).encode())


def _document(engine: str, work: _Work) -> dict[str, Any]:
    from clew.cli.documents import replay_document

    return {
        "engine": engine,
        "conversations": [replay_document(outcome) for outcome in work.outcomes],
        "failed": [{"source": source, "error": error} for source, error in work.failures],
        "interrupted": work.interrupted,
        "report": work.report,
    }


def _end(work: _Work, sources: int) -> None:
    """The exit code, with a line that says how far it came."""
    from clew.cli.screen import warn

    if work.interrupted:
        warn([f"clew: interrupted after {len(work.outcomes)} of {sources} conversations."])
        raise click.exceptions.Exit(INTERRUPTED)
    if work.failures and sources > 1:
        warn([f"clew: {len(work.failures)} of {sources} conversations could not be replayed."])
    if work.failures:
        raise click.exceptions.Exit(1)

"""How do the accounts of a compaction and of a replay look in a terminal?"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from clew.cli.account import Account, Change, Stretch, Tally
from clew.cli.chart import draw
from clew.cli.outcome import Outcome
from clew.cli.recordings import Recording
from clew.facts.budget import Budget
from clew.screen.layout import grid, say
from clew.screen.shown import opening, shown

TOOLS_SHOWN = 12
CUTS_SHOWN = 12
NAME_SHOWN = 26  # characters: the numbers beside it need the rest of the 80 columns that a pipe has
CHART_WIDTH = 100  # columns; a wider drawing tells no more


def show_compaction(
    console: Console, recording: Recording, budget: Budget, account: Account, notes: Sequence[str]
) -> None:
    """What was kept, what left, what it weighs, where the cuts are."""
    _heading(console, recording, f"window {budget.window:,}, compacted at {budget.trigger:,} tokens")
    console.print(_changes("kind", [*account.kinds, account.everything]))
    if account.tools:
        console.print(_changes("results of", _heaviest(account.tools)))
    console.print(_cuts(account.cuts))
    for note in notes:
        say(console, f"· {note}")


def show_opening(console: Console, summary: str) -> None:
    """How the summary would begin."""
    if summary:
        say(console, f"\nThe summary would begin:\n\n{opening(summary, lines=24, characters=1_600)}\n")


def show_replay(console: Console, outcome: Outcome) -> None:
    """One replayed conversation: its figures, its window over time, its compactions."""
    done = outcome.replayed
    _heading(console, outcome.recording, f"{done.messages:,} messages, {done.tokens:,} tokens")
    console.print(_figures(outcome))
    console.print()
    for line in draw(done, width=min(console.width, CHART_WIDTH)):
        say(console, line)
    if done.points:
        say(console, Text(_legend(outcome), style="dim"))
    if done.events:
        console.print(_events(outcome))
    if done.told:
        earlier = f" (and {len(done.told) - 1} earlier)" if len(done.told) > 1 else ""
        say(console, f"· told on the way: {shown(done.told[-1])}{earlier}")


def show_all(console: Console, outcomes: Sequence[Outcome]) -> None:
    """Several replays side by side."""
    table = grid("conversation", "tokens", "calls", "compactions", "peak", "saves")
    for outcome in outcomes:
        done = outcome.replayed
        numbers = [done.tokens, len(done.points), len(done.events), done.peak]
        table.add_row(_ending(outcome.recording.name), *(f"{number:,}" for number in numbers), _times(outcome))
    console.print(table)


def _heading(console: Console, recording: Recording, line: str) -> None:
    transcript = recording.transcript
    about = [transcript.format, *([shown(transcript.title)] if transcript.title else [])]
    say(console, Text.assemble((recording.name, "bold"), f" — {recording.origin or ', '.join(about)}"))
    say(console, line)


def _changes(first: str, changes: Sequence[Change]) -> Table:
    table = grid(first, "messages", "→", "tokens", "→ ", "stays")
    for change in changes:
        before, after = change.before, change.after
        share = f"{after.tokens / before.tokens:.0%}" if before.tokens else "new"
        numbers = (before.messages, after.messages, before.tokens, after.tokens)
        style = "bold" if change is changes[-1] and change.name == "all" else ""
        table.add_row(_name(change.name), *(f"{number:,}" for number in numbers), share, style=style)
    return table


def _heaviest(tools: Sequence[Change]) -> list[Change]:
    rest = tools[TOOLS_SHOWN:]
    return [*tools[:TOOLS_SHOWN], *([_together(rest)] if rest else [])]


def _together(changes: Sequence[Change]) -> Change:
    def added(side: str) -> Tally:
        tallies = [getattr(change, side) for change in changes]
        return Tally(sum(tally.messages for tally in tallies), sum(tally.tokens for tally in tallies))

    return Change(f"{len(changes)} other tools", added("before"), added("after"))


def _cuts(cuts: Sequence[Stretch]) -> Table:
    table = grid("messages (from 0)", "tokens", "fate")
    table.columns[-1].justify = "left"
    for cut in cuts[:CUTS_SHOWN]:
        places = f"{cut.first}" if cut.first == cut.last else f"{cut.first}–{cut.last}"
        table.add_row(places, f"{cut.tokens:,}", cut.fate)
    if len(cuts) > CUTS_SHOWN:
        table.add_row(f"… {len(cuts) - CUTS_SHOWN} more", "", "--json lists them all")
    return table


def _figures(outcome: Outcome) -> Table:
    done = outcome.replayed
    without = f"{done.sent_whole:,}"
    if outcome.saved:
        without += f" ({_times(outcome)} as many)"
    if outcome.outgrown is not None:
        without += f"; no longer fits from call {outcome.outgrown + 1} on"
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    table.add_row("window", f"{done.window:,} tokens, compacted at {done.trigger:,}")
    table.add_row("model calls", f"{len(done.points):,}")
    table.add_row("compactions", f"{len(done.events):,}")
    table.add_row("heaviest prompt", f"{done.peak:,} ({done.peak / done.window:.0%} of the window)")
    table.add_row("tokens sent", f"{done.sent:,}")
    table.add_row("without clew", without)
    if done.spilled:
        table.add_row("kept outside", f"{done.spilled:,} of the tool results: too large for the window")
    table.add_row("took", f"{outcome.seconds:.1f} s")
    return table


def _legend(outcome: Outcome) -> str:
    calls = len(outcome.replayed.points)
    return f"prompt tokens of {calls:,} model calls, left to right; ▲ compaction; ┄ trigger, window"


def _events(outcome: Outcome) -> Table:
    table = grid("at message", "before", "→ after", "kept", "summed up", "in part", "digest", right=0)
    for event, digest in zip(outcome.replayed.events, outcome.digests, strict=True):
        numbers = (event.message, event.before, event.after, event.kept, event.dropped, event.shortened, digest)
        table.add_row(*(f"{number:,}" for number in numbers))
    return table


def _times(outcome: Outcome) -> str:
    return f"{outcome.saved:.1f}×" if outcome.saved else "–"


def _name(name: str) -> Text:
    return Text(shown(name), overflow="ellipsis", no_wrap=True)


def _ending(path: str) -> Text:
    """The end of a path tells more than its beginning."""
    return Text(path if len(path) <= NAME_SHOWN else "…" + path[1 - NAME_SHOWN :], no_wrap=True)

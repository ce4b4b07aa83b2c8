"""What does `--json` print?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from clew.cli.account import Account
from clew.cli.outcome import Outcome
from clew.cli.recordings import Recording
from clew.facts.budget import Budget
from clew.facts.session import Compaction
from clew.screen.shown import shown


def compaction_document(
    recording: Recording, done: Compaction, budget: Budget, account: Account, notes: Sequence[str]
) -> dict[str, Any]:
    """One compaction; places count from 0."""
    return {
        **_recording(recording),
        "context_length": budget.window,
        "trigger": budget.trigger,
        "tokens_before": account.everything.before.tokens,
        "tokens_after": account.everything.after.tokens,
        "kept": list(done.kept),
        "dropped": list(done.dropped),
        "shortened": list(done.shortened),
        "kinds": [asdict(change) for change in account.kinds],
        "tools": [asdict(change) for change in account.tools],
        "cuts": [asdict(stretch) for stretch in account.cuts],
        "notes": list(notes),
        "summary": shown(done.summary),
    }


def replay_document(outcome: Outcome) -> dict[str, Any]:
    """One replayed conversation."""
    done = outcome.replayed
    return {
        **_recording(outcome.recording),
        "messages": done.messages,
        "tokens": done.tokens,
        "window": done.window,
        "trigger": done.trigger,
        "calls": len(done.points),
        "peak": done.peak,
        "sent": done.sent,
        "sent_without_compaction": done.sent_whole,
        "spilled": done.spilled,
        "seconds": round(outcome.seconds, 3),
        "compactions": [
            {**asdict(event), "summary": shown(event.summary), "summary_tokens": tokens}
            for event, tokens in zip(done.events, outcome.digests, strict=True)
        ],
        "points": [asdict(point) for point in done.points],
        "kinds": [asdict(change) for change in outcome.kinds],
        "told": [shown(text) for text in done.told],
    }


def _recording(recording: Recording) -> dict[str, Any]:
    transcript = recording.transcript
    return {
        "source": recording.name,
        "origin": recording.origin or None,
        "format": transcript.format,
        "title": shown(transcript.title) if transcript.title else None,
        "problems": [{"line": problem.line, "what": shown(problem.what)} for problem in transcript.problems],
    }

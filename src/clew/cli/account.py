"""What did a compaction do to a conversation, counted by kind of message, by tool, by place?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from clew.core.speaker import Speaker, is_handoff, speaker
from clew.facts.messages import Message
from clew.facts.session import Compaction

KINDS = ("system", "summary", "user", "host", "assistant", "tool results")
"""In the order tables show them. `host` is what the program around the agent said in the user's name."""

Weigh = Callable[[Message], int]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many messages, and what they weigh in tokens."""

    messages: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """One row of an account: a kind or a tool, before and after."""

    name: str
    before: Tally
    after: Tally


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring messages that met the same fate; places count from 0."""

    first: int
    last: int
    fate: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Account:
    """The whole of it."""

    kinds: list[Change]
    tools: list[Change]
    everything: Change
    """Counted message by message: an engine may have been content with a sample."""
    cuts: list[Stretch]


def account_of(history: Sequence[Message], done: Compaction, weigh: Weigh) -> Account:
    """What became of a history."""
    sides = history, done.messages
    return Account(
        kinds=by_kind(*sides, weigh),
        tools=by_tool(*sides, weigh),
        everything=Change("all", *(Tally(len(side), sum(map(weigh, side))) for side in sides)),
        cuts=stretches(history, done, weigh),
    )


def kind(message: Message) -> str:
    """What a message is to someone reading a table."""
    if message.is_system:
        return "system"
    if is_handoff(message):
        return "summary"
    names = {Speaker.PERSON: "user", Speaker.MODEL: "assistant", Speaker.TOOL: "tool results", Speaker.HOST: "host"}
    return names[speaker(message)]


def tool(message: Message) -> str | None:
    """The tool whose result a message is; None: it is no result."""
    return (message.name or "(unnamed)") if message.is_result else None


def by_kind(before: Sequence[Message], after: Sequence[Message], weigh: Weigh) -> list[Change]:
    """The kinds that occur, in the order of KINDS."""
    changes = {change.name: change for change in _changes(before, after, kind, weigh)}
    return [changes[name] for name in KINDS if name in changes]


def by_tool(before: Sequence[Message], after: Sequence[Message], weigh: Weigh) -> list[Change]:
    """Results by the tool they came from, the heaviest first."""
    changes = _changes(before, after, tool, weigh)
    return sorted(changes, key=lambda change: (-change.before.tokens, change.name))


def stretches(history: Sequence[Message], done: Compaction, weigh: Weigh) -> list[Stretch]:
    """Where the cuts are: the history from end to end, in runs of the same fate."""
    fates = dict.fromkeys(done.dropped, "summed up")
    fates |= dict.fromkeys(done.kept, "kept")
    fates |= dict.fromkeys(done.shortened, "kept in part")
    runs = groupby(range(len(history)), key=lambda place: fates.get(place, "replaced"))  # rows clew wrote earlier
    return [_stretch(fate, list(places), history, weigh) for fate, places in runs]


def _stretch(fate: str, places: list[int], history: Sequence[Message], weigh: Weigh) -> Stretch:
    return Stretch(places[0], places[-1], fate, sum(weigh(history[place]) for place in places))


def _changes(
    before: Sequence[Message], after: Sequence[Message], name: Callable[[Message], str | None], weigh: Weigh
) -> list[Change]:
    was, became = _tallies(before, name, weigh), _tallies(after, name, weigh)
    return [Change(key, was.get(key, Tally()), became.get(key, Tally())) for key in {**was, **became}]


def _tallies(messages: Iterable[Message], name: Callable[[Message], str | None], weigh: Weigh) -> dict[str, Tally]:
    found: dict[str, Tally] = {}
    for message in messages:
        if (key := name(message)) is not None:
            known = found.get(key, Tally())
            found[key] = Tally(known.messages + 1, known.tokens + weigh(message))
    return found

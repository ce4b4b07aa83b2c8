"""How does the conversation stand: model, window, cost, cache, in one line that fits?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rich.cells import cell_len

from clew.agent.accounts import spent_so_far
from clew.agent.cached import Warmth, warmth
from clew.agent.filling import filling
from clew.facts.model import Unsatisfiable
from clew.runtime.conversation import Conversation
from clew.screen.shown import shown


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known between two looks at the store."""

    model: str
    window: int
    tokens: int
    observed: bool
    full: int
    """A prompt this heavy waits for room to be made."""
    cost: str = ""
    cache: Warmth | None = None

    def measured(self, tokens: int) -> Standing:
        """The same, now that the provider has told its own count."""
        return replace(self, tokens=tokens, observed=True)


class Word(NamedTuple):
    """A piece of the line. Where there is no room, those of the highest rank go first."""

    text: str
    rank: int


def standing(conversation: Conversation) -> Standing:
    """As the store has it now."""
    model = conversation.setup.model
    try:
        found = filling(conversation.session, conversation.setup, conversation.factor)
    except Unsatisfiable:  # the next turn says it; a line below need not
        return Standing(shown(model.name), model.window.size, 0, False, model.window.size)
    store, session = conversation.works.store, conversation.session.id
    return Standing(
        shown(model.name),
        found.window,
        found.tokens,
        found.observed,
        found.budget.hard,
        spent_so_far(store, session),
        warmth(conversation),
    )


def words(now: Standing, clock: float) -> list[Word]:
    """What to say of it; `clock` is the time, for the cache."""
    known = "observed" if now.observed else "estimated"
    share = f"{now.tokens / now.window:.0%}"
    told = [
        Word(now.model, 4),
        Word(f"{now.tokens:,} of {now.window:,}", 5),
        Word(f"window {share} {known}", 1),
    ]
    told += [Word(now.cost, 2)] if now.cost else []
    return [*told, *([Word(f"cache {now.cache.told(clock)}", 3)] if now.cache else [])]


def fitted(said: Sequence[Word], width: int, between: str = " · ") -> str:
    """As many of them as there is room for, in their order; the most important one is cut rather than left out."""
    kept = list(said)
    while len(kept) > 1 and cell_len(between.join(word.text for word in kept)) > width:
        kept.remove(max(kept, key=lambda word: word.rank))
    return clipped(between.join(word.text for word in kept), width)


def clipped(text: str, width: int) -> str:
    """A line of at most so many columns."""
    if cell_len(text) <= width:
        return text
    kept = text
    while kept and cell_len(kept) > width - 1:
        kept = kept[: -max(1, (cell_len(kept) - width) // 2)]
    return f"{kept}…" if width > 0 else ""

"""How the lossless engine shares out a window: the tail, the blocks of summaries, and when these are too much."""

from __future__ import annotations

from dataclasses import dataclass

from clew.facts.budget import Budget

TAIL = 0.13
"""Of the room, for the newest messages word for word. Less than where a summary is all that is left of the rest."""
BLOCKS, RELIEF = 0.48, 0.33
"""Of the room, for summaries: beyond the first old ones are told in fewer words, down to the second. Between the two a
compaction leaves three fifths of the prompt and more as it was, so that a cache still has it."""
ENOUGH = 0.65
"""Of the room. If stubs alone bring a prompt below this, no summary is made."""
LEAF = 0.12
"""Of the window: messages of one leaf. Small enough to be read again at once, large enough to be worth a text."""
TEXT = 0.06
"""Of its messages, for the text of a leaf."""
LEAST_TEXT, LEAST_TEXT_SMALL = 500, 200
CONDENSED = 0.25
"""Of the texts it stands for, for the text of a node over nodes."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What each part of the conversation may weigh, in tokens."""

    room: int
    """For everything that can be made shorter."""
    tail: int
    blocks: int
    relief: int
    leaf: int
    least: int
    """The text of the smallest leaf."""

    held: int
    """What stays in any case: the newest request, what is pinned."""
    request: int
    """The newest request of a person stays whole up to this."""

    @property
    def enough(self) -> int:
        return int(self.room * ENOUGH) + self.held

    @property
    def last(self) -> int:
        """The last exchange stays whole up to this: the model has not seen its results yet."""
        return self.room * 3 // 10

    @property
    def longest_tail(self) -> int:
        """A few messages at the end stay even when they are heavier than their share."""
        return self.tail * 3 // 2

    def text_for(self, content: int) -> int:
        return max(int(content * TEXT), self.least)

    def text_over(self, texts: int) -> int:
        return max(int(texts * CONDENSED), self.least)


def share(budget: Budget, held: int = 0) -> Shares:
    """The shares of what is left of the room when `held` tokens stay in any case."""
    held = min(held, budget.room // 2)
    room = budget.room - held
    blocks = int(room * BLOCKS)
    least = min(LEAST_TEXT, max(LEAST_TEXT_SMALL, blocks // 6))
    return Shares(
        room=room,
        tail=int(room * TAIL),
        blocks=blocks,
        relief=int(room * RELIEF),
        leaf=max(int(budget.window * LEAF), 4 * least),
        least=least,
        held=held,
        request=budget.room // 2,
    )

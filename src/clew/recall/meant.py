"""Is a question also asked by meaning? Where the meanings are at hand, and it is a question, not a name or a quote."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from clew.recall.meaning import MISSING
from clew.recall.nearness import Nearness
from clew.recall.query import Query, Word
from clew.store.trouble import StoreBusy, StoreReadOnly

Mode = Literal["words", "meaning", "hybrid"]
MODES: tuple[Mode, ...] = ("words", "meaning", "hybrid")

AT_ONCE = 200
"""Messages that a search gives their meanings itself. More would keep the person waiting."""
FOREIGN = "the word vectors know too little of this question's language: it was looked for by its words"
OTHER_MODEL = (
    "the meanings kept here are of other word vectors: build() makes them anew; it was looked for by its words"
)
NONE_YET = "no message has its meaning kept yet: build() does that; it was looked for by its words"


class Meant(NamedTuple):
    """A question that is asked by meaning."""

    nearness: Nearness
    question: Any
    alone: bool
    """Whether its words are left aside."""


def meant_by(text: str, query: Query, mode: Mode | None, nearness: Nearness | None) -> tuple[Meant | None, list[str]]:
    """The question as it is asked by meaning, or None and, where that was asked for, why not."""
    if mode == "words" or (mode is None and not is_question(query)):
        return None, []
    obstacle = _obstacle(text, mode, nearness)
    if nearness is None or obstacle:
        return None, [obstacle] if mode else []
    return Meant(nearness, nearness.encoder.vector(text), mode == "meaning"), []


def is_question(query: Query) -> bool:
    """Whether it has several plain words. One word, a path, a quote or a beginning is looked for as it stands."""
    return len(query.units) > 1 and sum(isinstance(unit, Word) for unit in query.units) > 1


def keep_up(nearness: Nearness) -> list[str]:
    """Give the newest messages their meanings, as far as one search may wait for; what is lacking."""
    lacking = []
    try:
        nearness.build(AT_ONCE)
    except (StoreBusy, StoreReadOnly) as error:
        lacking.append(str(error))
    if behind := nearness.behind():
        lacking.append(f"{behind:,} messages have no meaning kept yet and were looked for by their words alone")
    return lacking


def _obstacle(text: str, mode: Mode | None, nearness: Nearness | None) -> str:
    if nearness is None:
        return MISSING
    if not nearness.encoder.reads(text):
        return FOREIGN
    now = nearness.progress()
    if now.model not in ("", nearness.encoder.name):
        return OTHER_MODEL
    return NONE_YET if not now.messages and mode is None else ""

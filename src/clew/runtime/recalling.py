"""What does a person speak of that has left the window? Found again, for one request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from clew.core.redact import redact
from clew.facts.messages import read_message
from clew.facts.session import Session
from clew.recall.search import Hit
from clew.runtime.recall import search
from clew.runtime.scales import Scale
from clew.store.store import Store

Mode: TypeAlias = Literal["off", "suggest", "on"]

LOOKED_AT = 12
"""Hits that are looked at."""
SUGGESTED = 3
"""Of which so many are named."""
AROUND = 500
"""Characters of a message to either side of the place that was found."""
LONG = 4
"""Letters from which a word counts: the shorter ones hold a language together."""
_TELLING = re.compile(r"[\d_/.]|[^\x00-\x7f]{2}")
"""A word that hardly stands anywhere by chance: a number, an identifier, a path, two characters of Chinese."""

HEADING = "Earlier in this conversation, no longer in your window; background, not a request:"
SUGGESTION = "Earlier messages that may matter have left your window; search_history finds them again:"


@dataclass(frozen=True, slots=True)
class Recall:
    """Brings back what is spoken of, or says where it is."""

    mode: Mode = "off"
    budget: int = 1_200
    """Tokens it may take in one request."""

    def find(self, store: Store, session: Session, words: str) -> str:
        """What to add to the request; empty when nothing has left, or nothing of it is meant."""
        if self.mode == "off" or not session.compactions or not words.strip():
            return ""
        seen = {stored.seq for stored in store.messages(session.id)}
        found = search(store, words, conversation=session.id, limit=LOOKED_AT)
        meant = [hit for hit in found.hits if hit.seq not in seen and is_meant(hit)]
        if not meant:
            return ""
        if self.mode == "suggest":
            return "\n".join([SUGGESTION, *(f"- {_told(hit)} {hit.snippet}" for hit in meant[:SUGGESTED])])
        return self._within_budget(store, meant)

    def _within_budget(self, store: Store, hits: list[Hit]) -> str:
        scale, lines = Scale(), [HEADING]
        weight = scale.text(HEADING)
        for hit in hits:
            passage = f"{_told(hit)} {_passage(store, hit)}"
            weight += scale.text(passage)
            if weight > self.budget:
                break
            lines.append(passage)
        return "\n\n".join(lines) if len(lines) > 1 else ""


def is_meant(hit: Hit) -> bool:
    """Whether enough of what was said stands in it: two of the words, or one that says much by itself."""
    words = {hit.snippet[start:end].lower() for start, end in hit.marks}
    return sum(len(word) >= LONG for word in words) >= 2 or any(_TELLING.search(word) for word in words)


def _told(hit: Hit) -> str:
    return f"[message {hit.place}, {hit.tool or hit.role}]"


def _passage(store: Store, hit: Hit) -> str:
    """More of the message than its snippet shows."""
    stored = store.fetch([hit.seq]).get(hit.seq)
    text = redact(read_message(stored.message).text) if stored else ""
    inner = hit.snippet.strip("… ")
    place = text.find(inner[:60])
    if place < 0:
        return hit.snippet
    start, end = max(place - AROUND, 0), place + len(inner) + AROUND
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"

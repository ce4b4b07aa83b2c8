"""How is what a search found told to a program?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew.cli import messages
from clew.recall.search import Found
from clew.screen.hits import Chosen, Seen, left_out
from clew.screen.moments import exact
from clew.screen.shown import shown


def document(question: str, found: Found, chosen: Chosen, hits: Sequence[Seen]) -> dict[str, Any]:
    """One JSON document."""
    return {
        "query": shown(question),
        "total": found.total,
        "exact": found.exact,
        "complete": found.complete,
        "mode": found.mode,
        "searched": found.searched,
        "filters": [*chosen.told(), *left_out(found)],
        "notes": [shown(note) for note in found.notes],
        "hits": [_hit_document(one) for one in hits],
    }


def _hit_document(one: Seen) -> dict[str, Any]:
    hit = one.hit
    snippet = shown(hit.snippet)
    return {
        "conversation": hit.conversation,
        "title": one.title,
        "seq": hit.seq,
        "place": hit.place,
        "at": exact(hit.at),
        "role": shown(hit.role),
        "tool": shown(hit.tool) or None,
        "derived": hit.derived,
        "standing": hit.standing,
        "score": round(hit.score, 6),
        "snippet": snippet,
        "marks": [list(mark) for mark in hit.marks] if snippet == hit.snippet else [],
        "line": hit.line,
        "blob": hit.blob or None,
        "before": [messages.document(said, {}) for said in one.before],
        "after": [messages.document(said, {}) for said in one.after],
    }

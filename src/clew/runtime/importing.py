"""Transcripts taken into the store: each conversation once, however often its file is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clew.facts.messages import read_messages
from clew.store.store import Store
from clew.wire.transcripts import Transcript

AT_ONCE = 200
"""Messages in one transaction: an import can be interrupted and taken up again."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What one transcript brought."""

    conversation: str
    session: str
    messages: int
    added: int
    """0: the store had all of it."""


def import_transcript(
    store: Store,
    transcript: Transcript,
    *,
    source: str = "",
    progress: Callable[[int], None] = lambda done: None,
) -> Imported:
    """Store what is new in a transcript. A longer version of a known one adds its end; the same one adds nothing."""
    messages = list(transcript.messages)
    known = _known(store, messages)
    if known is None:
        system = next((said.text for said in read_messages(messages[:1]) if said.is_system), "")
        session, start = (
            store.open_session(
                title=transcript.title or "", model=transcript.model or "", source=source, system=system
            ),
            0,
        )
    else:
        session, start = known
    for at in range(start, len(messages), AT_ONCE):
        store.append(session, messages[at : at + AT_ONCE])
        progress(min(at + AT_ONCE, len(messages)))
    about = store.conversation(session)
    return Imported(about.id, about.tip, len(messages), len(messages) - start)


def _known(store: Store, messages: Sequence[Mapping[str, Any]]) -> tuple[str, int] | None:
    """The conversation that has this beginning and nothing else behind it, and how much of the list it has."""
    found = store.recognise(messages)
    if found is None:
        return None
    session, shared = found
    goes_on_otherwise = shared < len(messages) and next(store.history(session, start=shared, limit=1), None)
    return None if goes_on_otherwise else (session, shared)

"""In which pieces is a message's meaning kept? About a paragraph each: the mean of a whole file means nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clew.recall.texts import Section, blobs_of, sections_of
from clew.store.values import Stored

LENGTH = 1_000
"""Characters of a passage."""
MOST = 24
"""Passages of one message. Of what is longer the beginning counts; its words are all found."""
ROOM = 200
"""Characters before the end of a passage in which a blank is looked for."""


def passages_of(stored: Stored, veil: Callable[[str], str], read_blob: Callable[[str], bytes]) -> list[Section]:
    """The veiled passages of a message, those of its blobs last."""
    found: list[Section] = []
    for section in _texts(stored, read_blob):
        # Twice as much is veiled as is used: half a credential at the end may not look like one.
        text = veil(section.text[: 2 * MOST * LENGTH]).strip()
        while text and len(found) < MOST:
            end = _end(text)
            found.append(Section(text[:end], section.blob))
            text = text[end:].lstrip()
        if len(found) == MOST:
            break
    return found


def _texts(stored: Stored, read_blob: Callable[[str], bytes]) -> Iterator[Section]:
    """What it says and calls in one: who calls what with which arguments is one thought."""
    yield Section("\n".join(section.text for section in sections_of(stored)))
    if stored.blobs:
        yield from blobs_of(stored, read_blob)


def _end(text: str) -> int:
    if len(text) <= LENGTH:
        return len(text)
    blank = max(text.rfind(" ", LENGTH - ROOM, LENGTH), text.rfind("\n", LENGTH - ROOM, LENGTH))
    return blank if blank > 0 else LENGTH

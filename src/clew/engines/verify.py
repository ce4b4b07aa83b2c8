"""A model's summary against its sources: nothing invented, nothing vital missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from clew.engines.digest import VITAL
from clew.engines.handoff import SECTIONS, joined, sections_of

_QUOTED = re.compile(r"[\"“「『]([^\"”」』\n]{12,})[\"”」』]")
_ABOUT_USER = re.compile(r"\b(?:user|they)\b|用户|ユーザ|пользовател", re.IGNORECASE)
_TRACEABLE = re.compile(r"https?://[^\s\"'<>`)\]}\\,|]+|(?:[\w.@~+-]+/){2,}[\w.@+-]+|\b[0-9a-f]{12,64}\b")
"""What a summary cannot have but from its sources: addresses, deep paths, long hashes."""


def verify(written: str, *, sources: Callable[[], Iterable[str]], essential: Mapping[str, str]) -> str:
    """The summary with what has no source taken out and what is essential put in.

    Lines of vital sections that the model lost are added to its own; other sections stand in where the model left one
    out, as it does when its answer was cut off. The active task is always ours: it is the user's own words.
    """
    sections = sections_of(written) or {"Critical Context": written.strip()}
    for name in SECTIONS:
        sound = [line for line in sections.get(name, "").splitlines() if _has_source(line, sources)]
        text, ours = "\n".join(sound).strip(), essential.get(name, "")
        if text and name in VITAL:
            lost = (line for line in ours.splitlines() if not _states(text, line))
            sections[name] = "\n".join((text, *lost))
        else:
            sections[name] = text or ours
    sections["Active Task"] = essential["Active Task"]
    return joined(sections)


def _has_source(line: str, sources: Callable[[], Iterable[str]]) -> bool:
    stated = [string.rstrip(".:;") for string in _TRACEABLE.findall(line)]
    if _ABOUT_USER.search(line):
        stated += [quote.strip() for quote in _QUOTED.findall(line)]
    return all(any(string in source for source in sources()) for string in stated)


def _states(text: str, line: str) -> bool:
    """Whether a section already says what a vital line says; for a file its path is enough."""
    said = line.removeprefix("- ")
    _, of_file, path = said.partition(": ")
    return said in text or bool(of_file and path in text)

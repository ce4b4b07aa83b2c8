"""A model's summary against its sources: nothing invented, nothing vital missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from clew.core.redact import redact
from clew.engines.handoff import SECTIONS, joined, sections_of

_QUOTED = re.compile(r"[\"“「『]([^\"”」』\n]{12,})[\"”」』]")
_ABOUT_USER = re.compile(r"\b(?:user|they)\b|用户|ユーザ|пользовател", re.IGNORECASE)
_TRACEABLE = re.compile(r"https?://[^\s\"'<>`)\]}\\,|]+|(?:[\w.@~+-]+/){2,}[\w.@+-]+|\b[0-9a-f]{12,64}\b")
"""What a summary cannot have but from its sources: addresses, deep paths, long hashes."""


@dataclass(frozen=True, slots=True)
class Verified:
    summary: str
    left_out: int
    """Lines that stated something with no source."""
    put_back: int
    """Vital lines that the model had lost."""


def verify(
    written: str, *, sources: str, fallback: Mapping[str, str], vital: Mapping[str, list[str]], task: str
) -> Verified:
    """The summary with what has no source taken out and what is vital put in.

    `fallback` holds sections written by rules: they fill those that the model left out, as it does when its answer was
    cut off. `task` is the active task as it has to stand.
    """
    sections = sections_of(written)
    if not sections:
        sections = {"Critical Context": written.strip()}
    left_out = put_back = 0
    for name in SECTIONS:
        lines = redact(sections.get(name, "")).splitlines()
        sound = [line for line in lines if _has_source(line, sources)]
        left_out += len(lines) - len(sound)
        text = "\n".join(sound).strip()
        missing = [line for line in vital.get(name, ()) if not _states(text, line)]
        put_back += len(missing) if text else 0
        sections[name] = "\n".join([text, *missing]).strip() or fallback.get(name, "")
    sections["Active Task"] = task
    return Verified(joined(sections), left_out, put_back)


def _has_source(line: str, sources: str) -> bool:
    if _ABOUT_USER.search(line) and any(quote.strip() not in sources for quote in _QUOTED.findall(line)):
        return False
    return all(stated.rstrip(".:;") in sources for stated in _TRACEABLE.findall(line))


def _states(text: str, line: str) -> bool:
    """Whether a section already says what a vital line says; for a file its path is enough."""
    said = line.removeprefix("- ")
    return said in text or said.partition(": ")[2] in text if ": " in said else said in text

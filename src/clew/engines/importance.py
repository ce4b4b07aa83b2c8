"""Which exact strings are worth carrying: paths, names, values, addresses, by how likely they are needed again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import log1p

from clew.core.speaker import Speaker, speaker
from clew.engines.actions import leaves, read_arguments
from clew.facts.messages import Message


class Kind(StrEnum):
    PATH = "paths"
    NAME = "names"
    ERROR = "errors"
    URL = "addresses"
    HASH = "hashes"
    VALUE = "values"


@dataclass(slots=True)
class Seen:
    """Where a string stood. Times are numbers of messages."""

    kind: Kind
    last: int = 0
    model: int = 0
    """Messages of the model's own that used it, in words or in a call."""
    person: bool = False
    """A person said it."""
    on_topic: bool = False
    """It stood in a message about what the user wants kept in detail."""


# One pass finds candidates; what each is gets decided once and remembered.
_CHUNK = re.compile(r"[\w@+./:$%~?&=#-]+")
_WINDOWS_PATH = re.compile(r"[A-Za-z]:\\{1,2}[\w.\\@+-]+")
_NUMBER_SET = re.compile(r": [\"']?(\d[\w.]*)")
_KEY_BEFORE = re.compile(r"([A-Za-z_][\w.-]{1,40})[\"']?$")
_BETWEEN = re.compile(r"[=?&#]+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_DASHED = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_HEX = re.compile(r"(?=.*[a-f])(?=.*[0-9])[0-9a-f]{7,64}")
_FILE = re.compile(r"[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,7}")
_VERSION = re.compile(r"v\d+(?:\.\d+){0,3}(?:-[\w.]+)?|\d+(?:\.\d+){1,3}(?:-[\w.]+)?")
_ERROR = re.compile(r"[A-Z]\w*(?:Error|Exception|Warning|Fault)")
_ENDINGS = (
    "c cc cfg conf cpp cs css csv env go gz h hpp html ini ipynb java jpg js json jsonl jsx kt lock log lua md mdx mjs "
    "mod mts php pl png proto py pyi r rb rs rst scala sh sql sum svg swift toml ts tsx txt vue xml yaml yml zip"
)
FILE_ENDINGS = frozenset(_ENDINGS.split())
LONGEST = 160
"""Characters. Longer than this it is a blob, not something anyone types again."""


def exact_strings(
    messages: Sequence[Message], carried: Sequence[tuple[str, Kind]] = (), focus: str | None = None
) -> dict[str, Seen]:
    """Every string worth a thought, with where it stood. `carried` are those of an earlier summary, best first."""
    words = focus_words(focus)
    found = {string: Seen(kind, last=-rank, model=1) for rank, (string, kind) in enumerate(carried)}
    for place, said in enumerate(messages):
        who = speaker(said)
        by_model, by_person = who is Speaker.MODEL, who is Speaker.PERSON
        for text in _texts(said):
            on_topic = bool(words) and any(word in text.lower() for word in words)
            for string, kind in _strings_in(text):
                seen = found.get(string)
                if seen is None:
                    seen = found[string] = Seen(kind)
                seen.last = place
                seen.model += by_model
                seen.person |= by_person
                seen.on_topic |= on_topic
    return found


# Weights of a logistic regression on recorded agent sessions (of half of the repositories; `bench/retention.py` reports
# the other half): the odds that the model is the first to use a string again after it left the window.
_OF_KIND = {Kind.PATH: 0.0, Kind.NAME: 0.25, Kind.ERROR: 0.0, Kind.URL: -0.2, Kind.HASH: -1.3, Kind.VALUE: -1.0}
_USED, _USED_MORE, _SAID_BY_PERSON, _LONG_AGO = 1.5, 0.9, 1.0, -0.3
_ON_TOPIC = 2.0


def worth(seen: Seen, now: int) -> float:
    """How likely a string is needed again, as log odds but for a constant."""
    return (
        _OF_KIND[seen.kind]
        + _USED * (seen.model > 0)
        + _USED_MORE * log1p(seen.model)
        + _SAID_BY_PERSON * seen.person
        + _LONG_AGO * log1p(now - seen.last)
        + _ON_TOPIC * seen.on_topic
    )


def focus_words(focus: str | None) -> list[str]:
    """The words of a focus by which its messages are known."""
    return [word.lower() for word in (focus or "").split() if len(word) > 1]


def _texts(said: Message) -> Iterator[str]:
    yield said.text
    for call in said.calls:
        yield from leaves(read_arguments(call))


def _strings_in(text: str) -> list[tuple[str, Kind]]:
    # dict.fromkeys and not a set: the order of a set differs from run to run
    chunks = (chunk for chunk in dict.fromkeys(_CHUNK.findall(text)) if len(chunk) <= LONGEST * 2)
    found = [known for chunk in chunks for known in _kinds(chunk)]
    if ":\\" in text:
        found += [(path, Kind.PATH) for path in dict.fromkeys(_WINDOWS_PATH.findall(text))]
    for number in _NUMBER_SET.finditer(text):
        key = _KEY_BEFORE.search(text, max(0, number.start() - 44), number.start())
        if key and len(number[1]) > 1:
            found.append((f"{key[1]}={number[1].rstrip('.')}", Kind.VALUE))  # a bare number tells no one what it is
    return found


@lru_cache(maxsize=100_000)
def _kinds(chunk: str) -> tuple[tuple[str, Kind], ...]:
    """The exact strings in one unbroken run of characters."""
    if "://" in chunk:
        address = chunk[max(chunk.find("http"), 0) :].rstrip(".:;?&=#-")
        return ((address, Kind.URL),) if address.startswith("http") and len(address) <= LONGEST else ()
    if "=" in chunk or "&" in chunk or "?" in chunk or "#" in chunk:
        parts = [part for part in _BETWEEN.split(chunk) if part]
        known = tuple(known for part in parts for known in _kinds(part))
        if len(parts) == 2 and "=" in chunk and parts[1][0].isdigit() and parts[0][-1].isalpha():
            return (*known, (f"{parts[0]}={parts[1]}", Kind.VALUE))
        return known
    chunk = chunk.rstrip(":%-.+").lstrip(":%-+")
    bare = chunk.partition(":")[0]
    if not 3 <= len(bare) <= LONGEST:
        return ()
    if "/" in bare:
        return ((bare, Kind.PATH),) if _is_path(bare) else ()
    if _HEX.fullmatch(bare):
        return ((bare, Kind.HASH),)
    if _VERSION.fullmatch(bare):
        return ((bare, Kind.VALUE),) if len(bare) > 3 else ()
    if _FILE.fullmatch(bare) and bare.rpartition(".")[2].lower() in FILE_ENDINGS:
        return ((bare, Kind.PATH),)
    if "-" in bare and _DASHED.fullmatch(bare):
        return ((bare, Kind.NAME),) if len(bare) > 6 else ()
    names = (name for name in _NAME.findall(chunk) if len(name) > 3 and ("_" in name[1:-1] or _CAMEL.search(name)))
    return tuple({name: (name, Kind.ERROR if _ERROR.fullmatch(name) else Kind.NAME) for name in names}.values())


def _is_path(bare: str) -> bool:
    """A path, not two words with a slash between them."""
    if bare.startswith("//") or not any(map(str.isalpha, bare)):
        return False
    return bare[0] in "/~.@" or bare.count("/") > 1 or "." in bare

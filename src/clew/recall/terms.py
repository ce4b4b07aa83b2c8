"""Under which keys does a message stand in the index? Its words, its neighbours, and what it can be filtered by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from clew.recall.texts import blobs_of, sections_of, tools_of
from clew.recall.words import words_of
from clew.store.values import Stored

# A key that begins with a letter or digit is a word of the conversation; these first bytes can be none.
_DERIVED_WORD = b"\x01"
_ROLE, _TOOL, _CONVERSATION = b"\x06", b"\x07", b"\x08"
ALL, DERIVED = b"\x05a", b"\x05d"

LONGEST_NAME = 512
COARSE, MIDDLE = 4_096, 32_768
"""Message numbers up to which pairs share 1,024 and 4,096 rows; from there on 16,384.

More rows tell more phrases apart, but each costs some fifteen bytes: a small store must not be all overhead, and a
large one must not check a hundred messages by hand for each that has the phrase.
"""


def keys_of(stored: Stored, veil: Callable[[str], str], read_blob: Callable[[str], bytes]) -> tuple[list[bytes], int]:
    """Every key of a message, and how long its text is. No text gets here that was not veiled before."""
    terms: set[bytes] = set()
    pairs: set[int] = set()
    characters = 0
    sections: Iterable[tuple[str, str]] = sections_of(stored)
    if stored.blobs:
        sections = chain(sections, blobs_of(stored, read_blob))
    for text, _ in sections:
        found = words_of(veil(text))
        terms = terms | found.terms if terms else found.terms
        pairs = pairs | found.pairs if pairs else found.pairs
        characters += len(text)
    others = pair_keys_at(stored.seq, pairs)
    others += [ALL, role_key(stored.role), conversation_key(stored.conversation), *map(tool_key, tools_of(stored))]
    if stored.derived:
        others.append(DERIVED)
        terms = {_DERIVED_WORD + term for term in terms}
    return [*terms, *others], characters


def pair_keys_at(seq: int, pairs: Iterable[int]) -> list[bytes]:
    """The keys of a message's pairs: coarse at the beginning of a store, fine later on."""
    if seq < COARSE:
        return [_PAIRS[pair & 0x3FF] for pair in {pair & 0x3FF for pair in pairs}]
    if seq < MIDDLE:
        return [_PAIRS[0x1000 | pair] for pair in {pair & 0xFFF for pair in pairs}]
    return [_PAIRS[0x4000 | pair] for pair in {pair & 0x3FFF for pair in pairs}]


def pair_keys(pair: int) -> tuple[bytes, ...]:
    """Where a pair may stand: no message is under more than one of them."""
    return _PAIRS[pair & 0x3FF], _PAIRS[0x1000 | pair & 0xFFF], _PAIRS[0x4000 | pair & 0x3FFF]


def word_keys(text: str, derived: bool) -> tuple[bytes, ...]:
    """Where a word may stand: derived text has its own rows, so that leaving it out costs nothing."""
    word = text.encode()
    return (word, _DERIVED_WORD + word) if derived else (word,)


def role_key(role: str) -> bytes:
    return _ROLE + _plain(role)


def tool_key(tool: str) -> bytes:
    return _TOOL + _plain(tool)


def conversation_key(conversation: str) -> bytes:
    return _CONVERSATION + _plain(conversation)


def _plain(name: str) -> bytes:
    # Keys of a block stand between zeros, and PostgreSQL indexes no more than 2,700 bytes.
    return name.encode(errors="replace").replace(b"\0", b"")[:LONGEST_NAME]


# No byte of a key is 0 or 255: see `_plain`, and `begin_with` in shelves.
_PAIRS = [bytes((2, number // 200 + 1, number % 200 + 1)) for number in range(0x8000)]

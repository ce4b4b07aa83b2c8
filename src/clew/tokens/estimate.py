"""How many tokens is this text, roughly, without a tokenizer?

Every character is put in one of a few kinds, and every pair of neighbouring kinds has a fitted weight: a letter after a
space starts a word (most of a token), a letter after a letter continues one (little), a digit after a letter breaks one
(more than a token). Weights are never negative, so more text never weighs less. `weights` says how far off this is.
"""

import zlib

from clew.tokens.weights import ASCII_KIND, ASCII_WEIGHT, CHARACTER_WEIGHT, KIND_OF_CODE, SCRIPT_WEIGHT, codes

UNIT = 64  # a weight of 64 is one token
BLOCK = 8192  # characters weighed at once: few enough to stay in the processor's cache
CONTINUATION = bytes(range(0x80, 0xC0))  # left out of UTF-8, one byte remains of each character
BLANK = b" " * 0x80 + bytes(range(0x80, 0x100))  # a translation table that leaves only what is not ASCII


def estimate(text: str) -> int:
    """About as many tokens as o200k_base would make of `text`."""
    units = _ascii(text) if text.isascii() else _ascii(text) + _scripts(text)
    return -(-units // UNIT)


def _ascii(text: str) -> int:
    """The weight of the ASCII in a text; another script in between weighs nothing here."""
    data = b"\n" + text.encode("utf-8", "replace")
    return _pairs(data.translate(ASCII_KIND, CONTINUATION), ASCII_WEIGHT)


def _scripts(text: str) -> int:
    """The weight of all that is not ASCII."""
    runs = text.encode("utf-8", "replace").translate(BLANK).split()
    coded = b"\0".join([b"", *runs, b""]).decode().translate(codes()).encode("latin-1")
    return _sum(coded.translate(CHARACTER_WEIGHT)) + _pairs(coded.translate(KIND_OF_CODE), SCRIPT_WEIGHT)


def _pairs(kinds: bytes, weights: bytes) -> int:
    """The weight of every kind but the first, by what stands before it."""
    # A block and the next share one character, so that no pair is lost.
    blocks = (kinds[start : start + BLOCK + 1] for start in range(0, len(kinds) - 1, BLOCK))
    return sum(_sum(_beside(block).translate(weights)) for block in blocks)


def _beside(kinds: bytes) -> bytes:
    """For each kind but the first one byte: its predecessor in the upper four bits, itself in the lower four."""
    # One shift of the whole row, seen as a single number, moves every kind beside its successor.
    row = int.from_bytes(kinds, "big")
    return (row | row >> 4).to_bytes(len(kinds), "big")[1:]


def _sum(data: bytes) -> int:
    """The sum of all bytes, ten times as fast as sum()."""
    # The low half of Adler-32 started at 0 is the plain sum modulo 65521, and 256 bytes never reach that.
    return sum(zlib.adler32(data[start : start + 256], 0) & 0xFFFF for start in range(0, len(data), 256))

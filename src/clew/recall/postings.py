"""How a set of message numbers becomes bytes: two for each, or a compressed bitmap where that is smaller."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from pyroaring import BitMap

SPAN = 1 << 16
"""Message numbers in one row's reach: what two bytes can tell apart, and one container of a roaring bitmap."""
FEW = 16
"""Numbers up to which a bitmap is never smaller."""

_MOST = 4096  # a container with more than these is a bitmap of bits
_HEAD = struct.Struct("<IIHHI")  # roaring's portable form of one container: cookie, how many, key, count - 1, offset
_COOKIE, _OFFSET = 12346, 16


def encode(docs: BitMap) -> bytes:
    """The bytes of a set of numbers within one span: an even count of bytes lists offsets, an odd one is a bitmap."""
    if len(docs) <= FEW:
        return pack(docs)
    docs.run_optimize()
    whole: bytes = docs.serialize()
    if len(docs) <= _MOST and 2 * len(docs) <= len(whole):
        return pack(docs)
    return whole if len(whole) % 2 else whole + b"\0"


def decode(data: bytes, span: int) -> BitMap:
    """The set again."""
    if len(data) % 2:
        return BitMap.deserialize(data)
    # With roaring's own head put before it the list is read as it is, twenty times faster than number by number.
    return BitMap.deserialize(_HEAD.pack(_COOKIE, 1, span, len(data) // 2 - 1, _OFFSET) + data)


def extend(data: bytes | None, span: int, docs: Sequence[int]) -> bytes:
    """The bytes of a set after more numbers were added to it."""
    if data is None:
        return encode(BitMap(docs)) if len(docs) > 1 else pack(docs)
    short = len(data) % 2 == 0 and len(data) < 4 * FEW
    if short and len(docs) == 1 and (docs[0] & 0xFFFF) > int.from_bytes(data[-2:], "little"):
        return data + pack(docs)
    grown = decode(data, span)
    grown.update(docs)
    return encode(grown)


def pack(docs: Iterable[int]) -> bytes:
    offsets = [doc & 0xFFFF for doc in docs]
    return struct.pack(f"<{len(offsets)}H", *offsets)


def union(bitmaps: Sequence[BitMap]) -> BitMap:
    """All numbers of all sets, in a set of its own."""
    if len(bitmaps) == 1:
        return bitmaps[0]
    return BitMap.union(*bitmaps) if bitmaps else BitMap()

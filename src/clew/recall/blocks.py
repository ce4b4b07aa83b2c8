"""How many words and their messages become one small block of bytes, while a store is young."""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from pyroaring import BitMap

FULL = 6_000
"""Bytes, before compression, beyond which a block is split. Smaller compresses worse, larger is slower to change."""

Block = dict[bytes, bytes]
"""Key → its squeezed messages."""

_HEAD = struct.Struct("<HI")  # how many keys, how many bytes they take


def pack_block(block: Block) -> bytes:
    """Keys in order, then the lengths, then the messages: each kind by itself, which compresses best."""
    keys = sorted(block)
    names = b"\0".join(keys)
    lengths = struct.pack(f"<{len(keys)}H", *(len(block[key]) for key in keys))
    return zlib.compress(_HEAD.pack(len(keys), len(names)) + names + lengths + b"".join(block[key] for key in keys), 6)


def unpack_block(data: bytes) -> Block:
    raw = zlib.decompress(data)
    count, size = _HEAD.unpack_from(raw)
    if not count:
        return {}
    start = _HEAD.size + size
    ends = list(accumulate(struct.unpack_from(f"<{count}H", raw, start), initial=start + 2 * count))
    keys = raw[_HEAD.size : start].split(b"\0")
    return {key: raw[begin:end] for key, begin, end in zip(keys, ends, ends[1:], strict=False)}


def split(block: Block) -> Iterator[Block]:
    """The block in as many parts as it has grown too large for one."""
    keys = sorted(block)
    weights = list(accumulate(len(key) + len(block[key]) + 3 for key in keys))
    parts = -(-weights[-1] // FULL) if keys else 0
    start = 0
    for part in range(1, parts + 1):
        end = bisect_right(weights, weights[-1] * part // parts)
        if end > start:
            yield {key: block[key] for key in keys[start:end]}
        start = max(start, end)


def squeeze(docs: Iterable[int]) -> bytes:
    """The steps from each number to the next: one byte for most, two or three for the far ones."""
    before, out = -1, bytearray()
    for doc in docs:
        step = doc - before
        before = doc
        while step > 0x7F:
            out.append(step & 0x7F | 0x80)
            step >>= 7
        out.append(step)
    return bytes(out)


def stretch(data: bytes) -> BitMap:
    """The numbers again."""
    if data.isascii():  # no step takes more than a byte
        return BitMap([doc - 1 for doc in accumulate(data)])
    docs, doc, step, shift = [], -1, 0, 0
    for byte in data:
        step |= (byte & 0x7F) << shift
        if byte > 0x7F:
            shift += 7
        else:
            doc += step
            docs.append(doc)
            step = shift = 0
    return BitMap(docs)

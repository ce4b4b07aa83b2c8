"""Where the postings of an index stand: a row for each word, and in a young store blocks of many words for the rest."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from pyroaring import BitMap

from clew.recall.blocks import Block, pack_block, split, squeeze, stretch, unpack_block
from clew.recall.postings import decode, encode, extend
from clew.store.database import Database, Look, Work

CHUNK = 500
"""Keys looked up in one statement."""

Postings = Mapping[bytes, Sequence[int]]
"""Key → numbers of the messages that stand under it."""
Found = Iterator[tuple[bytes, BitMap]]
"""Keys with messages; the same key may come several times, with other messages."""


def create(work: Work, database: Database) -> None:
    types = database.types
    work.run(
        f"CREATE TABLE IF NOT EXISTS recall_posting (term {types['bytes']} NOT NULL, span {types['whole']} NOT NULL, "
        f"docs {types['bytes']} NOT NULL, PRIMARY KEY (term, span)) {types['clustered']}"
    )
    # Not clustered: SQLite keeps no more than a quarter of a page of such a row in its place.
    work.run(
        f"CREATE TABLE IF NOT EXISTS recall_block (first {types['bytes']} NOT NULL PRIMARY KEY, "
        f"data {types['bytes']} NOT NULL)"
    )


def clear(work: Work) -> None:
    work.run("DELETE FROM recall_posting")
    work.run("DELETE FROM recall_block")


def find(work: Look, keys: Sequence[bytes], young: bool) -> Found:
    """What stands under these keys."""
    sql = f"SELECT term, span, docs FROM recall_posting WHERE term IN ({marks(len(keys))})"
    for key, span, docs in work.all(sql, keys):
        yield key, decode(docs, span)
    if young:
        yield from find_in_blocks(work, keys)


def find_in_blocks(work: Look, keys: Sequence[bytes]) -> Found:
    block: Block = {}
    last = b""
    for key in sorted(keys):  # the forms of a word stand in one block, which is opened once
        if not block or key > last:
            block = _block_of(work, key)[1]
            last = max(block, default=b"")
        if key in block:
            yield key, stretch(block[key])


def begin_with(work: Look, prefix: bytes, most: int, young: bool) -> list[BitMap]:
    """What stands under the first keys that begin like this."""
    behind = prefix + b"\xff"  # no key holds this byte
    sql = "SELECT span, docs FROM recall_posting WHERE term >= ? AND term < ? ORDER BY term LIMIT ?"
    found = [decode(docs, span) for span, docs in work.all(sql, (prefix, behind, most))]
    if young:
        first = _block_of(work, prefix)[0]
        rows = work.all("SELECT data FROM recall_block WHERE first >= ? AND first < ? ORDER BY first", (first, behind))
        blocks = (unpack_block(data) for (data,) in rows)
        found += [stretch(docs) for block in blocks for key, docs in block.items() if key.startswith(prefix)]
    return found[:most]


def everything(work: Look, span: int, young: bool) -> Found:
    """All there is of a span."""
    for key, docs in work.all("SELECT term, docs FROM recall_posting WHERE span = ?", (span,)):
        yield key, decode(docs, span)
    if young:
        for (data,) in work.all("SELECT data FROM recall_block"):
            for key, docs in unpack_block(data).items():
                yield key, stretch(docs)


def add(work: Work, span: int, postings: Postings) -> None:
    """More messages, each in the row of its key."""
    keys = sorted(postings)
    for start in range(0, len(keys), CHUNK):
        some = keys[start : start + CHUNK]
        sql = f"SELECT term, docs FROM recall_posting WHERE span = ? AND term IN ({marks(len(some))})"
        had: dict[bytes, bytes] = dict(work.all(sql, (span, *some)))
        work.many(
            "INSERT INTO recall_posting (term, span, docs) VALUES (?, ?, ?) "
            "ON CONFLICT (term, span) DO UPDATE SET docs = excluded.docs",
            [(key, span, extend(had.get(key), span, postings[key])) for key in some],
        )


def remove(work: Work, span: int, gone: BitMap, young: bool) -> None:
    """Take messages out of everything; a key under which nobody stands any more goes with them."""
    for key, data in work.all("SELECT term, docs FROM recall_posting WHERE span = ?", (span,)):
        docs = decode(data, span)
        if left := docs - gone:
            if left != docs:
                sql = "UPDATE recall_posting SET docs = ? WHERE term = ? AND span = ?"
                work.run(sql, (encode(left), key, span))
        else:
            work.run("DELETE FROM recall_posting WHERE term = ? AND span = ?", (key, span))
    if young:
        for first, data in work.all("SELECT first, data FROM recall_block"):
            block = {key: stretch(docs) for key, docs in unpack_block(data).items()}
            if any(docs.intersect(gone) for docs in block.values()):
                _write_block(work, first, {key: squeeze(docs - gone) for key, docs in block.items() if docs - gone})


def settle(work: Work, postings: Postings) -> None:
    """These and all rows into blocks: while most words were said once, rows would be larger than the text."""
    fresh = {key: BitMap(docs) for key, docs in postings.items()}
    for key, docs in everything(work, 0, young=False):
        fresh[key] = fresh[key] | docs if key in fresh else docs
    work.run("DELETE FROM recall_posting")
    firsts = sorted({b"", *(first for (first,) in work.all("SELECT first FROM recall_block"))})
    of_block: dict[bytes, list[bytes]] = {}
    for key in fresh:
        of_block.setdefault(firsts[bisect_right(firsts, key) - 1], []).append(key)
    for first, keys in of_block.items():
        block = _block_of(work, first)[1]
        for key in keys:
            block[key] = squeeze(fresh[key] | stretch(block[key]) if key in block else fresh[key])
        _write_block(work, first, block)


def grow_up(work: Work) -> None:
    """From blocks to rows, for good."""
    for (data,) in work.all("SELECT data FROM recall_block ORDER BY first"):
        add(work, 0, {key: list(stretch(docs)) for key, docs in unpack_block(data).items()})
    work.run("DELETE FROM recall_block")


def _block_of(work: Look, key: bytes) -> tuple[bytes, Block]:
    """The block a key belongs in, by its name. The first one is named by nothing, so there is one for every key."""
    row = work.one("SELECT first, data FROM recall_block WHERE first <= ? ORDER BY first DESC LIMIT 1", (key,))
    return (row[0], unpack_block(row[1])) if row else (b"", {})


def _write_block(work: Work, first: bytes, block: Block) -> None:
    parts = list(split(block))
    names = [first, *(min(part) for part in parts[1:])]
    work.run("DELETE FROM recall_block WHERE first = ?", (first,))
    work.many(
        "INSERT INTO recall_block (first, data) VALUES (?, ?)",
        [(name, pack_block(part)) for name, part in zip(names, parts, strict=False)],
    )


def marks(number: int) -> str:
    return ",".join("?" * number)

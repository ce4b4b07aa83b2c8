"""A damaged SQLite store: every row that can still be read, saved into a new one. The damaged file is kept."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.store.care import mend_pointers
from clew.store.schema import migrate
from clew.store.sqlite import Sqlite
from clew.store.trouble import StoreBusy, StoreDamaged

TABLES = (
    "conversation", "session", "message", "content", "opening", "blob", "blob_use", "tombstone", "call",
    "learned_window", "node", "host_session",
)  # fmt: skip
"""In the order in which rows may point to each other. Leases are not saved: their holders are gone."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What was saved from a damaged file."""

    rows: dict[str, int]
    """Rows saved of each table."""
    unreadable: tuple[str, ...]
    """What could not be read, as sentences."""
    kept_as: Path
    """The damaged file, untouched."""


def salvage(path: Path) -> Salvaged:
    """Save what is readable into a new file that takes the damaged one's place. Mend it afterwards, then check it."""
    moment = time.strftime("%Y%m%d-%H%M%S")
    fresh, kept = path.with_name(f"{path.name}.salvaged-{moment}"), path.with_name(f"{path.name}.damaged-{moment}")
    old = _open(path)
    rows: dict[str, int] = {}
    unreadable: list[str] = []
    new = Sqlite(fresh)
    try:
        migrate(new)
        with new.write() as work:
            work.run("PRAGMA defer_foreign_keys = ON")
            for table in TABLES:
                columns = [row[1] for row in work.all(f"PRAGMA table_info({table})")]
                insert = (
                    f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
                )
                rows[table] = 0
                for row in _readable(old, table, columns, unreadable):
                    rows[table] += work.run(insert, row)
            mend_pointers(work)
        new.settle()
    finally:
        new.close()
        old.close()
    if not any(rows.values()):
        _remove(fresh)
        raise StoreDamaged(
            f"{path}: no row of it can be read. It was left as it is; restore a backup, or import the "
            "transcripts again."
        )
    _swap(path, fresh, kept)
    return Salvaged(rows, tuple(unreadable), kept)


def _open(path: Path) -> sqlite3.Connection:
    old = sqlite3.connect(f"file:{path}?mode=rw", uri=True, isolation_level=None, timeout=1)
    try:
        old.execute("PRAGMA locking_mode=EXCLUSIVE")
        old.execute("BEGIN IMMEDIATE").close()
        old.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            old.close()
            raise StoreBusy(f"{path} is in use. Stop what uses it, then repair it.") from error
    except sqlite3.DatabaseError:
        pass  # damaged: that is why we are here
    return old


def _readable(
    old: sqlite3.Connection, table: str, columns: list[str], unreadable: list[str]
) -> Iterator[tuple[Any, ...]]:
    named = ", ".join(columns)
    try:
        read = _by_number if _has_numbers(old, table) else _from_both_ends
        yield from read(old, table, named, unreadable)
    except sqlite3.DatabaseError as error:
        unreadable.append(f"{table}: {error}")


def _has_numbers(old: sqlite3.Connection, table: str) -> bool:
    try:
        old.execute(f"SELECT rowid FROM {table} LIMIT 0")
    except sqlite3.OperationalError:
        return False
    return True


def _by_number(old: sqlite3.Connection, table: str, named: str, unreadable: list[str]) -> Iterator[tuple[Any, ...]]:
    """Row by row; where a page is broken, on behind it."""
    last = old.execute(f"SELECT MAX(rowid) FROM {table}").fetchone()[0] or 0
    at, jump = 0, 1
    while at <= last:
        try:
            for number, *row in old.execute(
                f"SELECT rowid, {named} FROM {table} WHERE rowid > ? ORDER BY rowid", (at,)
            ):
                at, jump = number, 1
                yield tuple(row)
            return
        except sqlite3.DatabaseError as error:
            if jump == 1:
                unreadable.append(f"{table}: cannot be read behind row {at} ({error})")
            at, jump = at + jump, jump * 2  # how many rows the broken page had is not known: feel ahead


def _from_both_ends(
    old: sqlite3.Connection, table: str, named: str, unreadable: list[str]
) -> Iterator[tuple[Any, ...]]:
    for direction in ("ASC", "DESC"):
        try:
            yield from old.execute(f"SELECT {named} FROM {table} ORDER BY 1 {direction}, 2 {direction}")
            return
        except sqlite3.DatabaseError as error:
            unreadable.append(f"{table}: {error}")


def _swap(path: Path, fresh: Path, kept: Path) -> None:
    for end in ("-wal", "-shm"):
        beside = path.with_name(path.name + end)
        if beside.exists():
            os.replace(beside, kept.with_name(kept.name + end))
    os.replace(path, kept)
    os.replace(fresh, path)


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)

"""A store that lives as long as the process: SQLite in memory, one connection, nothing ever on a disk."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.store.blobs import name_of
from clew.store.database import Database, Glance, Row, Values, Work
from clew.store.sqlite import Sqlite, _SqliteWork, _trouble
from clew.store.store import Store
from clew.store.trouble import NotFound

_HERE = Path(":memory:")


def memory_store() -> Store:
    """An empty store for one process."""
    return Store(Memory(), Pile(), Memory)


class Memory(Database):
    """One connection for all: who comes second waits, who comes again is part of what he began."""

    types = Sqlite.types
    row_lock = Sqlite.row_lock
    moment = Sqlite.moment

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._work: Work | None = None
        self._is_open = True
        self._connection = sqlite3.connect(_HERE, isolation_level=None, check_same_thread=False, cached_statements=256)
        self._connection.execute("PRAGMA foreign_keys=ON")
        self.glance = Glance(self._look)

    @contextmanager
    def write(self) -> Iterator[Work]:
        yield from self._transaction()

    @contextmanager
    def read(self) -> Iterator[Work]:
        yield from self._transaction()

    def _transaction(self) -> Iterator[Work]:
        with self._lock:
            if self._work is not None:
                yield self._work
                return
            try:
                self._connection.execute("BEGIN")
                self._work = _SqliteWork(self._connection)
                yield self._work
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise _trouble(_HERE, error) from error
            finally:
                self._work = None
                if self._is_open and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _look(self, sql: str, values: Values) -> list[Row]:
        with self.read() as work:
            return work.all(sql, values)

    def behind(self, mark: tuple[int, int], *, settled: bool = True) -> tuple[str, Values]:  # noqa: ARG002
        return "seq > ?", mark[1:]

    def has_table(self, work: Work, name: str) -> bool:
        return work.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)) is not None

    def integrity(self, work: Work) -> list[str]:
        return [row[0] for row in work.all("PRAGMA integrity_check(20)") if row[0] != "ok"]

    def settle(self) -> None:
        """Nothing lingers: there is no journal."""

    def size(self) -> int:
        with self.read() as work:
            pages, size = (work.all(f"PRAGMA {what}")[0][0] for what in ("page_count", "page_size"))
        return int(pages * size)

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            self._is_open = False

    def __del__(self) -> None:
        self._connection.close()  # whoever drops an engine without a word leaves nothing open


class Pile:
    """Blobs in memory."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        name = name_of(data)
        self._blobs.setdefault(name, data)
        return name

    def get(self, name: str) -> bytes:
        try:
            return self._blobs[name]
        except KeyError:
            raise NotFound(f"there is no blob {name[:80]}: it was forgotten.") from None

    def has(self, name: str) -> bool:
        return name in self._blobs

    def names(self) -> Iterator[tuple[str, float]]:
        yield from ((name, 0.0) for name in sorted(self._blobs))

    def remove(self, name: str) -> None:
        self._blobs.pop(name, None)

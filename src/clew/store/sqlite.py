"""Rows in one SQLite file: no set-up, durable on every commit, one writer at a time, readers beside it."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType

from clew.store.database import Database, Glance, Row, Values, Work
from clew.store.trouble import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    Unreachable,
)

WAIT = 10.0
"""Seconds to wait for another process that writes: long enough for any commit of ours, short enough to say so."""
CHECKPOINT = 1_000
"""Pages of 4 KB in the write-ahead log before they are copied back and it is written over from its start. A sync costs
less where the file does not grow, so a durable store keeps it short; where nothing is synced, four times that."""


class Sqlite(Database):
    """One file."""

    types = MappingProxyType(
        {
            "serial": "INTEGER PRIMARY KEY",
            "whole": "INTEGER",
            "real": "REAL",
            "bytes": "BLOB",
            "order": "",
            "then_seq": "",  # which is the row's own number, and stands in every index
            "feed_index": "",
            "blob_table": "",  # blobs are files beside the database
            "clustered": "WITHOUT ROWID",
        }
    )
    row_lock = ""  # a writer has the whole file to itself
    moment = "0"  # one writer at a time: numbers are given in the order of commits

    def __init__(self, path: Path | str, *, durable: bool = True, wait: float = WAIT) -> None:
        """`durable=False` is for what can be made again: a power cut may take its last commits, never its shape."""
        self.path = Path(path)
        self._durable = durable
        self._wait = wait
        self._lock = threading.RLock()
        self._open: list[sqlite3.Connection] = []
        self._idle: list[sqlite3.Connection] = []
        """Readers no one is using: as many as ever read at the same time."""
        self._process = os.getpid()
        self.glance = Glance(self._look)
        self._create()
        try:
            self._writer = self._connect()
        except BaseException:
            self.close()
            raise

    def write(self) -> AbstractContextManager[Work]:
        return _Transaction(self.path, "BEGIN IMMEDIATE", self._take_writer, self._give_writer)

    def read(self) -> AbstractContextManager[Work]:
        return _Transaction(self.path, "BEGIN", self._take_reader, self._give_reader)

    def _look(self, sql: str, values: Values) -> list[Row]:
        reader = self._take_reader()
        try:
            return reader.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise _trouble(self.path, error) from error
        finally:
            self._give_reader(reader)

    def _take_writer(self) -> sqlite3.Connection:
        self._lock.acquire()
        try:
            self._survive_fork()
        except BaseException:
            self._lock.release()
            raise
        return self._writer

    def _give_writer(self, _: sqlite3.Connection) -> None:
        self._lock.release()

    def _take_reader(self) -> sqlite3.Connection:
        self._survive_fork()
        return self._idle.pop() if self._idle else self._connect()

    def _give_reader(self, reader: sqlite3.Connection) -> None:
        self._idle.append(reader)

    def behind(self, mark: tuple[int, int], *, settled: bool = True) -> tuple[str, Values]:  # noqa: ARG002
        return "seq > ?", mark[1:]

    def has_table(self, work: Work, name: str) -> bool:
        return work.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)) is not None

    def integrity(self, work: Work) -> list[str]:
        return [row[0] for row in work.all("PRAGMA integrity_check(20)") if row[0] != "ok"]

    def size(self) -> int:
        return sum(path.stat().st_size for path in self.files() if path.exists())

    def files(self) -> list[Path]:
        """The database and what SQLite keeps beside it."""
        return [self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm"))]

    def settle(self) -> None:
        """Copy the write-ahead log back and empty it, so that nothing deleted lingers there."""
        with self._lock, _told(self.path):
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def copy_to(self, target: Path) -> None:
        """A whole copy of this moment, while others go on writing."""
        with _told(self.path), self._lock:
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            copy = sqlite3.connect(target)
            try:
                self._writer.backup(copy)
            finally:
                copy.close()

    def close(self) -> None:
        with self._lock:
            while self._open:
                self._open.pop().close()
            self._idle.clear()

    def _create(self) -> None:
        # Made by us before SQLite sees it, so that no one else can ever read it. Never opened by hand again: closing a
        # second descriptor would drop SQLite's locks on the file.
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            pass
        except OSError as error:
            raise Unreachable(
                f"{self.path} cannot be created: {error.strerror}. "
                "Create the folder, make it writable, or choose another place for the store."
            ) from None

    def _connect(self) -> sqlite3.Connection:
        with _told(self.path):
            connection = sqlite3.connect(
                self.path, timeout=self._wait, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            self._open.append(connection)
            _use_wal(connection, self._wait)
            connection.execute(f"PRAGMA synchronous={'FULL' if self._durable else 'NORMAL'}")
            connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT if self._durable else 4 * CHECKPOINT}")
            connection.execute("PRAGMA secure_delete=ON")  # what is forgotten is overwritten, not only unlinked
            connection.execute("PRAGMA foreign_keys=ON")
            if not self._durable:  # mapped memory is quick, but a bad disk then kills the process instead of telling it
                connection.execute("PRAGMA mmap_size=1073741824")
            return connection

    def _survive_fork(self) -> None:
        if os.getpid() != self._process:  # a connection must not cross a fork; the parent's are left alone
            self._process, self._open, self._idle = os.getpid(), [], []
            self._writer = self._connect()


def _use_wal(connection: sqlite3.Connection, wait: float) -> None:
    """Write ahead. Two who make a store at once are in each other's way here, where SQLite by itself does not wait."""
    until = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


class _Transaction(AbstractContextManager[Work]):
    """What is done in it is done whole or not at all. Every append enters one: a generator would take twice as long."""

    def __init__(
        self,
        path: Path,
        begin: str,
        take: Callable[[], sqlite3.Connection],
        give_back: Callable[[sqlite3.Connection], None],
    ) -> None:
        self._path, self._begin, self._take, self._give_back = path, begin, take, give_back

    def __enter__(self) -> Work:
        self._connection = self._take()
        try:
            self._work = _SqliteWork(self._connection)
            self._work.run(self._begin)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self._work

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        try:
            try:
                if error is None:
                    self._work.run("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise error
        except sqlite3.Error as failed:
            raise _trouble(self._path, failed) from failed
        finally:
            self._give_back(self._connection)


class _SqliteWork(Work):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._cursor = connection.cursor()  # one for all: to make it takes as long as to begin and to commit

    def all(self, sql: str, values: Values = ()) -> list[Row]:
        return self._cursor.execute(sql, values).fetchall()

    def run(self, sql: str, values: Values = ()) -> int:
        return self._cursor.execute(sql, values).rowcount

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        self._cursor.executemany(sql, rows)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """SQLite's errors as sentences."""
    try:
        yield
    except sqlite3.Error as error:
        raise _trouble(path, error) from error
    except UnicodeDecodeError as error:  # bytes where a word should be; SQLite's own complaint may quote them
        raise _damaged(path, error) from error


def _trouble(path: Path, error: sqlite3.Error) -> StoreError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return StoreError(f"{path}: this store was closed; open it again.")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(
            f"{path} was locked by another process for longer than we wait. Nothing was written; try again, or see who "
            "has it open."
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "Could not decode" in str(error):
        return _damaged(path, error)
    if name == "SQLITE_FULL":
        return StoreFull(
            f"{path} could not grow: the disk is full. Nothing was half written; free some space and go on."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreReadOnly(f"{path} may not be written ({error}). Check the rights of the file and of its folder.")
    if name.startswith("SQLITE_CANTOPEN"):
        return Unreachable(f"{path} cannot be opened. Check that its folder exists and may be read and written.")
    if name.startswith("SQLITE_IOERR"):
        return StoreError(f"{path}: the disk failed ({error}). Nothing was acknowledged that is not on it; check it.")
    return StoreError(f"{path}: {error}")


def _damaged(path: Path, error: Exception) -> StoreDamaged:
    return StoreDamaged(
        f"{path} is damaged ({error}). Nothing was changed. 'clew doctor' says what is left; "
        "'clew doctor --repair' saves it, after a backup."
    )

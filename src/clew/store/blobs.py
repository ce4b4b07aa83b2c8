"""Big output and media, kept once by the hash of their bytes, outside the rows."""

from __future__ import annotations

import errno
import os
import re
import tempfile
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any, Protocol

from clew.store.database import Database
from clew.store.lineage import digest
from clew.store.trouble import NotFound, StoreError, StoreFull, StoreReadOnly

OUTSIDE = 32_768
"""Characters from which a text inside a message is kept outside its row."""
POINTER = re.compile(r"blob:([0-9a-f]{32})\b")
"""How a message says where its output lies."""


def name_of(data: bytes) -> str:
    return digest(data).hex()


def pointer_to(name: str) -> str:
    return f"blob:{name}"


def take_out(message: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[list[str | int], str]]]:
    """The message without its big texts, and where each of them stood."""
    found: list[tuple[list[str | int], str]] = []
    return _without(message, [], found), found


def put_back(message: dict[str, Any], path: list[str | int], text: str) -> None:
    """A big text in its old place."""
    *way, last = path
    inner: Any = message
    for step in way:
        inner = inner[step]
    inner[last] = text


def lines(data: bytes, offset: int = 1, limit: int | None = None) -> str:
    """Some lines of a blob: `limit` of them from line `offset`, counted from 1."""
    if offset < 1 or (limit is not None and limit < 0):
        raise ValueError("lines are counted from 1, and a limit is not negative")
    kept = StringIO(data.decode("utf-8", "replace"), newline="\n").readlines()  # a form feed ends no line
    return "".join(kept[offset - 1 : None if limit is None else offset - 1 + limit])


_KINDS = {
    errno.ENOSPC: StoreFull,
    errno.EDQUOT: StoreFull,
    errno.EACCES: StoreReadOnly,
    errno.EPERM: StoreReadOnly,
    errno.EROFS: StoreReadOnly,
}


class Shelf(Protocol):
    """Where blobs lie."""

    def put(self, data: bytes) -> str:
        """Keep these bytes; their name. Durable when it returns, and free when they are there already."""

    def get(self, name: str) -> bytes:
        """The bytes of that name; NotFound when there are none."""

    def has(self, name: str) -> bool:
        """Whether there is one of that name."""

    def names(self) -> Iterator[tuple[str, float]]:
        """Every name there is, with the time it was last wanted."""

    def remove(self, name: str) -> None:
        """Overwrite and remove; nothing happens when it is not there."""


class Files:
    """Blobs as files of a folder that only their owner can read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> str:
        name = name_of(data)
        path = self._path(name)
        try:
            if path.exists() and path.stat().st_size == len(data):
                os.utime(path)  # wanted again: not to be collected now
                return name
            for folder in (self.folder, path.parent):
                if not folder.exists():
                    folder.mkdir(mode=0o700, exist_ok=True)
                    _sync_folder(folder.parent)
            self._write(path, data)
        except OSError as error:
            kind = _KINDS.get(error.errno or 0, StoreError)
            raise kind(
                f"{len(data):,} bytes of output could not be kept in {self.folder}: {error.strerror}. "
                "Nothing was half written; make room or make the folder writable, and try again."
            ) from error
        return name

    def get(self, name: str) -> bytes:
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            raise NotFound(f"there is no blob {name}: it was forgotten, or its file was removed by hand.") from None
        except OSError as error:
            raise StoreError(f"blob {name} cannot be read: {error.strerror}.") from error

    def has(self, name: str) -> bool:
        return self._path(name).exists()

    def names(self) -> Iterator[tuple[str, float]]:
        for path in sorted(self.folder.glob("??/*")):
            if POINTER.fullmatch(pointer_to(path.name)):
                yield path.name, path.stat().st_mtime

    def remove(self, name: str) -> None:
        path = self._path(name)
        if path.exists():
            with path.open("r+b") as file:  # the bytes go, not only the name
                file.write(bytes(path.stat().st_size))
                file.flush()
                os.fsync(file.fileno())
            path.unlink()

    def _path(self, name: str) -> Path:
        if not POINTER.fullmatch(pointer_to(name)):  # no path is ever made from what a tool or a model wrote
            raise NotFound(f"{name[:80]!r} is not the name of a blob: 32 hexadecimal digits.")
        return self.folder / name[:2] / name

    def _write(self, path: Path, data: bytes) -> None:
        descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=".part-")  # mode 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
            _sync_folder(path.parent)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise


class Rows:
    """Blobs as rows of a table of their own, where machines share no disk."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, data: bytes) -> str:
        name = name_of(data)
        with self._database.write() as work:
            work.run(
                "INSERT INTO blob_data (name, at, data) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET at = excluded.at",
                (name, time.time(), data),
            )
        return name

    def get(self, name: str) -> bytes:
        with self._database.read() as work:
            row = work.one("SELECT data FROM blob_data WHERE name = ?", (name,))
        if row is None:
            raise NotFound(f"there is no blob {name[:80]}: it was forgotten, or removed by hand.")
        return bytes(row[0])

    def has(self, name: str) -> bool:
        with self._database.read() as work:
            return work.one("SELECT 1 FROM blob_data WHERE name = ?", (name,)) is not None

    def names(self) -> Iterator[tuple[str, float]]:
        with self._database.read() as work:
            yield from ((row[0], row[1]) for row in work.all("SELECT name, at FROM blob_data ORDER BY name"))

    def remove(self, name: str) -> None:
        with self._database.write() as work:
            work.run("DELETE FROM blob_data WHERE name = ?", (name,))


def _without(value: Any, path: list[str | int], found: list[tuple[list[str | int], str]]) -> Any:
    if isinstance(value, str):
        if len(value) < OUTSIDE:
            return value
        found.append((path, value))
        return None
    if isinstance(value, dict):
        return {key: _without(inner, [*path, key], found) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, [*path, place], found) for place, inner in enumerate(value)]
    return value


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Which store does an address name, and how is it opened?"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from clew.store.blobs import Files, Rows
from clew.store.database import Database
from clew.store.sqlite import Sqlite
from clew.store.store import Store
from clew.store.trouble import StoreDamaged, Unreachable

INDEX = "-index"
"""What the search index is called beside the store it is made from."""
BLOBS = "-blobs"


def open_store(url: str | Path) -> Store:
    """Open the store at an address, and make it if there is none.

    `sqlite:///notes.db` and a plain path are a file; `postgresql://user@host/database` is a server, with
    `?schema=name` for another schema than `clew`.

    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = open_store(f"sqlite:///{folder}/notes.db")
    ...     store.close()
    ...     sorted(os.listdir(folder))
    ['notes.db']
    """
    if is_server(url):
        from clew.store.postgres import Postgres  # only who needs it has the driver

        address, schema = _with_schema(str(url))
        database: Database = Postgres(address, schema=schema)
        return Store(database, Rows(database), lambda: Postgres(address, schema=schema + INDEX))
    path = file_of(url)
    _refuse_emptied(path)
    return Store(Sqlite(path), Files(beside(path, BLOBS)), lambda: Sqlite(beside(path, INDEX), durable=False))


def beside(path: Path, ending: str) -> Path:
    """What stands beside an SQLite store."""
    return path.with_name(path.name + ending)


def _refuse_emptied(path: Path) -> None:
    """A file of no bytes is a new store, but not where the blobs or the index of an old one lie beside it."""
    left = [beside(path, ending) for ending in (BLOBS, INDEX) if beside(path, ending).exists()]
    if left and path.exists() and path.stat().st_size == 0:
        raise StoreDamaged(
            f"{path} is empty, though {left[0].name} beside it shows that it was not. Nothing was changed: put a "
            "backup in its place, or move all of it away to begin anew."
        )


def is_server(url: str | Path) -> bool:
    return str(url).startswith(("postgresql://", "postgres://"))


def file_of(url: str | Path) -> Path:
    """The file that an SQLite address names."""
    text = str(url)
    if text.startswith("sqlite:///"):
        text = unquote(text.removeprefix("sqlite:///"))
    elif "://" in text:
        raise Unreachable(
            f"{text.split('://', 1)[0]}:// is not a store clew knows. Use sqlite:///path/to/file.db or "
            "postgresql://user@host/database."
        )
    if not text or text == ":memory:":
        raise Unreachable("a store needs a file to live in: sqlite:///path/to/file.db")
    return Path(text).expanduser()


def _with_schema(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    schema = options.pop("schema", "clew")
    return urlunsplit(parts._replace(query=urlencode(options))), schema

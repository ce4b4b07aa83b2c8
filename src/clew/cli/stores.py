"""Which store does a command work on?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.cli.errors import Failed, why
from clew.runtime.home import home
from clew.screen.shown import shown
from clew.store.address import file_of, is_server, open_store
from clew.store.store import Store


@contextmanager
def opened(url: str | None, *, make: bool = False) -> Iterator[Store]:
    """The store that was asked for. One that is not there is made only by a command that puts something into it."""
    address = url or _configured() or _default(make)
    if not make and not is_server(address):
        refuse_missing(file_of(address))
    with _opened(address) as store:
        yield store


def place_of(url: str | None) -> Path | None:
    """The file of a store; None for a server."""
    address = url or _configured() or str(home() / "store.db")
    return None if is_server(address) else file_of(address)


def refuse_missing(path: Path) -> None:
    if not os.path.exists(path):  # Path.exists raises for a name too long
        raise Failed(
            f"there is no store at {shown(str(path))} yet. 'clew import FILE' makes one; --store URL names another."
        )


def _configured() -> str | None:
    """The store that the person's settings name."""
    from clew.runtime import config
    from clew.runtime.settings import BadSettings

    if not config.path().exists():  # most have none: to read YAML costs as much as the rest of a small command
        return None
    try:
        return config.read()["store.url"]  # type: ignore[no-any-return]
    except BadSettings as wrong:
        raise Failed(str(wrong)) from None


def _default(make: bool) -> str:
    folder = home()
    if make:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Failed(
                f"{folder} cannot be made: {why(error)}. Set CLEW_HOME or --store to a place that can be written."
            ) from None
    return str(folder / "store.db")


def _opened(address: str) -> Store:
    try:
        return open_store(address)
    except ModuleNotFoundError as missing:
        if missing.name != "psycopg":
            raise
        raise Failed("a store on PostgreSQL needs a driver: pip install 'clew[postgres]'") from None
    except ValueError:
        raise Failed(f"{shown(address)} is no address; write postgresql://user@host/database.") from None

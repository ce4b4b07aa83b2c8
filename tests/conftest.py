"""How tests draw, and the stores they use: every test of `store_url` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from clew.store.address import open_store
from clew.store.store import Store
from tests.databases import folder_of, new_schema, server

# The same examples on every machine, or new ones with HYPOTHESIS_PROFILE=explore.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def postgres() -> str:
    """The address of the tests' own PostgreSQL server, one for all test processes of a run."""
    return server(folder_of(os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())))


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return new_schema(request.getfixturevalue("postgres"))


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An empty store."""
    with open_store(store_url) as opened:
        yield opened

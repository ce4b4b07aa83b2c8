"""The tables through the versions: every older store opens with all it held, a newer one is left alone."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from clew.facts.usage import Usage
from clew.store import schema
from clew.store.address import _with_schema, file_of, is_server, open_store
from clew.store.check import findings
from clew.store.database import Database, Work
from clew.store.ledger import Call
from clew.store.lineage import links
from clew.store.postgres import Postgres
from clew.store.spelling import fingerprint, spelled
from clew.store.sqlite import Sqlite
from clew.store.store import Store
from clew.store.trouble import NewerSchema, StoreError

SAID: list[dict[str, Any]] = [
    {"role": "user", "content": "Port the parser. \ud83d\0"},
    {"role": "assistant", "content": "word " * 300},
    {"role": "user", "content": "Go on."},
]
SUMMARY = {"role": "user", "content": "[summary]"}


@contextmanager
def database(url: str) -> Iterator[Database]:
    """The database at an address, as it is: nothing is migrated."""
    if is_server(url):
        server, name = _with_schema(url)
        opened: Database = Postgres(server, schema=name)
    else:
        opened = Sqlite(file_of(url))
    try:
        yield opened
    finally:
        opened.close()


def build(url: str, version: int) -> None:
    """A store as the clew of that version left it, filled with nothing but SQL."""
    with database(url) as place, place.write() as work:
        work.run("CREATE TABLE clew_schema (version BIGINT PRIMARY KEY, at DOUBLE PRECISION NOT NULL)")
        for number, migration in enumerate(schema.MIGRATIONS[:version], 1):
            for statement in migration:
                if spelled := statement.format(**place.types):
                    work.run(spelled)
            work.run("INSERT INTO clew_schema VALUES (?, ?)", (number, 1.0))
        fill(work)


def fill(work: Work) -> None:
    """A conversation of three messages, compacted once, as the first version wrote it."""
    work.run(
        "INSERT INTO conversation (id, title, cwd, model, tags, source, origin, created, tip, seed) "
        "VALUES ('old', 'Parser', '/srv', 'm', '[\"a\"]', 'cli', 'new', 1.0, 'old.1', ?)",
        (b"",),
    )
    for id_, parent, origin, number, since, until, ended, reason in (
        ("old.0", None, "new", 0, 0, 3, 2.0, "compression"),
        ("old.1", "old.0", "compression", 1, 3, None, None, None),
    ):
        work.run(
            "INSERT INTO session (id, conversation, parent, origin, number, system, since, until, opened, ended, "
            "end_reason, state) VALUES (?, 1, ?, ?, ?, ?, ?, ?, 1.0, ?, ?, '{}')",
            (id_, parent, origin, number, b"Be brief.", since, until, ended, reason),
        )
    chains: list[bytes | None] = [*links(b"", map(fingerprint, SAID)), None]
    for place, message in enumerate([*SAID, SUMMARY]):
        body = spelled(message)
        is_said = message is not SUMMARY
        hash_ = hashlib.sha256(body).digest()[:16] if len(body) > 512 else None
        if hash_:
            work.run("INSERT INTO content (hash, body) VALUES (?, ?)", (hash_, body))
        work.run(
            "INSERT INTO message (conversation, place, hash, chain, at, role, tool, derived, standing, "
            "body, content) VALUES (1, ?, ?, ?, 1.0, ?, '', ?, ?, ?, ?)",
            (min(place, 2), fingerprint(message), chains[place], message["role"], int(not is_said), int(is_said),
             None if hash_ else body, hash_),
        )  # fmt: skip
    work.run("INSERT INTO opening (session, n, message) VALUES ('old.1', 0, 4), ('old.1', 1, 3)")


def shape(store: Store) -> list[Any]:
    """Every table and column there is."""
    with store.database.read() as work:
        if isinstance(store.database, Sqlite):
            return work.all("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
        return work.all(
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
            "WHERE table_schema = ? ORDER BY 1, 2",
            (store.database.schema,),  # type: ignore[attr-defined]
        ) + work.all("SELECT indexname FROM pg_indexes WHERE schemaname = ? ORDER BY 1", (store.database.schema,))  # type: ignore[attr-defined]


@pytest.mark.parametrize("version", range(1, schema.VERSION + 1))
def test_a_store_of_every_version_opens_with_all_it_held(store_url: str, version: int) -> None:
    build(store_url, version)
    for _ in range(2):
        with open_store(store_url) as store:
            assert [said.message for said in store.history("old")] == SAID
            assert [said.message for said in store.messages("old.0")] == SAID
            assert [said.message for said in store.messages("old")] == [SUMMARY, SAID[2]]
            assert store.get_compression_tip("old.0") == "old.1"
            about = store.conversation("old")
            assert (about.title, about.tags, about.sessions) == ("Parser", ("a",), 2)
            assert store.session("old.0").system == "Be brief."
            assert store.recognise(SAID) == ("old.1", 3)
            assert findings(store) == []


@pytest.mark.parametrize("version", range(1, schema.VERSION + 1))
def test_a_store_that_was_brought_up_to_date_is_like_a_new_one_and_can_be_written(store_url: str, version: int) -> None:
    build(store_url, version)
    with open_store(store_url) as store:
        brought = shape(store)
        child = store.append("old.0", [{"role": "assistant", "content": "Done."}])
        store.record(child, Call(Usage(7), "m"))
        assert [said.message["content"] for said in store.messages("old")][-1] == "Done."
        assert store.spent()[0].usage.input == 7
    with fresh(store_url) as new:
        assert brought == shape(new)


@contextmanager
def fresh(url: str) -> Iterator[Store]:
    """A new store of the same kind, beside the other."""
    with open_store(f"{url}_fresh") as store:
        yield store


def test_a_new_store_knows_every_version_it_went_through(store: Store) -> None:
    with store.database.read() as work:
        versions = work.all("SELECT version FROM clew_schema ORDER BY version")
    assert [version for (version,) in versions] == list(range(1, schema.VERSION + 1))


def test_a_store_of_a_newer_clew_is_left_alone(store_url: str) -> None:
    with open_store(store_url) as store:
        session = store.open_session()
        store.append(session, SAID)
        with store.database.write() as work:
            work.run("INSERT INTO clew_schema VALUES (?, ?)", (schema.VERSION + 1, 1.0))
    before = everything(store_url)
    for _ in range(2):
        with pytest.raises(NewerSchema, match=f"schema {schema.VERSION + 1}.*Nothing was changed"):
            open_store(store_url)
    assert everything(store_url) == before
    with database(store_url) as place, place.write() as work:
        work.run("DELETE FROM clew_schema WHERE version > ?", (schema.VERSION,))
    with open_store(store_url) as store:
        assert [said.message for said in store.messages(session)] == SAID


def everything(url: str) -> Any:
    """All that is in a store: the bytes of the file, or every row on the server."""
    if not is_server(url):
        return file_of(url).read_bytes()
    with database(url) as place, place.read() as work:
        tables = work.all("SELECT tablename FROM pg_tables WHERE schemaname = ? ORDER BY 1", (_with_schema(url)[1],))
        return {table: sorted(map(repr, work.all(f"SELECT * FROM {table}"))) for (table,) in tables}


def test_opening_a_store_that_is_up_to_date_waits_for_no_writer(store_url: str) -> None:
    with open_store(store_url) as store:
        session = store.open_session()
        store.append(session, SAID)
    with a_writer_in_the_midst(store_url), open_store(store_url) as store:
        assert [said.message for said in store.messages(session)] == SAID


@contextmanager
def a_writer_in_the_midst(url: str) -> Iterator[None]:
    """Someone who has everything locked for writing and does not let go."""
    if not is_server(url):
        with closing(sqlite3.connect(file_of(url), isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("DELETE FROM session")
            yield
            writer.execute("ROLLBACK")
        return
    server, name = _with_schema(url)
    with psycopg.connect(server) as writer:
        writer.execute(f'SET search_path TO "{name}"'.encode())
        writer.execute("LOCK TABLE conversation, session, message, clew_schema IN EXCLUSIVE MODE")
        yield
        writer.rollback()


def test_a_migration_that_fails_leaves_the_store_as_it_was(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    build(store_url, schema.VERSION)
    broken = (*schema.MIGRATIONS, ("CREATE TABLE half_done (x BIGINT)", "CREATE TABLE oops oops"))
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", broken)
        patch.setattr(schema, "VERSION", len(broken))
        with pytest.raises(StoreError):
            open_store(store_url)
    with open_store(store_url) as store:
        with store.database.read() as work:
            assert not store.database.has_table(work, "half_done")
        assert [said.message for said in store.history("old")] == SAID


def test_several_who_open_an_empty_place_at_once_all_get_a_store(store_url: str) -> None:
    barrier, opened, failed = threading.Barrier(4), [], []

    def open_it() -> None:
        barrier.wait()
        try:
            with open_store(store_url) as store:
                opened.append(store.open_session())
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with open_store(store_url) as store:
        assert {store.conversation(session).tip for session in opened} == set(opened)


def test_who_makes_a_store_waits_for_someone_who_is_making_it_too(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    opened: list[str] = []

    def open_it() -> None:
        with open_store(path) as store:
            opened.append(store.open_session())

    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # SQLite by itself would not wait for this one to write ahead
        thread = threading.Thread(target=open_it)
        thread.start()
        thread.join(0.3)  # it cannot be done yet
        other.execute("ROLLBACK")
        thread.join()
    assert len(opened) == 1

"""A store in trouble says what happened and what to do, loses nothing, and goes on when the trouble is over."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from clew.store.address import open_store
from clew.store.blobs import Files
from clew.store.check import findings
from clew.store.database import Database
from clew.store.schema import VERSION
from clew.store.sqlite import Sqlite
from clew.store.store import Store
from clew.store.trouble import (
    NewerSchema,
    NotFound,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    Unreachable,
)
from tests.databases import new_schema
from tests.store.workers import OwnServer, numbered

PAGE = 4_096


# A damaged file


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    """The bytes of a closed store with a conversation of 200 messages."""
    path = tmp_path / "whole.db"
    with open_store(path) as store:
        session = store.open_session(id="talk")
        store.append(session, [numbered("x", n) for n in range(200)])
    return path.read_bytes()


@pytest.mark.parametrize("page", range(1, 30, 3))
def test_a_page_of_zeros_is_said_to_be_damage_and_is_never_fewer_messages(
    tmp_path: Path, whole: bytes, page: int
) -> None:
    assert len(whole) > 30 * PAGE
    broken = whole[: page * PAGE] + bytes(PAGE) + whole[(page + 1) * PAGE :]
    assert read_or_told(tmp_path, broken) in ("all of it", "damaged")


def test_bytes_overwritten_anywhere_are_damage_or_harm_nothing_that_is_read(tmp_path: Path, whole: bytes) -> None:
    random = Random(3)
    outcomes = []
    for _ in range(60):
        at = random.randrange(100, len(whole) - 40)
        outcomes.append(read_or_told(tmp_path, whole[:at] + random.randbytes(40) + whole[at + 40 :]))
    assert set(outcomes) == {"all of it", "damaged"}
    assert outcomes.count("damaged") > 10


@pytest.mark.parametrize("hidden", ["place = 70", "place >= 170", "place = 199"])
def test_a_message_that_the_database_hides_is_missed(tmp_path: Path, whole: bytes, hidden: str) -> None:
    path = tmp_path / "hiding.db"
    path.write_bytes(whole)
    with open_store(path) as store:
        with store.database.write() as work:
            work.run(f"UPDATE message SET standing = 0 WHERE {hidden}")
        for read in (lambda: list(store.history("talk")), lambda: store.messages("talk")):
            with pytest.raises(StoreDamaged, match="does not fit their running hash"):
                read()
        assert findings(store)


def test_a_message_that_can_no_longer_be_read_is_named(tmp_path: Path, whole: bytes) -> None:
    assert whole.count(b'"x 7"') == 1
    path = tmp_path / "unreadable.db"
    path.write_bytes(whole.replace(b'"x 7"', b'"x 7,'))
    with open_store(path) as store:
        for read in (lambda: list(store.history("talk")), lambda: store.messages("talk")):
            with pytest.raises(StoreDamaged, match=r"message 7 of talk is damaged .* Nothing was changed"):
                read()
        assert [said.place for said in store.history("talk", limit=7)] == list(range(7))


def test_one_changed_letter_is_found_by_its_hash(tmp_path: Path, whole: bytes) -> None:
    assert whole.count(b'"x 7"') == 1
    path = tmp_path / "changed.db"
    path.write_bytes(whole.replace(b'"x 7"', b'"x 8"'))
    with open_store(path) as store:
        (found,) = findings(store)
    assert "message 7 was changed outside clew" in str(found)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.95])
def test_a_file_that_was_cut_off_is_said_to_be_damaged(tmp_path: Path, whole: bytes, share: float) -> None:
    assert read_or_told(tmp_path, whole[: int(len(whole) * share)]) == "damaged"


def test_a_file_that_is_no_database_is_said_to_be_damaged_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"Dear diary, today I wrote no database.\n" * 300)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match=r"notes\.txt is damaged .* Nothing was changed\. 'clew doctor'"):
        open_store(path)
    assert path.read_bytes() == before


def test_a_blob_whose_file_is_gone_is_missed_by_name(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        session = store.open_session()
        store.append(session, [{"role": "tool", "tool_call_id": "x", "content": "long " * 10_000}])
        ((name, _),) = store.shelf.names()
        assert isinstance(store.shelf, Files)
        (store.shelf.folder / name[:2] / name).unlink()
        with pytest.raises(NotFound, match=f"no blob {name}: .* removed by hand"):
            store.messages(session)
        assert name in str(findings(store)[0])


# A full disk


def test_a_file_that_may_not_grow_is_full_and_loses_nothing_and_goes_on_later(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        session = store.open_session()
        pages = limit(store, 1)  # as many as it has, no more
        kept = fill_up(store, session)
        assert said(store, session) == kept
        limit(store, pages + 1_000)
        store.append(session, [numbered("later", 0)])
        assert said(store, session) == [*kept, "later"]
        assert findings(store) == []


def test_a_full_disk_is_said_to_be_full_and_loses_nothing_and_goes_on_later(small_disk: Path) -> None:
    with open_store(small_disk / "store.db") as store:
        session = store.open_session()
        kept = fill_up(store, session)
        with pytest.raises(StoreFull, match=r"could not be kept in .*: No space left.* make room"):
            store.append(session, [{"role": "user", "content": "big " * 300_000}])
        with pytest.raises(StoreFull):
            store.spill("big " * 300_000)
        assert said(store, session) == kept
        assert [name for name, _ in store.shelf.names()] == []
        subprocess.run(["mount", "-o", "remount,size=16m", small_disk], check=True)
        store.append(session, [numbered("later", 0)])
        store.append(session, [{"role": "user", "content": "big " * 300_000}])
        assert said(store, session) == [*kept, "later", "big"]
        assert findings(store) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False
    ).returncode
    if mounted != 0:
        pytest.skip("only root can mount a small disk; the test of a file that may not grow stands in for it")
    yield disk
    subprocess.run(["umount", disk], check=True)


# No right to write


def test_a_store_that_may_not_be_written_says_so_and_keeps_what_it_has(tmp_path: Path, as_nobody: list[str]) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        store.append(store.open_session(id="talk"), [numbered("x", 0)])
    for way_there in (tmp_path, *tmp_path.parents):
        if way_there.stat().st_uid == os.getuid() and way_there != Path("/"):
            way_there.chmod(way_there.stat().st_mode | 0o055)
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    program = f"""
        from clew.store.address import open_store
        from clew.store.trouble import StoreError
        try:
            with open_store({str(path)!r}) as store:
                store.append("talk", [dict(role="user", content="more")])
        except StoreError as error:
            print(type(error).__name__, error)
        try:
            open_store({str(tmp_path / "new.db")!r})
        except StoreError as error:
            print(type(error).__name__, error)
    """
    done = subprocess.run(
        [*as_nobody, sys.executable, "-c", "if True:" + program], cwd="/", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    there, new = done.stdout.splitlines()
    assert there.startswith(("StoreReadOnly", "Unreachable"))
    assert "store.db" in there
    assert "Check " in there
    assert new.startswith("Unreachable")
    assert "make it writable" in new
    tmp_path.chmod(0o700)
    path.chmod(0o600)
    with open_store(path) as store:
        assert said(store, "talk") == ["x"]


@pytest.fixture
def as_nobody() -> list[str]:
    """How to start a program that permissions bind: as we are, or for root as someone else."""
    if os.getuid() != 0:
        return []
    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    try:
        tried = subprocess.run([*other, sys.executable, "-c", "import clew"], cwd="/", capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("permissions do not bind root, and there is no setpriv to be someone else")
    if tried.returncode != 0:
        pytest.skip("permissions do not bind root, and no one else may read this Python")
    return other


# Someone else has it


def test_a_file_locked_by_another_process_is_busy_and_free_again_when_it_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store(Sqlite(path, wait=0.05), Files(tmp_path / "blobs"), lambda: Sqlite(path)) as store:
        session = store.open_session()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            for write in (lambda: store.append(session, [numbered("x", 0)]), lambda: store.spill("text")):
                with pytest.raises(StoreBusy, match=r"locked by another process .* Nothing was written; try again"):
                    write()
            assert store.messages(session) == []  # reading goes on beside a writer
            other.execute("ROLLBACK")
        store.append(session, [numbered("x", 0)])
        assert said(store, session) == ["x"]


def test_a_row_locked_by_another_client_is_busy_and_free_again_when_it_lets_go(postgres: str) -> None:
    with open_store(new_schema(postgres)) as store:
        session = store.open_session(id="talk")
        sql(store.database, "SET lock_timeout TO '50ms'")
        with closing(another_connection(store.database)) as other:
            other.execute("BEGIN")
            other.execute("SELECT 1 FROM conversation FOR UPDATE")
            with pytest.raises(StoreBusy, match=r"another writer was in the way .* Nothing was written; try again"):
                store.append(session, [numbered("x", 0)])
            other.execute("ROLLBACK")
        store.append(session, [numbered("x", 0)])
        assert said(store, session) == ["x"]


# A newer clew


def test_a_store_of_a_newer_clew_is_left_as_it_is(store_url: str) -> None:
    with open_store(store_url) as store:
        store.append(store.open_session(id="talk"), [numbered("x", 0)])
        with store.database.write() as work:
            work.run("INSERT INTO clew_schema VALUES (?, 0)", (VERSION + 1,))
    with pytest.raises(NewerSchema, match=rf"schema {VERSION + 1}, written by a newer clew.*use the newer clew"):
        open_store(store_url)
    # A store that was open when the newer clew came is not this one's to judge; opening is where it is refused.


# No such place


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite:///{folder}/no/such/store.db", "cannot be created: No such file.* Create the folder"),
        ("{folder}", "cannot be opened. Check that its folder"),
        ("mysql://user:secret@host/db", "mysql:// is not a store clew knows. Use sqlite:///"),
        ("sqlite:///:memory:", "a store needs a file to live in"),
        ("postgresql://user:secret@127.0.0.1:1/db", "server cannot be reached .* Check that it runs"),
        ("postgresql://user:secret@no-such-host.invalid/db", "server cannot be reached .* Check that it runs"),
    ],
)
def test_an_address_that_leads_nowhere_says_what_to_check_and_no_password(tmp_path: Path, url: str, words: str) -> None:
    with pytest.raises(Unreachable, match=words) as trouble:
        open_store(url.format(folder=tmp_path))
    assert "secret" not in str(trouble.value)


# A server that says no, or goes away


@pytest.fixture(scope="module")
def own_server() -> OwnServer:
    return OwnServer()


def test_a_wrong_password_is_told_without_it(own_server: OwnServer) -> None:
    with open_store(new_schema(own_server.url)) as store:
        sql(store.database, "DROP ROLE IF EXISTS guarded")
        sql(store.database, "CREATE ROLE guarded LOGIN PASSWORD 'right'")
    with own_server.asking_for_passwords("guarded"):
        url = own_server.url.replace("postgres:@", "guarded:wr0ng-secret@")
        assert "guarded" in url
        with pytest.raises(Unreachable, match="password authentication failed") as trouble:
            open_store(new_schema(url))
    assert "wr0ng-secret" not in str(trouble.value)


def test_an_account_that_may_not_write_is_told_so_and_nothing_is_empty(own_server: OwnServer) -> None:
    url = new_schema(own_server.url)
    with open_store(url) as store:
        session = store.open_session()
        store.append(session, [numbered("x", 0)])
        sql(store.database, "SET default_transaction_read_only TO on")
        with pytest.raises(StoreReadOnly, match=r"may not be written .* Check the rights"):
            store.append(session, [numbered("y", 0)])
        sql(store.database, "SET default_transaction_read_only TO off")
        store.append(session, [numbered("z", 0)])
        assert said(store, session) == ["x", "z"]


def test_a_server_that_goes_away_is_told_and_the_same_store_goes_on_when_it_is_back(own_server: OwnServer) -> None:
    with open_store(new_schema(own_server.url)) as store:
        session = store.open_session()
        store.append(session, [numbered("before", 0)])
        own_server.kill()
        for call in (
            lambda: store.append(session, [numbered("meanwhile", 0)]),
            lambda: store.messages(session),
            lambda: store.conversations(),
            lambda: store.spill("text"),
        ):
            with pytest.raises(Unreachable, match=r"server cannot be reached .* Check that it runs"):
                call()
        own_server.start()
        store.append(session, [numbered("after", 0)])
        assert said(store, session) == ["before", "after"]
        assert findings(store) == []


def test_a_connection_that_died_while_it_was_idle_costs_no_one_a_message(own_server: OwnServer) -> None:
    with open_store(new_schema(own_server.url)) as store:
        session = store.open_session()
        store.append(session, [numbered("before", 0)])
        own_server.kill_and_start()
        store.append(session, [numbered("after", 0)])  # the first that is heard of it
        assert said(store, session) == ["before", "after"]


# How it is looked at


def read_or_told(tmp_path: Path, data: bytes) -> str:
    """What becomes of reading the conversation in these bytes of a store: all of it, or `StoreDamaged`."""
    for old in tmp_path.glob("broken.db*"):
        old.unlink()
    path = tmp_path / "broken.db"
    path.write_bytes(data)
    wanted = [numbered("x", n) for n in range(200)]
    try:
        with open_store(path) as store:
            read = [said.message for said in store.history("talk")]
            seen = [said.message for said in store.messages("talk")]
    except StoreDamaged as damage:
        words = ("damaged", "Nothing was changed", "'clew doctor'")
        return "damaged" if all(word in str(damage) for word in words) else str(damage)
    return "all of it" if read == seen == wanted else f"{len(read)} messages, {len(seen)} seen"


def fill_up(store: Store, session: str) -> list[str]:
    """Write until the store says that it is full; the names of what it took."""
    kept: list[str] = []
    while len(kept) < 2_000:
        try:
            store.append(session, [numbered(f"n{len(kept)}", 5)])
        except StoreFull:
            break
        kept.append(f"n{len(kept)}")
    with pytest.raises(StoreFull, match=r"disk is full\. Nothing was half written; free some space"):
        store.append(session, [numbered("one more", 5)])
    assert kept
    return kept


def said(store: Store, session: str) -> list[str]:
    return [str(one.message["content"]).split()[0] for one in store.history(session)]


def limit(store: Store, pages: int) -> int:
    """Let the file have so many pages at most, or those it has."""
    assert isinstance(store.database, Sqlite)
    return int(store.database._writer.execute(f"PRAGMA max_page_count={pages}").fetchone()[0])


def sql(database: Database, statement: str) -> None:
    """On the connection that the next call will use."""
    from clew.store.postgres import Postgres

    assert isinstance(database, Postgres)
    database._idle[-1].execute(statement.encode())


def another_connection(database: Database) -> Any:
    import psycopg

    from clew.store.postgres import Postgres

    assert isinstance(database, Postgres)
    connection = psycopg.connect(database.url, autocommit=True)
    connection.execute(f'SET search_path TO "{database.schema}"'.encode())
    return connection

"""`clew doctor`: what is wrong is found, told with what to do, and mended where that can be."""

import json
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from clew import open_store
from tests.cli.kept import kept_family
from tests.cli.test_command_line import shell


@pytest.fixture
def doctor(run, family, monkeypatch):
    monkeypatch.setenv("CLEW_STORE_URL", family.url)
    run("search", "lamp")  # an index to look at
    return lambda *arguments, **given: run("doctor", *arguments, **given)


@pytest.fixture
def file(family):
    return Path(family.url.removeprefix("sqlite:///"))


def change(file, sql, *values):
    """What no clew would do."""
    with sqlite3.connect(file) as connection:
        connection.execute(sql, values)
    connection.close()


def test_a_whole_store_is_ok_in_every_check(doctor):
    result = doctor()
    assert result.exit_code == 0
    assert result.stdout.count(" ok ") == 6
    assert "!!" not in result.stdout
    assert "127 messages of 5 conversations" in result.stdout
    assert "up to date" in result.stdout
    document = json.loads(doctor("--json").stdout)
    assert (document["ok"], document["findings"], document["warnings"], document["repair"]) == (True, [], [], None)
    assert document["health"]["schema"] >= 2


def test_nothing_to_repair_makes_no_backup(doctor, file):
    result = doctor("--repair")
    assert result.exit_code == 0
    assert "no backup was made" in result.stdout
    assert list(file.parent.glob("*.backup-*")) == []


def test_a_broken_hash_is_told_and_mended_after_a_backup(doctor, file, family):
    change(file, "UPDATE message SET chain = X'00' WHERE place = 7 AND standing = 1")
    wrong = doctor()
    assert wrong.exit_code == 1
    assert f"{family.parser}: the running hash does not fit from message 7 on" in wrong.stdout
    assert "at stake:" in wrong.stdout
    assert "clew doctor --repair" in wrong.stdout
    assert list(file.parent.glob("*.backup-*")) == []

    mended = doctor("--repair")
    assert mended.exit_code == 0
    (backup,) = file.parent.glob("*.backup-*")
    assert f"kept in {backup}" in mended.stdout
    assert "the running hash was made again" in mended.stdout
    assert "all is well" in mended.stdout
    assert doctor().exit_code == 0
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_the_backup_is_of_before_and_goes_where_it_was_asked_to(doctor, file, tmp_path):
    change(file, "UPDATE message SET chain = X'00' WHERE place = 7 AND standing = 1")
    target = tmp_path / "kept.db"
    document = json.loads(doctor("--repair", "--backup", target, "--json").stdout)
    assert document["ok"]
    assert document["repair"]["kept"] == [str(target)]
    assert len(document["repair"]["found"]) == 1
    assert doctor("--store", target).exit_code == 1


def test_a_backup_never_overwrites(doctor, file, tmp_path):
    change(file, "UPDATE message SET chain = X'00' WHERE place = 7 AND standing = 1")
    target = tmp_path / "kept.db"
    target.write_text("precious")
    result = doctor("--repair", "--backup", target)
    assert result.exit_code == 1
    assert "Nothing was changed" in result.stderr
    assert target.read_text() == "precious"
    assert doctor().exit_code == 1
    assert doctor("--repair", "--backup", tmp_path / "nowhere" / "kept.db").exit_code == 1
    assert doctor("--backup", target).exit_code == 2


def test_a_changed_text_cannot_be_mended_and_stays_wrong(doctor, file, family):
    change(
        file, "UPDATE message SET body = ? WHERE place = 3 AND standing = 1", b'{"role":"assistant","content":"No."}'
    )
    result = doctor("--repair")
    assert result.exit_code == 1
    assert f"{family.parser}: message 3 was changed outside clew" in result.stdout
    assert "still wrong" in result.stdout
    assert "import its transcript again" in result.stdout
    document = json.loads(doctor("--json").stdout)
    assert {finding["kind"] for finding in document["findings"]} >= {"text"}


def test_a_lost_blob_is_told(doctor, file, family):
    (blob,) = file.with_name(file.name + "-blobs").glob(f"*/{family.blob}")
    blob.unlink()
    result = doctor()
    assert result.exit_code == 1
    assert family.blob in result.stdout


def test_an_index_that_is_not_what_the_log_says_is_made_again(doctor, file):
    index = file.with_name(file.name + "-index")
    with sqlite3.connect(index) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        counts = {name: connection.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0] for name in tables}
        connection.execute(f"DELETE FROM {max(counts, key=counts.get)}")
    connection.close()
    wrong = doctor()
    assert wrong.exit_code == 1
    assert "not so: the search index is what the log says" in wrong.stdout
    mended = doctor("--repair")
    assert mended.exit_code == 0
    assert "index: made again from 127 messages" in mended.stdout


def test_a_damaged_index_file_is_made_again(doctor, run, file):
    index = file.with_name(file.name + "-index")
    index.write_bytes(b"no database " * 1_000)
    wrong = doctor("--json")
    assert wrong.exit_code == 1
    assert [finding["kind"] for finding in json.loads(wrong.stdout)["findings"]] == ["index"]
    mended = doctor("--repair")
    assert mended.exit_code == 0, mended.output
    assert "its file could not be read and was removed" in mended.stdout
    assert json.loads(run("search", "callers", "--json").stdout)["total"] == 1


def test_an_index_of_another_shape_is_made_again(doctor, run, file):
    with sqlite3.connect(file.with_name(file.name + "-index")) as connection:
        connection.execute("DROP TABLE recall_state")
        connection.execute("CREATE TABLE recall_state (strange INTEGER)")
    connection.close()
    assert run("search", "lamp").exit_code == 1
    assert doctor().exit_code == 1
    mended = doctor("--repair")
    assert mended.exit_code == 0, mended.output
    assert json.loads(run("search", "callers", "--json").stdout)["total"] == 1


def test_a_damaged_store_is_told_and_what_can_be_read_is_saved(doctor, run, file, family):
    before = json.loads(run("sessions", "--json").stdout)["total"]
    _tear(file)
    torn = file.read_bytes()
    wrong = doctor()
    assert wrong.exit_code == 1
    assert "not so: the database's own structure is sound" in wrong.stdout
    assert "not looked at" in wrong.stdout
    assert file.read_bytes() == torn

    mended = doctor("--repair")
    assert "Traceback" not in mended.output
    (kept,) = [path for path in file.parent.glob("*.damaged-*") if not path.name.endswith(("-wal", "-shm"))]
    assert f"kept in {kept}" in mended.stdout
    assert kept.read_bytes() == torn
    assert "saved into a new file" in mended.stdout
    assert json.loads(run("sessions", "--json").stdout)["total"] == before
    assert run("search", "lamp").exit_code == 0


def test_a_file_that_is_nothing_of_a_store_is_left_as_it_is(doctor, run, tmp_path):
    path = tmp_path / "none.db"
    path.write_bytes(b"no database at all " * 500)
    wrong = run("doctor", "--store", path)
    assert wrong.exit_code == 1
    assert "not so: the database's own structure is sound" in wrong.stdout
    result = run("doctor", "--repair", "--store", path)
    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert path.read_bytes() == b"no database at all " * 500


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_a_file_that_others_may_read_is_warned_about_and_closed(doctor, file):
    file.chmod(0o644)
    warned = doctor()
    assert warned.exit_code == 0
    assert f"{file} may be read by others" in warned.stdout
    assert json.loads(doctor("--json").stdout)["warnings"]
    mended = doctor("--repair")
    assert mended.exit_code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "may be read by others" not in doctor().stdout


def test_who_holds_a_conversation_is_told(doctor, family):
    with open_store(family.url) as store, store.hold(family.parser):
        told = doctor().stdout
    assert f"{family.parser}: process {os.getpid()} on" in told
    assert "in use" not in doctor().stdout


def test_an_index_behind_is_not_wrong(doctor, family):
    with open_store(family.url) as store:
        store.append(family.local, [{"role": "user", "content": "And now?"}])
    result = doctor()
    assert result.exit_code == 0
    assert "1 message behind" in result.stdout


def test_a_newer_store_is_a_sentence(doctor, file):
    change(file, "INSERT INTO clew_schema VALUES (999, 0)")
    result = doctor("--repair", "--json")
    assert result.exit_code == 1
    assert "newer clew" in json.loads(result.stdout)["error"]


def test_both_databases_are_examined_and_mended(run, store_url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    family = kept_family(store_url)
    assert run("doctor", "--store", store_url).exit_code == 0
    with open_store(store_url) as store, store.database.write() as work:
        work.run("UPDATE message SET chain = ? WHERE place = 7 AND standing = 1", (b"\0",))
    assert run("doctor", "--store", store_url).exit_code == 1
    backup = tmp_path / "kept"
    mended = run("doctor", "--repair", "--backup", backup, "--store", store_url)
    assert mended.exit_code == 0, mended.output
    assert backup.exists()
    if "postgres" in store_url:  # a server's backup is a file of exports
        brought = json.loads(run("import", backup, "--store", f"{tmp_path}/other.db", "--json").stdout)
        assert family.parser in [row["conversation"] for row in brought["imported"]]
        assert len(brought["imported"]) == 5


def test_a_shell_sees_the_exit_code_and_no_traceback(family, file):
    change(file, "UPDATE message SET chain = X'00' WHERE place = 7 AND standing = 1")
    done = shell("doctor", CLEW_STORE_URL=family.url)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stdout


def _tear(file):
    """Overwrite a page in the middle of the messages."""
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        query = "SELECT pageno FROM dbstat WHERE name = 'content' AND pagetype = 'leaf' ORDER BY pageno"
        try:
            pages = [row[0] for row in connection.execute(query)]
        except sqlite3.OperationalError:
            pages = [connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'content'").fetchone()[0]]
    connection.close()
    with file.open("r+b") as opened:
        opened.seek((pages[len(pages) // 2] - 1) * size)
        opened.write(b"\xff" * size)

"""`clew sessions delete` and `prune`: what goes is said before and gone everywhere after."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from clew import open_store
from clew.runtime.care import back_up, backup_beside
from tests.cli.kept import kept_family
from tests.cli.test_command_line import CLEW, _read

PLANTED = "quartz-heron-7731"


@pytest.fixture
def sessions(run, family, monkeypatch):
    monkeypatch.setenv("CLEW_STORE_URL", family.url)
    return lambda *arguments, **given: run("sessions", *arguments, **given)


def ids(sessions):
    return {row["id"] for row in json.loads(sessions("--json").stdout)["conversations"]}


def test_a_dry_run_says_exactly_what_goes_and_removes_nothing(sessions, family):
    before = ids(sessions)
    result = sessions("delete", family.parser, "--dry-run")
    assert result.exit_code == 0
    assert "3 conversations (2 of them delegates): 125 messages" in result.stdout
    assert "1 blob of 134 KB that nothing else points to" in result.stdout
    assert f"1 branch of it stays and loses the beginning shared with what goes: {family.branch}." in result.stdout
    assert "Dry run: nothing was removed." in result.stdout
    assert ids(sessions) == before


def test_what_was_said_to_go_is_what_went(sessions, family):
    said = json.loads(sessions("delete", family.parser, "--dry-run", "--json").stdout)
    done = json.loads(sessions("delete", family.parser, "--yes", "--json").stdout)
    assert [row["id"] for row in said["goes"]] == [family.parser, family.delegate, family.deeper]
    assert done["removed"] == {
        "conversations": [family.parser, family.delegate, family.deeper],
        "messages": sum(row["stored_messages"] for row in said["goes"]),
        "blobs": said["blobs"]["count"],
    }
    assert ids(sessions) == {family.branch, family.local}


def test_no_byte_of_it_is_left_anywhere_beside_the_store(sessions, family):
    with open_store(family.url) as store:
        pointer = store.spill(f"{PLANTED} outside\n" * 10)
        store.append(family.parser, [{"role": "user", "content": f"{PLANTED} inside, see {pointer}"}])
        back_up(store, backup_beside(store, Path()))
    folder = Path(family.url.removeprefix("sqlite:///")).parent
    assert json.loads(sessions("show", family.parser, "--json").stdout)  # and the index has it
    assert _holding(folder)
    result = sessions("delete", family.parser, "--yes")
    assert "1 backup beside the store, which may still have it" in result.stdout
    assert "Removed: 3 conversations, 126 messages, 2 blobs." in result.stdout
    assert _holding(folder) == []


def test_a_reason_is_remembered(sessions, family):
    sessions("delete", family.local, "--yes", "--reason", "the keeper asked")
    result = sessions("show", family.local)
    assert result.exit_code == 1
    assert "was forgotten" in result.stderr
    assert "the keeper asked" in result.stderr


def test_without_a_person_to_ask_it_refuses(sessions, family):
    for more in ([], ["--json"]):
        result = sessions("delete", family.local, *more)
        assert result.exit_code == 2
        assert "--yes" in result.stderr
    assert family.local in ids(sessions)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize(("answer", "stays"), [(b"n\n", True), (b"y\n", False)])
def test_a_person_is_asked(sessions, family, answer, stays):
    terminal, end = os.openpty()
    environment = {**os.environ, "CLEW_STORE_URL": family.url}
    command = [*CLEW, "sessions", "delete", family.local]
    process = subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env=environment)
    os.close(end)
    seen = b""
    while b"for good?" not in seen:
        seen += _read(terminal)
    os.write(terminal, answer)
    while chunk := _read(terminal):
        seen += chunk
    os.close(terminal)
    assert process.wait() == (1 if stays else 0)
    assert b"Is the lamp lit" in seen
    assert (family.local in ids(sessions)) == stays


def test_several_are_removed_at_once_each_once(sessions, family):
    done = json.loads(
        sessions("delete", family.deeper, family.parser, family.local, family.local, "--yes", "--json").stdout
    )
    assert sorted(done["removed"]["conversations"]) == sorted(
        [family.parser, family.delegate, family.deeper, family.local]
    )
    assert ids(sessions) == {family.branch}


@pytest.mark.parametrize("order", [1, -1])
def test_a_delegate_goes_with_its_family_whichever_is_named_first(sessions, family, order):
    names = [family.deeper, family.parser][::order]
    done = json.loads(sessions("delete", *names, "--yes", "--json").stdout)
    assert done["removed"]["conversations"] == [family.parser, family.delegate, family.deeper]


def test_big_output_that_another_conversation_points_to_stays(sessions, family):
    with open_store(family.url) as store:
        store.append(family.local, [{"role": "user", "content": f"I read blob:{family.blob} too"}])
    done = json.loads(sessions("delete", family.parser, "--yes", "--json").stdout)
    assert (done["blobs"], done["removed"]["blobs"]) == ({"count": 0, "bytes": 0}, 0)
    with open_store(family.url) as store:
        assert store.read_blob(family.blob)


def test_one_unknown_id_removes_nothing(sessions, family):
    result = sessions("delete", family.local, "nothing", "--yes")
    assert result.exit_code == 1
    assert family.local in ids(sessions)


def test_prune_takes_what_was_not_active_for_long(sessions, family):
    _age(family, family.local, days=40)
    listed = json.loads(sessions("prune", "--older-than", 30, "--dry-run", "--json").stdout)
    assert [row["id"] for row in listed["goes"]] == [family.local]
    assert listed["goes"][0]["bytes"] > 30
    result = sessions("prune", "--older-than", 30, "--yes")
    assert "Removed: 1 conversation, 1 message, 0 blobs." in result.stdout
    assert family.local not in ids(sessions)
    assert len(ids(sessions)) == 4
    again = sessions("prune", "--older-than", 30)
    assert again.exit_code == 0
    assert "Nothing to remove." in again.stdout


def test_a_conversation_stays_while_a_delegate_of_it_is_at_work(sessions, family):
    _age(family, family.parser, days=40)
    _age(family, family.delegate, days=40)
    assert json.loads(sessions("prune", "--older-than", 30, "--dry-run", "--json").stdout)["goes"] == []
    _age(family, family.deeper, days=40)
    goes = json.loads(sessions("prune", "--older-than", 30, "--dry-run", "--json").stdout)["goes"]
    assert [row["id"] for row in goes] == [family.parser, family.delegate, family.deeper]


def test_prune_can_be_narrowed_to_a_source(sessions, family):
    goes = json.loads(sessions("prune", "--older-than", 0, "--source", "cli", "--dry-run", "--json").stdout)["goes"]
    assert [row["id"] for row in goes] == [family.local]


def test_prune_removes_big_output_that_nothing_points_to(sessions, family):
    with open_store(family.url) as store:
        name = store.spill("never pointed to " * 100).removeprefix("blob:")
        with store.database.write() as work:
            work.run("UPDATE blob SET at = ? WHERE name = ?", (time.time() - 3 * 86_400, name))
    assert "1 blob that nothing points to." in sessions("prune", "--older-than", 30, "--dry-run").stdout
    assert json.loads(sessions("prune", "--older-than", 30, "--dry-run", "--json").stdout)["loose_blobs"] == [name]
    assert "0 messages, 1 blob." in sessions("prune", "--older-than", 30, "--yes").stdout
    assert json.loads(sessions("prune", "--older-than", 30, "--dry-run", "--json").stdout)["loose_blobs"] == []


def test_prune_wants_to_know_how_old(sessions):
    assert sessions("prune").exit_code == 2
    assert sessions("prune", "--older-than", -1).exit_code == 2


def test_both_databases_forget(run, store_url):
    family = kept_family(store_url)
    said = json.loads(run("sessions", "delete", family.parser, "--dry-run", "--json", "--store", store_url).stdout)
    done = json.loads(run("sessions", "delete", family.parser, "--yes", "--json", "--store", store_url).stdout)
    assert done["removed"]["messages"] == sum(row["stored_messages"] for row in said["goes"]) == 125
    assert done["removed"]["blobs"] == said["blobs"]["count"] == 1
    assert json.loads(run("search", "great", "--store", store_url, "--json").stdout)["total"] == 0


def _holding(folder):
    return [path for path in folder.rglob("*") if path.is_file() and PLANTED.encode() in path.read_bytes()]


def _age(family, conversation, *, days):
    """As if everything in it had been said that long ago."""
    with open_store(family.url) as store, store.database.write() as work:
        work.run(
            "UPDATE message SET at = at - ? WHERE conversation = (SELECT number FROM conversation WHERE id = ?)",
            (days * 86_400, conversation),
        )

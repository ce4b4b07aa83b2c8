"""`clew import`: each conversation once, whatever it came as, and nothing lost when it is interrupted."""

import gzip
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from clew import open_store
from clew.wire.transcripts import read_transcript
from tests.cli.talks import SECRET, long_talk, written
from tests.cli.test_command_line import CLEW, shell

RECORDED = Path(__file__).resolve().parents[1] / "recorded" / "transcripts"


def messages_of(path):
    return list(read_transcript(path.read_bytes()).messages)


def home():
    return Path(os.environ["CLEW_HOME"])


def test_a_transcript_is_stored_told_and_searchable(run, talk):
    result = run("import", talk)
    assert result.exit_code == 0
    with open_store(home() / "store.db") as store:
        (about,) = store.conversations()
        assert [said.message for said in store.history(about.id)] == messages_of(talk)
        assert about.source == str(talk)
    assert f"{about.id}  184 messages, all new" in result.stdout
    assert "1 conversation, 184 new messages; 184 indexed." in result.stdout
    assert json.loads(run("search", "ship-3-7", "--json").stdout)["total"] == 1


def test_the_home_is_made_for_its_owner_only(run, talk):
    run("import", talk)
    assert stat.S_IMODE(home().stat().st_mode) == 0o700
    assert stat.S_IMODE((home() / "store.db").stat().st_mode) == 0o600


def test_a_second_import_adds_nothing_and_a_longer_version_adds_its_end(run, talk, tmp_path):
    first = json.loads(run("import", talk, "--json").stdout)["imported"][0]
    again = run("import", talk)
    assert "already there" in again.stdout
    assert "0 new messages" in again.stdout
    longer = written(tmp_path / "longer.jsonl", [*long_talk(), {"role": "assistant", "content": "It is lit."}])
    document = json.loads(run("import", longer, "--json").stdout)
    assert document["imported"][0]["conversation"] == first["conversation"]
    assert document["imported"][0]["added"] == document["added"] == 1


def test_all_five_kinds_are_told_apart_by_content(run):
    files = [
        RECORDED / name for name in ("anthropic.json", "claude_code.jsonl", "codex.jsonl", "hermes.json", "openai.json")
    ]
    document = json.loads(run("import", *files, "--json").stdout)
    assert [row["format"] for row in document["imported"]] == ["anthropic", "claude-code", "codex", "hermes", "openai"]
    assert document["failed"] == []
    assert len({row["conversation"] for row in document["imported"]}) == 5


def test_folders_patterns_gzip_and_standard_input_are_read(run, talk, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder / "one.jsonl", [{"role": "user", "content": "One?"}])
    (folder / "two.jsonl.gz").write_bytes(gzip.compress(b'{"role": "user", "content": "Two?"}\n'))
    (folder / "notes.txt").write_text("not looked at")
    document = json.loads(
        run(
            "import", folder, f"{tmp_path}/tal*.jsonl", "-", "--json", stdin=b'{"role": "user", "content": "Three?"}'
        ).stdout
    )
    assert [row["messages"] for row in document["imported"]] == [1, 1, 184, 1]
    assert document["imported"][-1]["source"] == "stdin"


def test_one_unreadable_file_does_not_stop_the_others_and_the_exit_code_tells(run, talk, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text('{"weather": "fog"}')
    result = run("import", tmp_path / "missing.json", bad, talk)
    assert result.exit_code == 1
    assert "there is no such file" in result.stderr
    assert "bad.json: no transcript" in result.stderr
    assert "2 of 3 files could not be imported" in result.stderr
    assert "184 messages, all new" in result.stdout
    document = json.loads(run("import", bad, talk, "--json").stdout)
    assert [row["source"] for row in document["failed"]] == [str(bad)]
    assert document["imported"][0]["added"] == 0


def test_damaged_lines_are_warned_about_and_the_rest_is_stored(run, talk):
    with talk.open("a") as file:
        file.write('{"role": "user", "content": "cut o\n')
    result = run("import", talk)
    assert result.exit_code == 0
    assert "line 185" in result.stderr
    assert "184 messages, all new" in result.stdout


def test_what_clew_exported_comes_back_exactly(run, family, tmp_path):
    out = tmp_path / "parser.jsonl"
    run("sessions", "export", family.parser, "-o", out, "--store", family.url)
    document = json.loads(run("import", out, "--json").stdout)
    assert [(row["conversation"], row["format"]) for row in document["imported"]] == [
        (family.parser, "clew-conversation")
    ]
    with open_store(family.url) as old, open_store(home() / "store.db") as new:
        for session in old.sessions(family.parser):
            assert new.session(session.id) == session
            seen = [[said.message for said in store.messages(session.id)] for store in (old, new)]
            assert seen[0] == seen[1]
        assert new.spent(conversation=family.parser) == old.spent(conversation=family.parser)
        assert new.read_blob(family.blob) == old.read_blob(family.blob)
    assert "already there" in run("import", out).stdout


def test_several_exports_in_one_file_are_all_taken_in(run, family, tmp_path):
    out = tmp_path / "backup.jsonl.gz"
    parts = [
        run("sessions", "export", name, "--store", family.url).stdout_bytes for name in (family.parser, family.local)
    ]
    out.write_bytes(gzip.compress(b"".join(parts)))
    document = json.loads(run("import", out, "--json").stdout)
    assert [row["conversation"] for row in document["imported"]] == [family.parser, family.local]


def test_a_damaged_export_is_taken_whole_or_not_at_all(run, family, tmp_path):
    lines = run("sessions", "export", family.local, "--store", family.url).stdout_bytes.splitlines()
    out = tmp_path / "damaged.jsonl"
    for bad in ([lines[0], lines[1][:20], *lines[2:]], [lines[0], b'{"message": {"role": "user"}}', *lines[2:]]):
        out.write_bytes(b"\n".join(bad))
        result = run("import", out)
        assert result.exit_code == 1
        assert "damaged" in result.stderr
        assert json.loads(run("sessions", "--json").stdout)["total"] == 0


def test_tags_are_added_to_those_there_are(run, talk):
    run("import", talk, "--tag", "lamp", "--tag", "fog")
    run("import", talk, "--tag", "fog", "--tag", "sea")
    assert json.loads(run("sessions", "--json").stdout)["conversations"][0]["tags"] == ["lamp", "fog", "sea"]


def test_no_credential_is_told(run, talk, tmp_path):
    named = written(tmp_path / f"{SECRET}.jsonl", [{"role": "user", "content": SECRET}])
    for result in (run("import", talk, named), run("import", talk, named, "--json")):
        assert SECRET not in result.output


def test_a_place_that_cannot_be_is_a_sentence(run, talk, tmp_path):
    for url in (tmp_path / "nowhere" / "store.db", "mysql://here", "postgresql://[", tmp_path):
        result = run("import", talk, "--store", url, "--json")
        assert result.exit_code == 1
        assert result.stderr.startswith("Error: ")
        assert json.loads(result.stdout)["error"]


def test_it_works_on_both_databases(run, talk, store_url):
    assert "184 messages, all new" in run("import", talk, "--store", store_url).stdout
    assert "already there" in run("import", talk, "--store", store_url).stdout
    assert json.loads(run("search", "lamp", "--store", store_url, "--json").stdout)["total"] == 2


def test_a_wrong_password_is_not_told(run, talk):
    result = run("import", talk, "--store", "postgresql://keeper:Foghorn-4711@127.0.0.1:1/none")
    assert result.exit_code == 1
    assert "Foghorn" not in result.output


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_ctrl_c_leaves_what_was_stored_whole_and_a_second_run_goes_on(talk, tmp_path):
    # The second file is a standard input that never ends: the first is stored before it is waited for.
    environment = {**os.environ, "CLEW_HOME": str(tmp_path / "home"), "CLEW_STORE_URL": ""}
    process = subprocess.Popen(
        [*CLEW, "import", str(talk), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    with process.stdin, process.stdout, process.stderr:
        assert b"184 messages" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
        process.wait()
    assert process.returncode == 130
    assert b"Traceback" not in told
    assert b"interrupted" in told
    again = shell("import", talk, CLEW_HOME=str(tmp_path / "home"), CLEW_STORE_URL="")
    assert b"already there" in again.stdout


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_ctrl_c_in_the_middle_of_a_conversation_keeps_its_beginning(talk, tmp_path):
    # A process of its own that interrupts itself after the first transaction of the import.
    code = (
        "import os, signal\nimport clew.runtime.importing as importing\n"
        "importing.AT_ONCE = 50\n"
        "from clew.store.store import Store\nappend = Store.append\n"
        "def once(self, *given):\n"
        "    done = append(self, *given)\n    os.kill(os.getpid(), signal.SIGINT)\n    return done\n"
        "Store.append = once\nfrom clew.cli.main import main\nmain()"
    )
    environment = {**os.environ, "CLEW_HOME": str(tmp_path / "home"), "CLEW_STORE_URL": ""}
    command = [sys.executable, "-c", code, "import", str(talk)]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 130
    assert b"Traceback" not in done.stderr
    with open_store(tmp_path / "home" / "store.db") as store:
        (about,) = store.conversations()
        assert [said.message for said in store.history(about.id)] == messages_of(talk)[:50]
    again = shell("import", talk, CLEW_HOME=str(tmp_path / "home"), CLEW_STORE_URL="")
    assert b"184 messages, 134 new" in again.stdout

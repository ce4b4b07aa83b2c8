"""`clew compact`: what it writes, what it shows, how it refuses."""

import gzip
import json

import pytest

from clew import validate_messages
from tests.cli.talks import SECRET, long_talk, written

WINDOW = ("--context-length", 32_000)


def test_the_compacted_messages_go_to_the_file_and_the_table_to_stdout(run, talk, tmp_path):
    out = tmp_path / "small.json"
    result = run("compact", talk, "-o", out, *WINDOW)
    assert result.exit_code == 0
    messages = json.loads(out.read_text("utf-8"))
    assert validate_messages(messages) == []
    assert messages[-1] == {"role": "user", "content": "Now light the lamp."}
    assert len(messages) < len(long_talk()) / 2
    assert "summed up" in result.stdout
    assert str(out) in result.stdout
    assert result.stderr == ""


def test_without_a_file_the_messages_are_all_of_stdout_and_the_table_is_on_stderr(run, talk, tmp_path):
    out = tmp_path / "small.json"
    run("compact", talk, "-o", out, *WINDOW)
    result = run("compact", talk, *WINDOW)
    assert result.exit_code == 0
    assert result.stdout_bytes == out.read_bytes()
    assert "summed up" in result.stderr


def test_a_dash_for_the_file_is_stdout_too(run, talk, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("compact", talk, "-o", "-", *WINDOW).stdout_bytes == run("compact", talk, *WINDOW).stdout_bytes
    assert list(tmp_path.iterdir()) == [talk]


def test_a_dry_run_shows_the_table_and_the_summarys_opening_and_writes_nothing(run, talk, tmp_path):
    before = talk.read_bytes()
    result = run("compact", talk, "-o", tmp_path / "small.json", "--dry-run", *WINDOW)
    assert result.exit_code == 0
    assert "## Active Task\n> Now light the lamp." in result.stdout
    assert "tool results" in result.stdout
    assert list(tmp_path.iterdir()) == [talk]
    assert talk.read_bytes() == before


def test_the_account_adds_up(run, talk):
    document = json.loads(run("compact", talk, "--json", *WINDOW).stdout)
    history = long_talk()
    assert sum(row["before"]["messages"] for row in document["kinds"]) == len(history)
    assert sum(row["after"]["messages"] for row in document["kinds"]) == len(document["messages"])
    assert sum(row["before"]["tokens"] for row in document["kinds"]) == document["tokens_before"]
    assert sum(row["after"]["tokens"] for row in document["kinds"]) == document["tokens_after"]
    assert {row["name"]: row["before"]["messages"] for row in document["tools"]} == {"look": 30, "read_log": 30}
    assert sorted([*document["kept"], *document["dropped"]]) == list(range(len(history)))


def test_the_cuts_cover_the_conversation_from_end_to_end(run, talk):
    document = json.loads(run("compact", talk, "--json", *WINDOW).stdout)
    places = [place for cut in document["cuts"] for place in range(cut["first"], cut["last"] + 1)]
    assert places == list(range(len(long_talk())))
    assert {cut["fate"] for cut in document["cuts"]} == {"kept", "summed up"}
    summed_up = [cut for cut in document["cuts"] if cut["fate"] == "summed up"]
    assert sum(cut["last"] - cut["first"] + 1 for cut in summed_up) == len(document["dropped"])


def test_json_is_one_document_that_names_the_file_it_wrote(run, talk, tmp_path):
    out = tmp_path / "small.json"
    document = json.loads(run("compact", talk, "-o", out, "--json", *WINDOW).stdout)
    assert document["output"] == str(out)
    assert "messages" not in document
    assert document["context_length"] == 32_000
    assert document["tokens_after"] < document["trigger"] <= document["tokens_before"]
    assert document["summary"].startswith("## Active Task")
    assert document["problems"] == []


def test_focus_reaches_the_summary(run, talk):
    plain = json.loads(run("compact", talk, "--json", *WINDOW).stdout)["summary"]
    about = json.loads(run("compact", talk, "--json", "--focus", "ship-3-7", *WINDOW).stdout)["summary"]
    assert about != plain


def test_nothing_shown_holds_a_credential_and_what_stays_is_kept_to_the_letter(run, talk, tmp_path):
    out = tmp_path / "small.json"
    shown = run("compact", talk, "-o", out, *WINDOW).output + run("compact", talk, "--dry-run", *WINDOW).output
    document = json.loads(run("compact", talk, "-o", out, "--json", *WINDOW).stdout)
    assert SECRET not in shown
    assert SECRET not in json.dumps(document)
    assert f"Noted with {SECRET}." in [message["content"] for message in json.loads(out.read_text("utf-8"))]


def test_no_escape_sequence_of_a_conversation_reaches_the_terminal(run, talk):
    assert "\x1b" not in run("compact", talk, "--dry-run", *WINDOW).output


def test_a_short_conversation_stays_as_it_is_and_the_table_says_why(run, tmp_path):
    messages = [{"role": "user", "content": "Is the lamp lit?"}, {"role": "assistant", "content": "It is."}]
    result = run("compact", written(tmp_path / "short.jsonl", messages))
    assert json.loads(result.stdout) == messages
    assert "protected head and tail" in result.stderr
    assert "would not have compacted it yet" in result.stderr


def test_standard_input_is_read_for_a_dash(run, talk):
    result = run("compact", "-", *WINDOW, stdin=talk.read_bytes())
    assert result.stdout_bytes == run("compact", talk, *WINDOW).stdout_bytes


def test_a_gzip_file_is_read_whatever_its_name(run, talk, tmp_path):
    packed = tmp_path / "talk.recorded"
    packed.write_bytes(gzip.compress(talk.read_bytes()))
    assert run("compact", packed, *WINDOW).stdout_bytes == run("compact", talk, *WINDOW).stdout_bytes


def test_a_damaged_gzip_file_is_a_sentence(run, talk, tmp_path):
    packed = tmp_path / "talk.gz"
    packed.write_bytes(gzip.compress(talk.read_bytes())[:-100])
    result = run("compact", packed)
    assert result.exit_code == 1
    assert "gzip file is damaged" in result.stderr


def test_damaged_lines_are_listed_up_to_five_and_the_rest_is_used(run, talk):
    lines = talk.read_text("utf-8").splitlines()
    talk.write_text("\n".join([*lines[:2], *(['{"role": "user", "content": "cut o'] * 7), *lines[2:]]), "utf-8")
    result = run("compact", talk, "--json", *WINDOW)
    assert result.exit_code == 0
    told = result.stderr.splitlines()
    assert [line for line in told if "line 3:" in line]
    assert len(told) == 6
    assert "7 problems" in told[-1]
    assert json.loads(result.stdout)["kept"][-1] == len(lines) - 1


def test_the_input_is_not_overwritten_unless_forced(run, talk):
    before = talk.read_bytes()
    refused = run("compact", talk, "-o", talk, *WINDOW)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert talk.read_bytes() == before
    assert run("compact", talk, "-o", talk, "--force", *WINDOW).exit_code == 0
    assert len(json.loads(talk.read_text("utf-8"))) < len(long_talk())


def test_the_input_is_known_behind_a_link_too(run, talk, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(talk)
    assert run("compact", talk, "-o", link, *WINDOW).exit_code == 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.json", None, "there is no such file"),
        ("empty.json", b"", "an empty file"),
        ("binary.bin", bytes(range(256)) * 4, "no transcript"),
        ("other.json", b'{"weather": "fog"}', "no transcript"),
    ],
)
def test_what_is_no_transcript_ends_in_a_sentence_and_exit_code_1(run, tmp_path, name, content, said):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    result = run("compact", path)
    assert result.exit_code == 1
    assert said in result.stderr
    assert name in result.stderr
    assert result.stdout == ""


def test_a_failure_is_a_document_for_who_reads_json(run, tmp_path):
    result = run("compact", tmp_path / "missing.json", "--json")
    assert result.exit_code == 1
    assert "there is no such file" in json.loads(result.stdout)["error"]


def test_a_folder_is_not_a_transcript(run, talk):
    result = run("compact", talk.parent)
    assert result.exit_code == 1
    assert "folder" in result.stderr


@pytest.mark.parametrize("name", ["a" * 5_000, "*" * 5_000, ""], ids=["long", "pattern", "empty"])
def test_a_path_that_cannot_exist_is_a_sentence(run, talk, tmp_path, name):
    for command in (("compact", name), ("compact", name, "-o", tmp_path / "out.json"), ("replay", name)):
        result = run(*command)
        assert result.exit_code == 1
        assert result.stderr.startswith("Error: ")
    assert run("compact", talk, "-o", name or ".").exit_code in (1, 2)


def test_an_unknown_engine_is_a_usage_error_that_lists_what_there_is(run, talk):
    result = run("compact", talk, "--engine", "steam")
    assert result.exit_code == 2
    assert "'steam'" in result.stderr
    assert "compressor" in result.stderr


def test_a_window_too_small_is_a_usage_error_that_says_what_would_do(run, talk):
    result = run("compact", talk, "--context-length", 100)
    assert result.exit_code == 2
    assert "8000" in result.stderr


def test_a_place_that_cannot_be_written_is_refused_before_the_work(run, talk, tmp_path):
    result = run("compact", talk, "-o", tmp_path / "nowhere" / "small.json")
    assert result.exit_code == 1
    assert "there is no folder" in result.stderr
    assert run("compact", talk, "-o", tmp_path).exit_code == 2


def test_no_file_at_all_is_a_usage_error(run):
    assert run("compact").exit_code == 2


def test_many_tools_are_summed_in_one_row_and_none_is_lost(run, tmp_path):
    messages = [{"role": "user", "content": "Look at everything."}]
    for number in range(20):
        call = {"id": f"c{number}", "type": "function", "function": {"name": f"tool_{number:02}", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "seen " * (40 - number)})
    result = run("compact", written(tmp_path / "tools.jsonl", messages), "--dry-run")
    assert "tool_11" in result.stdout
    assert "tool_12" not in result.stdout
    assert "8 other tools" in result.stdout
    document = json.loads(run("compact", tmp_path / "tools.jsonl", "--dry-run", "--json").stdout)
    assert len(document["tools"]) == 20


def test_a_credential_in_a_path_is_not_shown(run, tmp_path):
    result = run("compact", tmp_path / f"{SECRET}.json")
    assert result.exit_code == 1
    assert SECRET not in result.stderr

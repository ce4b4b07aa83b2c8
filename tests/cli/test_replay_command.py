"""`clew replay`: what it measures, what it shows, how it goes on after a failure."""

import json

import pytest

import clew.cli.outcome as outcome_module
from clew.cli.documents import replay_document
from clew.cli.outcome import Outcome
from clew.cli.recordings import Recording
from clew.cli.report import page
from clew.runtime.replay import Event, Point, Replayed
from clew.wire.transcripts import Transcript
from tests.cli.talks import SECRET, long_talk, written

WINDOW = ("--context-length", 32_000)


@pytest.fixture(scope="module")
def sample():
    from click.testing import CliRunner

    from clew.cli.main import clew

    result = CliRunner().invoke(clew, ["replay", "--sample", "--json"])
    assert result.exit_code == 0
    [conversation] = json.loads(result.stdout)["conversations"]
    return conversation


def test_the_sample_stays_inside_its_window(sample):
    assert sample["window"] == 64_000
    assert sample["tokens"] > 3 * sample["window"]
    assert sample["peak"] < sample["window"]
    assert sample["peak"] == max(point["prompt"] for point in sample["points"])
    assert sample["messages"] == 509


def test_the_sample_sends_less_than_it_would_have_without_compaction(sample):
    assert sample["sent"] == sum(point["prompt"] for point in sample["points"])
    assert sample["sent_without_compaction"] == sum(point["whole"] for point in sample["points"])
    assert sample["sent"] < sample["sent_without_compaction"] / 3


def test_each_compaction_of_the_sample_is_due_and_makes_room(sample):
    assert sample["compactions"]
    for event in sample["compactions"]:
        assert event["after"] < event["before"]
        assert event["kept"]
        assert event["dropped"]
        assert 0 < event["summary_tokens"] < event["after"]
        assert sample["points"][event["call"]]["prompt"] < sample["trigger"]


def test_the_sample_says_where_it_comes_from_and_names_the_report(run):
    result = run("replay", "--sample")
    assert result.exit_code == 0
    assert "recorded session of the public repository entireio/cli (MIT), Claude Code" in result.stdout
    assert "--report OUT.html" in result.stdout
    assert result.stderr == ""


def test_the_table_shows_the_window_and_one_row_for_each_compaction(run, talk):
    document = json.loads(run("replay", talk, "--json", *WINDOW).stdout)["conversations"][0]
    result = run("replay", talk, *WINDOW)
    assert result.exit_code == 0
    assert f"{document['tokens']:,} tokens" in result.stdout
    for event in document["compactions"]:
        row = [event[key] for key in ("message", "before", "after", "kept", "dropped", "shortened", "summary_tokens")]
        assert [f"{number:,}" for number in row] in [line.split() for line in result.stdout.splitlines()]
    drawn = [line for line in result.stdout.splitlines() if "█" in line or "┄" in line or "▲" in line]
    assert any("▲" in line for line in drawn)
    assert max(map(len, drawn)) <= 80


def test_a_pipe_gets_no_colour_and_no_progress_bar(run, talk):
    result = run("replay", talk, *WINDOW)
    assert "\x1b" not in result.output
    assert result.stderr == ""


def test_a_failing_file_is_reported_and_the_others_go_on(run, talk, tmp_path):
    (tmp_path / "bad.json").write_text("fog")
    result = run("replay", tmp_path / "missing.json", tmp_path / "bad.json", talk, *WINDOW)
    assert result.exit_code == 1
    assert "missing.json: there is no such file" in result.stderr
    assert "bad.json: no transcript" in result.stderr
    assert "2 of 3 conversations" in result.stderr
    assert "heaviest prompt" in result.stdout


def test_failures_are_in_the_document_too(run, talk, tmp_path):
    result = run("replay", tmp_path / "missing.json", talk, "--json", *WINDOW)
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [failed["source"] for failed in document["failed"]] == [str(tmp_path / "missing.json")]
    assert [one["source"] for one in document["conversations"]] == [str(talk)]


def test_an_engine_that_breaks_costs_one_conversation_and_not_the_others(run, talk, tmp_path, monkeypatch):
    other = written(tmp_path / "other.jsonl", long_talk(3))
    real = outcome_module.replay

    def breaks_once(messages, **options):
        monkeypatch.setattr(outcome_module, "replay", real)
        raise ZeroDivisionError("in the engine")

    monkeypatch.setattr(outcome_module, "replay", breaks_once)
    result = run("replay", talk, other, "--json")
    assert result.exit_code == 1
    assert "ZeroDivisionError" in result.stderr
    assert [one["source"] for one in json.loads(result.stdout)["conversations"]] == [str(other)]


def test_a_folder_and_a_pattern_stand_for_the_transcripts_in_them(run, tmp_path):
    (tmp_path / "deep").mkdir()
    first = written(tmp_path / "a.jsonl", long_talk(2))
    second = written(tmp_path / "deep" / "b.jsonl", long_talk(2))
    (tmp_path / "notes.txt").write_text("no transcript")

    def sources(name):
        return [one["source"] for one in json.loads(run("replay", name, "--json").stdout)["conversations"]]

    assert sources(tmp_path) == [str(first), str(second)]
    assert sources(f"{tmp_path}/**/*.jsonl") == [str(first), str(second)]
    assert sources(f"{tmp_path}/*.jsonl") == [str(first)]


def test_a_folder_without_transcripts_and_a_pattern_without_files_are_failures(run, tmp_path):
    assert "for .json" in run("replay", tmp_path).stderr
    assert "no such file" in run("replay", f"{tmp_path}/*.jsonl").stderr
    assert run("replay", f"{tmp_path}/*.jsonl").exit_code == 1


def test_several_conversations_end_in_one_table(run, talk, tmp_path):
    written(tmp_path / "other.jsonl", long_talk(3))
    result = run("replay", tmp_path)
    rows = [line for line in result.stdout.splitlines() if line.rstrip().endswith("×") and "jsonl" in line]
    assert len(rows) == 2


def test_ctrl_c_keeps_what_was_done_and_ends_with_130(run, talk, tmp_path, monkeypatch):
    other = written(tmp_path / "other.jsonl", long_talk(3))
    real = outcome_module.replay

    def interrupted_at_the_second(messages, **options):
        if len(messages) == len(long_talk(3)):
            raise KeyboardInterrupt
        return real(messages, **options)

    monkeypatch.setattr(outcome_module, "replay", interrupted_at_the_second)
    result = run("replay", talk, other, "--json", *WINDOW)
    assert result.exit_code == 130
    document = json.loads(result.stdout)
    assert document["interrupted"] is True
    assert [one["source"] for one in document["conversations"]] == [str(talk)]
    assert "interrupted after 1 of 2" in result.stderr


def test_a_conversation_without_any_reply_has_nothing_to_draw(run, tmp_path):
    result = run("replay", written(tmp_path / "one.jsonl", [{"role": "user", "content": "Anyone there?"}]))
    assert result.exit_code == 0
    assert "┄" not in result.stdout


def test_standard_input_is_read_for_a_dash(run, talk):
    [conversation] = json.loads(run("replay", "-", "--json", *WINDOW, stdin=talk.read_bytes()).stdout)["conversations"]
    assert conversation["source"] == "stdin"
    assert conversation["compactions"]


def test_nothing_shown_holds_a_credential(run, talk):
    assert SECRET not in run("replay", talk, *WINDOW).output
    assert SECRET not in run("replay", talk, "--json", *WINDOW).output


def test_a_summary_that_an_engine_did_not_redact_is_redacted_on_the_way_out():
    event = Event(0, 0, 600, 100, 1, 1, 0, f"## Goal\nUse {SECRET}.")
    done = Replayed(1_000, 500, 1, 600, (Point(0, 100, 600),), (event,), (f"told {SECRET}",), 0, ())
    outcome = Outcome(Recording("talk", Transcript((), "openai")), done, [], [9], 0.1)
    assert SECRET not in json.dumps(replay_document(outcome))
    assert "[REDACTED]" in replay_document(outcome)["compactions"][0]["summary"]
    assert SECRET not in page([outcome])


def test_a_system_prompt_that_leaves_no_room_is_a_failure_of_that_file(run, tmp_path):
    messages = [{"role": "system", "content": "Rules of the house. " * 3_000}, *long_talk(2)[1:]]
    result = run("replay", written(tmp_path / "heavy.jsonl", messages), "--context-length", 16_000)
    assert result.exit_code == 1
    assert "shorter system prompt" in result.stderr


def test_damage_in_a_file_is_told_on_stderr(run, talk):
    talk.write_text("fog\n" + talk.read_text("utf-8"), "utf-8")
    result = run("replay", talk, "--json", *WINDOW)
    assert result.exit_code == 0
    assert "line 1:" in result.stderr
    assert json.loads(result.stdout)["conversations"][0]["problems"][0]["line"] == 1


@pytest.mark.parametrize(
    "wrong", [(), ("--sample", "--engine", "steam"), ("--sample", "--context-length", "100"), ("--sample", "--fog")]
)
def test_wrong_usage_ends_with_2(run, wrong):
    result = run("replay", *wrong)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_a_report_without_a_place_is_refused_before_the_work(run, talk, tmp_path):
    result = run("replay", talk, "--report", tmp_path / "nowhere" / "r.html")
    assert result.exit_code == 1
    assert "there is no folder" in result.stderr
    assert result.stdout == ""

"""`clew sessions`: what is listed, shown, drawn, exported and taken back."""

import json
import re
import sqlite3

import pytest

from clew import open_store
from clew.store.sqlite import Sqlite
from tests.cli.kept import ROUNDS, kept_family
from tests.cli.talks import SECRET
from tests.cli.test_command_line import shell

MESSAGES = 4 * ROUNDS + 1


@pytest.fixture
def sessions(run, family, monkeypatch):
    """`sessions("show", id)` on the store of the family."""
    monkeypatch.setenv("CLEW_STORE_URL", family.url)
    return lambda *arguments, **given: run("sessions", *arguments, **given)


# list


def test_the_list_has_a_row_for_each_conversation_the_last_active_first(sessions, family):
    document = json.loads(sessions("list", "--json").stdout)
    ids = [row["id"] for row in document["conversations"]]
    assert ids == [family.local, family.parser, family.branch, family.deeper, family.delegate]
    assert document["total"] == 5
    parser = document["conversations"][1]
    assert (parser["messages"], parser["sessions"], parser["model"], parser["tags"]) == (MESSAGES, 3, "opus", ["work"])
    assert parser["spent"]["unpriced"] == 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", parser["active"])
    assert document["conversations"][3]["origin"] == "delegate"


def test_the_table_fits_80_columns_and_shows_what_matters(sessions, family):
    result = sessions()
    assert result.exit_code == 0
    assert all(len(line) <= 80 for line in result.stdout.splitlines())
    parser, second = _lines(result.stdout, family.parser)
    assert re.search(r"Port the parser \[REDA.* ≥ \$5\.67", parser)
    assert "121" in parser
    assert "3 sessions · opus" in second
    local, _ = _lines(result.stdout, family.local)
    assert "Is the lamp lit, and by whom?" in local  # no title: how the first question begins
    assert local.rstrip().endswith("?")  # a call without a price is not free
    assert "delegate" in _lines(result.stdout, family.deeper)[1]


def test_without_a_title_the_first_words_of_the_person_stand_for_it(run, tmp_path):
    with open_store(tmp_path / "store.db") as store:
        said = ("<system-reminder>Be kind.</system-reminder>", "Who lit the lamp?", "And when?")
        store.append(store.open_session(), [{"role": "user", "content": text} for text in said])
        store.append(store.open_session(), [{"role": "assistant", "content": "Nobody asked."}])
    rows = json.loads(run("sessions", "--store", tmp_path / "store.db", "--json").stdout)["conversations"]
    assert [row["title"] for row in rows] == ["(no title)", "Who lit the lamp?"]


def test_sessions_alone_lists_and_takes_the_lists_options(sessions):
    assert sessions().stdout == sessions("list").stdout
    assert json.loads(sessions("--json", "--limit", 2).stdout) == json.loads(
        sessions("list", "--json", "--limit", 2).stdout
    )
    assert "Usage: clew sessions" in sessions("--help").stdout


def test_a_limit_says_how_many_there_are(sessions):
    result = sessions("list", "--limit", 2)
    assert "2 of 5 conversations; 'clew sessions --all' lists every one." in result.stdout
    assert len(json.loads(sessions("list", "--limit", 1, "--all", "--json").stdout)["conversations"]) == 5


def test_an_empty_store_says_how_to_fill_it(run, tmp_path):
    with open_store(tmp_path / "empty.db"):
        pass
    result = run("sessions", "--store", tmp_path / "empty.db")
    assert result.exit_code == 0
    assert "clew import" in result.stdout


def test_reading_makes_no_store_where_there_is_none(run, tmp_path):
    for command in (["sessions"], ["sessions", "show", "last"], ["search", "lamp"], ["insights"], ["doctor"]):
        result = run(*command, "--store", tmp_path / "missing.db", "--json")
        assert result.exit_code == 1
        assert "there is no store" in json.loads(result.stdout)["error"]
    assert list(tmp_path.iterdir()) == []


# show


def test_messages_are_shown_with_role_tool_time_and_fold(sessions, family):
    shown = sessions("show", family.parser, "--limit", 4).stdout
    assert "goes on in" in shown
    assert re.search(r"#0 user · \d{4}-\d\d-\d\d \d\d:\d\d\n  Do step 0 with \[REDACTED\] \[31m\[bold\]\n", shown)
    assert re.search(r'#1 assistant .*\n  → read_file \{"path": "src/part0.py"', shown)
    assert "#2 tool read_file" in shown
    assert re.search(r"… [\d,]+ more characters; --full shows all", shown)
    assert "117 more messages: --from 4 shows the next" in shown
    assert "#4 " not in shown


def test_folding_says_exactly_how_much_is_missing(sessions, family):
    folded = sessions("show", family.parser, "--from", 2, "--limit", 1).stdout
    full = sessions("show", family.parser, "--from", 2, "--limit", 1, "--full").stdout
    left = int(re.search(r"… ([\d,]+) more characters", folded)[1].replace(",", ""))
    assert full.count("contents of part 0") == 100
    text = json.loads(sessions("show", family.parser, "--from", 2, "--limit", 1, "--json").stdout)["messages"][0][
        "text"
    ]
    begins = [
        line[2:] for line in folded.split("#2 tool")[1].split("\n")[1:] if line.startswith("  ") and "…" not in line
    ]
    assert len(text.strip("\n")) - len("\n".join(begins)) == left


def test_half_a_character_breaks_no_screen_and_no_document(sessions, family):
    with open_store(family.url) as store:
        store.append(family.local, [{"role": "user", "content": "half \ud83d of one"}])
    assert "half  of one" in sessions("show", family.local).stdout
    assert json.loads(sessions("show", family.local, "--json").stdout)["messages"][-1]["text"] == "half  of one"
    exported = json.loads(sessions("export", family.local, "--format", "openai").stdout)
    assert exported[-1]["content"] == "half \ud83d of one"
    lines = sessions("export", family.local).stdout.splitlines()
    assert json.loads(lines[2])["message"] == exported[-1]


def test_pages_follow_each_other_without_gap(sessions, family):
    places = []
    start = 0
    while True:
        page = json.loads(sessions("show", family.parser, "--from", start, "--limit", 50, "--json").stdout)
        places += [said["place"] for said in page["messages"]]
        if not page["left"]:
            break
        start = places[-1] + 1
    assert places == list(range(MESSAGES))
    assert [
        said["place"] for said in json.loads(sessions("show", family.parser, "--all", "--json").stdout)["messages"]
    ] == places


def test_a_negative_start_counts_from_the_end(sessions, family):
    page = json.loads(sessions("show", family.parser, "--from", -2, "--json").stdout)
    assert [said["place"] for said in page["messages"]] == [MESSAGES - 2, MESSAGES - 1]
    assert page["messages"][-1]["blobs"] == [{"name": family.blob, "bytes": len(_blob(family))}]
    assert f"blob:{family.blob}  " in sessions("show", family.parser, "--from", -2).stdout


def test_the_view_is_what_the_model_sees(sessions, family):
    with open_store(family.url) as store:
        seen = store.messages(family.parser)
    page = json.loads(sessions("show", family.parser, "--view", "--all", "--json").stdout)
    assert [said["seq"] for said in page["messages"]] == [said.seq for said in seen]
    assert page["messages"][0]["derived"]
    told = sessions("show", family.parser, "--view", "--limit", 2).stdout
    assert "summary by clew" in told
    assert "#0 user" in told
    first = json.loads(sessions("show", f"{family.parser}.0", "--view", "--json", "--all").stdout)
    assert len(first["messages"]) == 40


@pytest.mark.parametrize("number", ["", ".1"])
def test_any_unique_beginning_of_an_id_will_do(sessions, family, number):
    others = [family.branch, family.deeper, family.delegate, family.local]
    length = next(n for n in range(1, 40) if not any(other.startswith(family.parser[:n]) for other in others))
    document = json.loads(sessions("show", family.parser[:length] + number, "--json").stdout)
    assert document["conversation"]["id"] == family.parser


def test_last_is_the_one_last_active(sessions, family):
    assert json.loads(sessions("show", "last", "--json").stdout)["conversation"]["id"] == family.local


def test_an_ambiguous_id_lists_the_candidates(sessions, family):
    result = sessions("show", "2")
    assert result.exit_code == 1
    assert all(id_ in result.stderr for id_ in (family.parser, family.local, family.deeper))
    assert "Look for callers" in result.stderr
    assert SECRET not in result.stderr
    assert family.parser in json.loads(sessions("show", "2", "--json").stdout)["error"]


@pytest.mark.parametrize("command", ["show", "tree", "export", "undo", "delete"])
def test_an_unknown_id_is_a_sentence(sessions, family, command):
    for name in ("nothing", f"{family.parser}.99", ""):
        result = sessions(command, name)
        assert result.exit_code == 1
        assert result.stderr.startswith("Error: ")


def test_a_missing_id_is_a_usage_error(sessions):
    assert sessions("show").exit_code == 2
    assert sessions("delete").exit_code == 2


# tree


def test_the_tree_draws_the_chain_with_what_came_from_it(sessions, family):
    lines = sessions("tree", family.deeper).stdout.splitlines()
    text = "\n".join(lines)
    assert lines[0].startswith(f"{family.parser} Port the parser")
    assert re.search(r"├── \.0  ended: compression · model sees 40 · ", text)
    assert re.search(r"└── \.2  goes on · ", text)
    assert re.search(rf"├── \.1 .*\n│   └── delegate {family.delegate} Look for callers  ended: done ·", text)
    assert re.search(rf"│       └── delegate {family.deeper} Deeper still", text)
    assert re.search(rf"    └── branch {family.branch} The other way", text)
    assert family.local not in text
    assert all(len(line) <= 80 for line in lines)


def test_the_tree_of_everything_has_each_family_once(sessions, family):
    document = json.loads(sessions("tree", "--json").stdout)
    assert [root["id"] for root in document["families"]] == [family.local, family.parser]
    chain = document["families"][1]["chain"]
    assert [(part["end_reason"], part["messages_seen"]) for part in chain] == [
        ("compression", 40),
        ("compression", 45),
        (None, 46),
    ]
    children = [[child["id"] for child in part["children"]] for part in chain]
    assert children == [[], [family.delegate], [family.branch]]
    assert chain[1]["children"][0]["chain"][0]["children"][0]["id"] == family.deeper
    assert len(json.loads(sessions("tree", "--limit", 1, "--json").stdout)["families"]) == 1


def test_an_undone_compaction_is_seen_in_the_tree(sessions, family):
    sessions("undo", family.parser, "--compaction")
    text = sessions("tree", family.parser).stdout
    assert re.search(r"\.1  goes on", text)
    assert re.search(r"\.2  ended: undo", text)


# export


def test_openai_is_the_list_of_messages_to_the_letter(sessions, family):
    with open_store(family.url) as store:
        said = [stored.message for stored in store.history(family.parser)]
        seen = [stored.message for stored in store.messages(family.parser)]
    assert json.loads(sessions("export", family.parser, "--format", "openai").stdout) == said
    assert json.loads(sessions("export", family.parser, "--format", "openai", "--view").stdout) == seen


def test_the_export_goes_to_the_file(sessions, family, tmp_path):
    out = tmp_path / "out.jsonl"
    result = sessions("export", family.parser, "-o", out)
    assert f"{MESSAGES + 2} messages written to {out}" in result.stdout  # with the two summaries
    assert out.read_bytes() == sessions("export", family.parser).stdout_bytes
    document = json.loads(sessions("export", family.parser, "-o", out, "--json").stdout)
    assert (document["output"], document["conversation"]) == (str(out), family.parser)
    assert "lines" not in document


def test_a_redacted_export_has_no_credential_and_comes_back_whole(sessions, run, family, tmp_path):
    with open_store(family.url) as store:
        pointer = store.spill(f"log\n{SECRET}\n" * 10)
        store.append(family.parser, [{"role": "user", "content": f"see {pointer}", "password": "Foghorn-4711"}])
    out = tmp_path / "out.jsonl"
    sessions("export", family.parser, "-o", out, "--redact")
    assert SECRET not in out.read_text()
    assert "Foghorn-4711" not in out.read_text()
    assert "Foghorn-4711" in sessions("export", family.parser).stdout
    target = f"sqlite:///{tmp_path}/other.db"
    assert run("import", out, "--store", target).exit_code == 0
    with open_store(target) as other, open_store(family.url) as store:
        *_, last = other.history(family.parser)
        assert other.read_blob(last.blobs[0]).decode() == "log\n[REDACTED]\n" * 10
        assert len(list(other.history(family.parser))) == len(list(store.history(family.parser)))
        assert len(other.messages(family.parser)) == len(store.messages(family.parser))
    assert run("doctor", "--store", target).exit_code == 0
    openai = sessions("export", family.parser, "--format", "openai", "--redact").stdout
    assert SECRET not in openai
    assert len(json.loads(openai)) == MESSAGES + 1


def test_the_clew_format_has_no_view_and_a_bad_place_is_refused(sessions, family, tmp_path):
    assert sessions("export", family.parser, "--view").exit_code == 2
    result = sessions("export", family.parser, "-o", tmp_path / "nowhere" / "out.jsonl")
    assert result.exit_code == 1
    assert "there is no folder" in result.stderr


# undo


def test_undo_says_what_was_taken_back(sessions, family):
    result = sessions("undo", family.parser, "--turns", 2)
    assert result.exit_code == 0
    assert "Taken back, 5 messages:" in result.stdout
    assert "  #116 user: Do step 29 with [REDACTED]" in result.stdout
    assert "  #117 assistant:  → read_file" in result.stdout
    assert f"goes on in {family.parser}.2." in result.stdout
    with open_store(family.url) as store:
        assert len(list(store.history(family.parser))) == MESSAGES - 5


def test_undo_goes_across_compactions(sessions, family):
    document = json.loads(sessions("undo", family.parser, "--turns", 12, "--json").stdout)
    assert document["before"] == f"{family.parser}.2"
    assert document["session"] == f"{family.parser}.1"
    assert [said["place"] for said in document["taken_back"]][-1] == MESSAGES - 1


def test_undoing_a_compaction_takes_nothing_back(sessions, family):
    result = sessions("undo", family.parser, "--compaction")
    assert f"The compaction that opened {family.parser}.2 is undone." in result.stdout
    assert f"goes on in {family.parser}.1." in result.stdout
    with open_store(family.url) as store:
        assert len(list(store.history(family.parser))) == MESSAGES


def test_what_cannot_be_undone_is_a_sentence(sessions, family):
    for arguments in ((family.local, "--compaction"), (family.local, "--turns", 5)):
        result = sessions("undo", *arguments, "--json")
        assert result.exit_code == 1
        assert json.loads(result.stdout)["error"]
    assert sessions("undo", family.local, "--compaction", "--turns", 1).exit_code == 2
    assert sessions("undo", family.local, "--turns", 0).exit_code == 2


# all of them


def test_no_command_prints_a_credential_or_an_escape_sequence(sessions, run, family):
    commands = [
        ["sessions"],
        ["sessions", "show", family.parser, "--all", "--full"],
        ["sessions", "show", family.parser, "--all", "--view"],
        ["sessions", "tree"],
        ["sessions", "delete", family.parser, "--dry-run"],
        ["sessions", "prune", "--older-than", 0, "--dry-run"],
        ["sessions", "undo", family.parser],
        ["search", "step", "part", "--limit", 50, "--context", 3],
        ["search", "--", SECRET],
        ["insights"],
        ["insights", "--by", "conversation"],
        ["doctor"],
    ]
    for command in commands:
        for more in ([], ["--json"]):
            result = run(*command, *more)
            assert result.exit_code == 0, (command, result.output)
            assert SECRET not in result.output, command
            assert "\x1b" not in result.output, command
            assert "\\u001b" not in result.output, command


def test_both_databases_show_the_same(run, store_url):
    family = kept_family(store_url)
    shown = run("sessions", "show", family.parser, "--limit", 3, "--store", store_url)
    assert "#2 tool read_file" in shown.stdout
    assert "3 sessions" in run("sessions", "--store", store_url).stdout
    assert "ended: compression" in run("sessions", "tree", family.parser[:-1], "--store", store_url).stdout


def test_a_locked_store_is_a_sentence(sessions, family, monkeypatch):
    monkeypatch.setitem(Sqlite.__init__.__kwdefaults__, "wait", 0.05)
    other = sqlite3.connect(family.url.removeprefix("sqlite:///"), isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        result = sessions("undo", family.parser, "--json")
    finally:
        other.close()
    assert result.exit_code == 1
    assert "locked by another process" in json.loads(result.stdout)["error"]


def test_a_busy_conversation_is_a_sentence(sessions, family):
    with open_store(family.url) as store, store.hold(family.parser):
        result = sessions("undo", family.parser)
    assert result.exit_code == 1
    assert "another process" in result.stderr


def test_a_newer_store_is_a_sentence(sessions, family):
    with open_store(family.url) as store, store.database.write() as work:
        work.run("INSERT INTO clew_schema VALUES (999, 0)")
    result = sessions("--json")
    assert result.exit_code == 1
    assert "newer clew" in json.loads(result.stdout)["error"]


def test_a_file_that_is_no_store_is_a_sentence(run, tmp_path):
    path = tmp_path / "store.db"
    path.write_bytes(b"This is no database at all. " * 100)
    result = run("sessions", "--store", path, "--json")
    assert result.exit_code == 1
    assert "clew doctor" in json.loads(result.stdout)["error"]


def test_a_pipe_gets_no_colour_and_a_mistake_no_traceback(family):
    shown = shell("sessions", CLEW_STORE_URL=family.url)
    assert shown.returncode == 0
    assert b"\x1b" not in shown.stdout
    wrong = shell("sessions", "show", "nothing", CLEW_STORE_URL=family.url)
    assert wrong.returncode == 1
    assert b"Traceback" not in wrong.stderr


def _lines(table, id_):
    lines = table.splitlines()
    place = next(place for place, line in enumerate(lines) if id_ in line)
    return lines[place], lines[place + 1]


def _blob(family):
    with open_store(family.url) as store:
        return store.read_blob(family.blob)

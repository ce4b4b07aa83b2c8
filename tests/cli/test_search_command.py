"""`clew search`: what is found is shown where it stands, and what was not looked into is said."""

import json
import re
import time

import pytest

from clew import open_store
from clew.runtime.recall import index_of
from tests.cli.kept import ROUNDS, kept_family
from tests.cli.test_command_line import shell


@pytest.fixture
def search(run, family, monkeypatch):
    monkeypatch.setenv("CLEW_STORE_URL", family.url)
    return lambda *arguments, **given: run("search", *arguments, **given)


def test_a_hit_says_where_it_stands_and_shows_the_words(search, family):
    result = search("callers")
    assert result.exit_code == 0
    assert re.match(r"1 of 1 match in \d+ messages\n", result.stdout)
    assert re.search(
        rf"\n{family.delegate} #0  user · \S+.*\n  Look for callers\n    Find the callers\.\n", result.stdout
    )


def test_the_heading_counts_all_matches_and_shows_the_best(search):
    result = search("step", "--limit", 3)
    assert result.stdout.startswith(f"3 of {2 * ROUNDS} matches in ")
    document = json.loads(search("step", "--limit", 3, "--json").stdout)
    assert (document["total"], document["exact"], document["complete"]) == (2 * ROUNDS, True, True)
    assert len(document["hits"]) == 3
    hit = document["hits"][0]
    marked = [hit["snippet"][start:end] for start, end in hit["marks"]]
    assert not marked or {word.lower() for word in marked} == {"step"}


def test_filters_narrow_and_are_told(search, family):
    by_tool = json.loads(search("part", "--tool", "read_file", "--role", "tool", "--json").stdout)
    assert by_tool["total"] == ROUNDS
    assert {hit["tool"] for hit in by_tool["hits"]} == {"read_file"}
    assert by_tool["filters"] == ["role tool", "tool read_file"]
    inside = json.loads(search("callers", "--in", family.parser, "--json").stdout)
    assert (inside["total"], inside["filters"]) == (0, [f"in {family.parser}"])
    assert json.loads(search("callers", "--in", family.delegate, "--json").stdout)["total"] == 1
    assert "without lit" in json.loads(search("lamp -lit", "--json").stdout)["filters"]


def test_a_time_can_be_said_in_any_usual_way(search, family):
    tomorrow = time.strftime("%Y-%m-%d", time.localtime(time.time() + 2 * 86_400))
    for after in ("1h", "2d", "2020-01-01", "2020-01-01 14:00"):
        assert json.loads(search("callers", "--after", after, "--json").stdout)["total"] == 1, after
    for narrowed in (("--after", tomorrow), ("--before", "1h"), ("--before", "2020-01-01T00:00:00+00:00")):
        assert json.loads(search("callers", *narrowed, "--json").stdout)["total"] == 0, narrowed


@pytest.mark.parametrize("when", ["soon", "3x", "2026-13-01", "", "12"])
def test_a_wrong_time_is_a_usage_error_that_shows_how_to_write_it(search, when):
    result = search("lamp", "--after", when)
    assert result.exit_code == 2
    assert "2026-11-01" in result.stderr


def test_nothing_found_says_where_was_looked_and_by_what(search):
    result = search("zebra", "--role", "tool", "--after", "3d")
    assert result.exit_code == 0
    assert re.fullmatch(r"Nothing found for 'zebra' in 30 messages \(role tool; after \d{4}-.*\)\.\n", result.stdout)


def test_context_shows_the_messages_around(search, family):
    result = search('"step 5 is done"', "--context", 1, "--limit", 1)
    assert re.search(r"    #22 tool read_file: \[REDACTED\] contents of part 5", result.stdout)
    assert re.search(r"    Step 5 is done\.", result.stdout)
    assert re.search(r"    #24 user: Do step 6", result.stdout)
    document = json.loads(search('"step 5 is done"', "--context", 2, "--limit", 1, "--json").stdout)
    assert [said["place"] for said in document["hits"][0]["before"]] == [21, 22]
    assert [said["place"] for said in document["hits"][0]["after"]] == [24, 25]


def test_a_hit_in_a_blob_names_it_and_its_line(search, family):
    result = search('"line 4321 of"')
    assert "line 4,322" in result.stdout
    assert f"in blob:{family.blob}" in result.stdout


def test_summaries_are_found_only_when_asked_for(search):
    assert json.loads(search('"what was done up to"', "--json").stdout)["total"] == 0
    document = json.loads(search('"what was done up to"', "--derived", "--json").stdout)
    assert [hit["derived"] for hit in document["hits"]] == [True, True]
    assert "summary by clew" in search('"what was done up to"', "--derived").stdout


def test_what_was_taken_back_is_found_and_marked(search, run, family):
    run("sessions", "undo", family.local)
    assert "taken back or edited since" in search("lamp").stdout


def test_an_estimate_says_about(search, family):
    with open_store(family.url) as store:
        live = store.open_session()
        said = [{"role": "user", "content": f"fog horn {n}" if n % 2 else f"horn fog {n}"} for n in range(700)]
        store.append(live, said)
    result = search('"fog horn"')
    assert re.match(r"10 of about \d+ matches in ", result.stdout)
    assert "estimated" in result.stdout


def test_a_long_backlog_is_indexed_before_the_search(search, family):
    with open_store(family.url) as store:
        live = store.open_session()
        store.append(live, [{"role": "user", "content": f"bell {n}"} for n in range(1_500)])
    document = json.loads(search("bell", "--json").stdout)
    assert (document["total"], document["complete"]) == (1_500, True)
    with open_store(family.url) as store:
        assert index_of(store).behind() == 0


def test_what_could_not_be_searched_is_said_loudly(search, family, monkeypatch):
    from clew.recall.index import Index
    from clew.store.trouble import StoreBusy

    def busy(self, limit=None, progress=None):
        raise StoreBusy("the index was locked by another process.")

    monkeypatch.setattr(Index, "catch_up", busy)
    with open_store(family.url) as store:
        live = store.open_session()
        store.append(live, [{"role": "user", "content": f"bell {n}"} for n in range(400)])
    result = search("bell")
    assert result.exit_code == 0
    assert result.stdout.startswith("Nothing found for 'bell'")
    assert "Not everything was searched:" in result.stdout
    assert "locked by another process" in result.stdout
    assert re.search(r"\d+ .*messages are not indexed yet", result.stdout)
    assert json.loads(search("bell", "--json").stdout)["complete"] is False


def test_how_it_was_looked_for_is_told(search):
    assert json.loads(search("callers", "--json").stdout)["mode"] == "words"
    assert json.loads(search("callers", "--mode", "words", "--json").stdout)["mode"] == "words"
    assert search("callers", "--mode", "guess").exit_code == 2


def test_by_meaning_without_the_extra_is_by_words_and_says_so(search):
    if nearness_is_installed():
        pytest.skip("clew[semantic] is installed")
    document = json.loads(search("who calls it", "--mode", "hybrid", "--json").stdout)
    assert (document["mode"], document["complete"]) == ("words", False)
    assert "clew[semantic]" in document["notes"][0]


def test_by_meaning_every_message_is_read_first(search, family):
    if not nearness_is_installed():
        pytest.skip("clew[semantic] is not installed")
    with open_store(family.url) as store:
        live = store.open_session()
        said = [f"bell {n}" for n in range(400)] + ["The automobile is in the garage for new brakes."]
        store.append(live, [{"role": "user", "content": text} for text in said])
    document = json.loads(search("car", "in", "the", "workshop", "--mode", "meaning", "--json").stdout)
    assert (document["mode"], document["complete"]) == ("meaning", True)
    assert "automobile" in document["hits"][0]["snippet"]


def nearness_is_installed():
    from clew.recall.meaning import encoder

    return encoder() is not None


def test_no_question_is_a_usage_error(search):
    assert search().exit_code == 2
    assert search("  ").exit_code == 2


def test_an_unknown_conversation_is_a_sentence(search):
    result = search("lamp", "--in", "nothing", "--json")
    assert result.exit_code == 1
    assert "nothing" in json.loads(result.stdout)["error"]


def test_a_damaged_index_is_a_sentence(search, family, tmp_path):
    search("lamp")
    (tmp_path / "family.db-index").write_bytes(b"no database " * 1_000)
    result = search("lamp")
    assert result.exit_code == 1
    assert "clew doctor" in result.stderr


def test_both_databases_find_the_same(run, store_url):
    kept_family(store_url)
    document = json.loads(run("search", "great", "--store", store_url, "--json").stdout)
    assert document["hits"][0]["blob"]
    assert document["complete"]


def test_a_terminal_sees_the_match_marked_and_a_pipe_plain_text(family):
    plain = shell("search", "callers", CLEW_STORE_URL=family.url)
    assert b"\x1b" not in plain.stdout
    marked = shell("search", "callers", CLEW_STORE_URL=family.url, FORCE_COLOR="1", TERM="xterm")
    assert re.search(rb"\x1b\[[0-9;]*33m?callers\x1b|\x1b\[1;33mcallers\x1b", marked.stdout)

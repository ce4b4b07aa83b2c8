"""`clew models`: facts with their source and date, values of one's own, and what a server says."""

import json
import re
import subprocess
import sys

import pytest

from tests.local_server import serving


def test_the_list_shows_every_provider_with_dates_and_sources(run):
    result = run("models")
    assert result.exit_code == 0
    assert re.search(r"claude-opus-5 +1,000,000 +128,000 +5 +25 +0\.5 +2026-\d\d-\d\d", result.stdout)
    assert re.search(r"(?m)^  2026-\d\d-\d\d: platform\.claude\.com", result.stdout)
    assert re.search(r"deepseek-v4-pro +1,000,000 +384,000 +\? +\? +\?", result.stdout)
    assert "set by you" not in result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines() if not line.startswith("  20"))
    assert run("models", "list").stdout == result.stdout


def test_one_provider_can_be_listed_and_an_unknown_one_is_told(run):
    listed = json.loads(run("models", "--provider", "groq", "--json").stdout)["models"]
    assert listed
    assert {row["provider"] for row in listed} == {"groq"}
    result = run("models", "list", "--provider", "grok")
    assert result.exit_code == 1
    assert "There are models of alibaba, anthropic" in result.stderr


def test_one_model_is_shown_with_all_that_is_known(run):
    result = run("models", "show", "openrouter/anthropic/claude-sonnet-4.5")
    assert result.exit_code == 0
    assert result.stdout.startswith("claude-sonnet-4-5 — anthropic\n")
    assert re.search(r"input +3; 6 above 200,000", result.stdout)
    assert re.search(r"… for an hour +6; 12 above 200,000", result.stdout)
    assert re.search(r"least cached +1,024 tokens", result.stdout)
    assert re.search(r"source +platform\.claude\.com", result.stdout)
    document = json.loads(run("models", "show", "gpt-5", "--json").stdout)
    assert (document["window"], document["max_input"], document["prices"]["cache_read"]) == (400_000, 272_000, "0.125")
    assert (document["caching"], document["own"], document["tiers"]) == ("automatic", [], [])
    assert document["source"]
    assert document["dated"]


def test_who_serves_it_makes_a_difference(run):
    shown = json.loads(run("models", "show", "openai/gpt-oss-120b", "--provider", "groq", "--json").stdout)
    assert (shown["name"], shown["prices"]["input"]) == ("groq/gpt-oss-120b", "0.15")
    assert "what openrouter charges" in run("models", "show", "kimi-k2.5", "--provider", "openrouter").stdout


def test_an_unknown_model_brings_up_those_near_it(run):
    result = run("models", "show", "claude-opus-4-9")
    assert result.exit_code == 1
    assert "claude-opus-4-9 is not known. Did you mean claude-opus-4-" in result.stderr
    assert json.loads(run("models", "show", "zzzz", "--json").stdout)["error"].startswith("zzzz is not known. 'clew")


def test_a_value_is_corrected_shown_as_ones_own_and_forgotten(run):
    result = run("models", "set", "gpt-5", "input=1", "window=300,000")
    assert result.exit_code == 0
    assert re.search(r"window +300,000\* ", result.stdout)
    assert re.search(r"(?m)^input +1\* *$", result.stdout)
    assert re.search(r"\* +set by you on 2\d\d\d-\d\d-\d\d: input, window", result.stdout)
    listed = run("models", "--provider", "openai").stdout
    assert re.search(r"gpt-5 +300,000\* +128,000 +1\* +10", listed)
    assert "* set by you in " in listed
    assert json.loads(run("models", "show", "gpt-5", "--json").stdout)["own"] == ["input", "window"]
    assert "is forgotten" in run("models", "unset", "gpt-5").stdout
    assert json.loads(run("models", "show", "gpt-5", "--json").stdout)["own"] == []
    again = run("models", "unset", "gpt-5")
    assert again.exit_code == 1
    assert "nothing was set for gpt-5" in again.stderr


def test_a_model_of_ones_own_is_added(run):
    added = json.loads(run("models", "set", "my-llama", "window=32768", "input=0", "output=0", "--json").stdout)
    assert (added["window"], added["prices"]["input"], added["provider"]) == (32_768, "0", "")
    assert re.search(r"your own +window", run("models").stdout)
    assert json.loads(run("models", "unset", "my-llama", "--json").stdout) == {"unset": "my-llama"}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (("window=3",), "window is 3; it has to lie between 1024 and 100000000"),
        (("windw=9000",), "windw is no field clew knows; did you mean window?"),
        (("window",), "window sets nothing; write FIELD=VALUE"),
        (("window=",), "sets nothing"),
        (("input=cheap",), "it has to be US dollars for a million tokens"),
        ((), "Missing argument"),
    ],
)
def test_a_wrong_value_is_wrong_usage_and_changes_nothing(run, values, told):
    result = run("models", "set", "gpt-5", *values)
    assert result.exit_code == 2
    assert told in result.stderr
    assert json.loads(run("models", "show", "gpt-5", "--json").stdout)["own"] == []


def test_values_that_contradict_each_other_are_refused(run):
    result = run("models", "set", "mine", "window=9000", "max_output=20000")
    assert result.exit_code == 1
    assert "max_output is 20,000, more than the window of 9,000. Nothing was written." in result.stderr
    assert run("models", "show", "mine").exit_code == 1


def test_a_file_of_ones_own_that_is_broken_is_named(run, tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))
    (tmp_path / "models.json").write_text('{"models": {"m": {"input": -3}}}')
    for command in (("models",), ("models", "show", "gpt-5"), ("models", "set", "gpt-5", "window=9000")):
        result = run(*command)
        assert result.exit_code == 1
        assert f"{tmp_path}/models.json: m: input is -3.0" in result.stderr
    assert run("models", "unset", "m").exit_code == 0
    assert run("models").exit_code == 0


def test_a_home_that_cannot_be_written_is_told(run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "file"))
    result = run("models", "set", "gpt-5", "window=9000")
    assert result.exit_code == 1
    assert "could not be" in result.stderr


def test_a_server_is_asked(run):
    rows = [
        {"id": "big", "owned_by": "vllm", "max_model_len": 40_960},
        {"id": "\x1b[31mred", "owned_by": "vllm", "max_model_len": None},
    ]
    with serving({"/v1/models": {"data": rows}}) as url:
        result = run("models", "ask", url.removeprefix("http://"))
        document = json.loads(run("models", "ask", f"{url}/v1", "--json").stdout)
    assert result.exit_code == 0
    assert re.search(r"big +40,960 +\? +\? +\? +\? +vllm", result.stdout)
    assert "\x1b" not in result.stdout
    assert "decided when the model is loaded" in result.stdout
    assert [row["window"] for row in document["models"]] == [40_960, None]


def test_a_server_that_says_nothing_or_is_not_there_is_told(run):
    with serving({}) as url:
        silent = run("models", "ask", url)
    absent = run("models", "ask", url)
    assert (silent.exit_code, absent.exit_code) == (1, 1)
    assert "tells nothing about models" in silent.stderr
    assert "nobody answers at http://127.0.0.1" in absent.stderr
    assert run("models", "ask", "file:///etc/hostname").exit_code == 2
    assert run("models", "ask", "http://").exit_code == 1
    assert run("models", "ask", "127.0.0.1:99999999").exit_code == 1


def test_help_loads_neither_the_catalog_nor_a_way_to_the_network():
    code = (
        "import sys\nfrom clew.cli.main import main\nsys.argv = ['clew', 'models', '--help']\ntry: main()\n"
        "except SystemExit: print([m for m in ('rich', 'asyncio', 'urllib.request', 'clew.wire.catalog', "
        "'clew.runtime.models') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")

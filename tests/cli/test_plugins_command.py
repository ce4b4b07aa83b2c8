"""`clew plugins`: the list, trying each apart, choosing one, and the picker."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from clew.agent.picking import picker
from clew.runtime.plugins import found
from clew.runtime.plugins.trying import try_all
from tests.runtime.bringing import FOR_HERMES, NATIVE, folder

WRITES = (
    "print('hello')\nfrom hermes_constants import get_hermes_home\n(get_hermes_home() / 'data.db').write_text('')\n"
)
UP, DOWN, ENTER, ESCAPE = "\x1b[A", "\x1b[B", "\r", "\x1b"


@pytest.fixture
def home(run):
    """The home that `run` works in."""
    return Path(os.environ["CLEW_HOME"])


def test_the_list_says_what_each_is_where_it_is_from_and_whether_it_loads(run, home):
    good = folder(home, "good", init=FOR_HERMES + WRITES, yaml="description: Does it well.\nversion: 3.1\n")
    folder(home, "bad", init="import frobnicate")
    result = run("plugins")
    assert result.exit_code == 0
    assert re.search(r"● compressor +built-in +yes +keeps both ends", result.stdout)
    assert re.search(r" good +3.1 +directory +yes +Does it well\.", result.stdout)
    assert re.search(r" bad +directory +no", result.stdout)
    assert f"good: {good}\n" in result.stdout
    assert "the engine bad" in result.stdout
    assert "(pip install frobnicate)" in result.stdout
    assert run("plugins", "list").stdout == result.stdout
    assert sorted(path.name for path in home.iterdir()) == ["plugins"], "looking leaves nothing behind"


def test_the_list_as_json(run, home):
    folder(home, "good", init=NATIVE)
    document = json.loads(run("plugins", "--json").stdout)
    assert document["active"] == "compressor"
    assert [(row["name"], row["active"], row["loads"]) for row in document["engines"]] == [
        ("compressor", True, True),
        ("lossless", False, True),
        ("good", False, True),
    ]
    assert document["engines"][2]["source"] == "directory"


def test_an_engine_is_used_once_it_loads_and_the_config_keeps_its_comments(run, home):
    folder(home, "hermes-good", init=FOR_HERMES)
    (home / "config.yaml").write_text("# mine\ncompression:\n  threshold: 0.4\n")
    assert run("plugins", "use", "good").stdout == "hermes-good makes room from now on.\n"
    assert (
        home / "config.yaml"
    ).read_text() == "# mine\ncompression:\n  threshold: 0.4\ncontext:\n  engine: hermes-good\n"
    assert re.search(r"● hermes-good", run("plugins").stdout)
    assert json.loads(run("plugins", "use", "compressor", "--json").stdout) == {"active": "compressor"}


def test_what_does_not_load_or_is_not_there_is_refused_and_nothing_changes(run, home):
    folder(home, "bad", init="raise ValueError('torn')")
    for name, why in (
        ("bad", r"ValueError: torn \(__init__.py, line 1\).*Nothing was changed"),
        ("bda", "Did you mean bad"),
    ):
        result = run("plugins", "use", name)
        assert result.exit_code == 1
        assert re.search(why, result.stderr)
        assert not (home / "config.yaml").exists()
    assert "no engine 'zz'" in json.loads(run("plugins", "use", "zz", "--json").stdout)["error"]


def test_an_engine_of_the_settings_that_is_gone_is_told(run, monkeypatch):
    monkeypatch.setenv("CLEW_CONTEXT_ENGINE", "gone")
    result = run("plugins")
    assert result.exit_code == 0
    assert "context.engine is gone, and there is no such engine" in result.stderr
    assert "CLEW_CONTEXT_ENGINE is set in the environment and wins" in run("plugins", "use", "compressor").stderr


def test_a_folders_own_engines_are_listed_only_when_the_settings_allow_it(run, tmp_path, monkeypatch):
    folder(tmp_path / ".clew", "local", init=NATIVE)
    monkeypatch.chdir(tmp_path)
    assert "local" not in run("plugins").stdout
    run("config", "set", "plugins.project", "true")
    assert re.search(r"local +directory +yes", run("plugins").stdout)


def test_settings_for_a_plugin_are_a_section_of_the_config(run, home):
    folder(home, "picky", init=NATIVE + "def register(ctx):\n    assert ctx.get_config('a.b') == 1\n")
    (home / "config.yaml").write_text("plugins:\n  entries:\n    picky: {a: {b: 1}}\n")
    shown = json.loads(run("config", "show", "--json").stdout)
    assert shown["plugins.entries"]["value"] == {"picky": {"a": {"b": 1}}}
    assert run("config", "set", "plugins.entries", '{"picky": {"a": 2}}').exit_code == 0
    assert "has to be a section" in run("config", "set", "plugins.entries", "three").stderr


def test_one_that_hangs_one_that_crashes_and_one_with_a_thread_hurt_nobody(tmp_path):
    folder(tmp_path, "hangs", init="import time\ntime.sleep(60)")
    folder(tmp_path, "crashes", init="import os\nos.abort()")
    folder(
        tmp_path,
        "threads",
        init=NATIVE + "import threading, time\nthreading.Thread(target=time.sleep, args=[60]).start()",
    )
    plugins = found(tmp_path, environment={})
    tried = {plugin.name: one for plugin, one in zip(plugins, try_all(plugins, tmp_path, None, 5), strict=True)}
    assert (tried["compressor"].loads, tried["threads"].loads) == (True, True)
    assert "it was not loaded after 5 seconds" in tried["hangs"].why
    assert "Python ended while it was loaded (exit code -6)" in tried["crashes"].why


@pytest.mark.parametrize(
    ("typed", "picked"),
    [
        (ENTER, "b"),
        (UP + ENTER, "a"),
        (UP + UP + UP + ENTER, "a"),
        (DOWN + ENTER, "c"),
        ("jjjk" + ENTER, "b"),
        (ESCAPE, None),
        ("q", None),
        ("\x03", None),
    ],
)
def test_the_picker_follows_the_keys(typed, picked):
    rows = [("a", "first", "one"), ("b", "second", "two"), ("c", "third", "three")]
    with create_pipe_input() as keys:
        keys.send_text(typed)
        assert picker("Which?", rows, "b", input=keys, output=DummyOutput()).run() == picked


def test_help_loads_no_plugin_machinery():
    code = (
        "import sys\nfrom clew.cli.main import main\nsys.argv = ['clew', 'plugins', '--help']\ntry: main()\n"
        "except SystemExit: print([m for m in ('rich', 'prompt_toolkit', 'clew.runtime.plugins', 'subprocess') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")


def test_compact_and_replay_work_with_an_engine_that_somebody_brought(run, home, talk):
    folder(home, "small", init=NATIVE)
    messages = json.loads(run("compact", talk, "--engine", "small", "--context-length", 32_000).stdout)
    assert len(messages) == 3, "the two it keeps, opened as providers want it"
    assert messages[-1] == {"role": "user", "content": "Now light the lamp."}
    replayed = json.loads(run("replay", talk, "--engine", "small", "--context-length", 32_000, "--json").stdout)
    assert replayed["engine"] == "small"
    refused = run("compact", talk, "--engine", "smal")
    assert refused.exit_code == 2
    assert "small" in refused.stderr

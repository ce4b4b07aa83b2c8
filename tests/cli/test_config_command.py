"""`clew config`: shows every setting with its source, changes one, refuses what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from clew.cli.main import clew


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    return lambda *words, **more: CliRunner().invoke(clew, ["config", *words], **more)


def test_what_was_set_is_shown_with_where_it_stands(run, tmp_path: Path) -> None:
    assert run("set", "compression.threshold", "0.6").exit_code == 0
    rows = json.loads(run("show", "--json").stdout)
    assert rows["compression.threshold"] == {"value": 0.6, "source": str(tmp_path / "home" / "config.yaml")}
    assert rows["context.engine"] == {"value": "compressor", "source": "default"}
    assert "compression.threshold" in run("show").stdout
    assert run("path").stdout.strip() == str(tmp_path / "home" / "config.yaml")


def test_a_variable_that_wins_is_mentioned(run) -> None:
    done = run("set", "compression.threshold", "0.6", env={"CLEW_COMPRESSION_THRESHOLD": "0.3"})
    assert "CLEW_COMPRESSION_THRESHOLD is set in the environment and wins" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("set", "compresion.threshold", "0.6"), "did you mean compression.threshold?"),
        (("set", "compression.threshold", "6"), "between 0.05 and 0.95"),
        (("set", "model.api_key", "sk-abc"), "secrets are not kept here"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(run, tmp_path: Path, words, told) -> None:
    done = run(*words)
    assert done.exit_code == 1
    assert told in done.stderr
    assert not (tmp_path / "home" / "config.yaml").exists()


def test_a_broken_file_is_named(run, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.yaml").write_text("model: [")
    done = run("show", "--json")
    assert done.exit_code == 1
    assert "is not YAML" in json.loads(done.stdout)["error"]


def test_the_store_of_the_settings_is_the_one_commands_use(run, tmp_path: Path) -> None:
    assert run("set", "store.url", str(tmp_path / "elsewhere.db")).exit_code == 0
    done = CliRunner().invoke(clew, ["sessions", "list"])
    assert done.exit_code == 1
    assert "elsewhere.db" in done.stderr

"""What the command line's tests share: a runner and a conversation to run it on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clew.cli.main import clew
from tests.cli.kept import Family, kept_family
from tests.cli.talks import long_talk, written


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Result]:
    """`run("compact", file)`: the exit code, stdout and stderr of a command in this process."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("CLEW_STORE_URL", raising=False)
    monkeypatch.setenv("CLEW_HOME", str(tmp_path_factory.mktemp("home") / "clew"))
    monkeypatch.setenv("COLUMNS", "80")

    def invoke(*arguments: object, stdin: bytes | None = None) -> Result:
        result = CliRunner().invoke(clew, [str(argument) for argument in arguments], input=stdin)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception  # a traceback is never an answer
        return result

    return invoke


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A conversation of some 40,000 tokens, as JSON Lines: tools, a secret at both ends, brackets, an escape."""
    return written(tmp_path / "talk.jsonl", long_talk())


@pytest.fixture
def family(tmp_path: Path) -> Family:
    """A store with a conversation of three sessions, a delegate of a delegate, a branch, and what they cost."""
    return kept_family(f"sqlite:///{tmp_path}/family.db")

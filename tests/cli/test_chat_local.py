"""`clew chat --local`: a real model on this machine, no key, no network, and still everything is kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from clew.store.address import open_store
from tests.llama import weights

ASKED = "What is the capital of France?"


def chat(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-c", "from clew.cli.main import main; main()", "chat", *words],
        cwd=home,
        env=known | {"CLEW_HOME": str(home)},
        input="",
        capture_output=True,
        text=True,
        timeout=180,
    )


def test_a_turn_with_no_key_is_answered_kept_and_counted(tmp_path: Path) -> None:
    weights()  # skips where they are not
    done = chat(tmp_path, "--local", "-p", ASKED)
    assert done.returncode == 0, done.stderr
    with open_store(tmp_path / "store.db") as store:
        (conversation,) = store.conversations()
        asked, answered = store.messages(conversation.tip)
        assert asked.message["content"] == ASKED
        assert done.stdout.strip() == answered.message["content"].strip() != ""
        (spent,) = store.spent()
        assert spent.calls == 1
        assert spent.usage.output > 0


def test_a_file_that_is_no_model_is_refused_in_a_sentence(tmp_path: Path) -> None:
    weights()
    (tmp_path / "small.gguf").write_text("not a model")
    (tmp_path / "config.yaml").write_text(f"local:\n  model: {tmp_path / 'small.gguf'}\n")
    done = chat(tmp_path, "--local", "-p", ASKED)
    assert done.returncode == 1
    assert "small.gguf" in done.stderr
    assert "Traceback" not in done.stderr

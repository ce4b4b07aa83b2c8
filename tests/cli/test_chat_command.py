"""`clew chat` against a simulated provider: one turn from a script or a pipe, tools, sessions, and what goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.store.address import open_store
from clew.testing import ProviderSimulator

Run = Callable[..., "subprocess.CompletedProcess[str]"]
WRITE = {"calls": [{"name": "write_file", "arguments": {"path": "a.txt", "content": "hello\n"}}]}


@pytest.fixture
def simulator() -> Iterator[ProviderSimulator]:
    with ProviderSimulator(replies=[]) as running:
        yield running


@pytest.fixture
def run(tmp_path: Path, simulator: ProviderSimulator) -> Run:
    """Starts `clew chat` in a folder of its own, with nothing of this machine's settings."""
    (tmp_path / "work").mkdir()
    known = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    here = {
        "CLEW_HOME": str(tmp_path / "home"),
        "CLEW_MODEL_BASE_URL": f"{simulator.url}/v1",
        "CLEW_MODEL_DEFAULT": "some-model",
    }

    def start(*words: str, said: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from clew.cli.main import main; main()", "chat", *words],
            cwd=tmp_path / "work",
            env={**known, **here, **changes},
            input=said,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return start


def test_one_turn_with_tools_prints_the_answer_and_keeps_everything(
    run: Run, simulator: ProviderSimulator, tmp_path: Path
) -> None:
    simulator.say(WRITE, "Written.")
    done = run("-p", "Make a.txt.", "--yes")
    assert (done.returncode, done.stdout) == (0, "Written.\n")
    assert "write_file" in done.stderr
    assert (tmp_path / "work" / "a.txt").read_text() == "hello\n"
    with open_store(tmp_path / "home" / "store.db") as store:
        (conversation,) = store.conversations()
        assert [said.role for said in store.messages(conversation.tip)] == ["user", "assistant", "tool", "assistant"]
        assert store.spent()[0].calls == 2


def test_without_a_person_to_ask_nothing_is_written(run: Run, simulator: ProviderSimulator, tmp_path: Path) -> None:
    simulator.say(WRITE, "I may not.")
    done = run("-p", "Make a.txt.")
    assert done.stdout == "I may not.\n"
    assert not (tmp_path / "work" / "a.txt").exists()
    assert simulator.requests[-1].prompt.messages[-1].is_result


def test_what_comes_through_a_pipe_stands_behind_the_words_and_events_are_json(
    run: Run, simulator: ProviderSimulator
) -> None:
    simulator.say("Two lines.")
    done = run("-p", "How many lines?", "--json", said="one\ntwo\n")
    events: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert "".join(event["text"] for event in events if event["event"] == "text") == "Two lines."
    assert events[-1]["event"] == "end"
    assert events[-1]["session"]
    assert simulator.requests[0].prompt.messages[-1].text == "How many lines?\n\none\ntwo"


def test_it_goes_on_where_it_stood(run: Run, simulator: ProviderSimulator) -> None:
    simulator.say("First.", "Second.")
    run("-p", "One.")
    run("-p", "Two.", "--resume")
    first, second = (asked.prompt for asked in simulator.requests)
    assert [said.text for said in second.messages] == ["One.", "First.", "Two."]
    assert second.system == first.system, "the snapshot is kept with the conversation"


@pytest.mark.parametrize(
    ("words", "changes", "told"),
    [
        (("-p", "hi"), {"CLEW_MODEL_BASE_URL": "", "CLEW_MODEL_DEFAULT": ""}, "no model to talk to"),
        (("-p", "hi"), {"CLEW_MODEL_PROVIDER": "antropic"}, "no provider 'antropic'"),
        (("-p", "hi"), {"CLEW_CONTEXT_ENGINE": "magic"}, "no engine 'magic'"),
        (("-p", "hi", "--resume", "nope"), {}, "no session or conversation 'nope'"),
        (("-p", "hi"), {"CLEW_MODEL_BASE_URL": "ftp://x"}, "begins with https://"),
    ],
)
def test_a_mistake_is_a_sentence_and_no_traceback(run: Run, words: tuple[str, ...], changes: Any, told: str) -> None:
    done = run(*words, **changes)
    assert done.returncode == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_provider_that_refuses_is_said_with_exit_code_1(run: Run, tmp_path: Path) -> None:
    with ProviderSimulator(key="sk-the-right-one") as strict:
        done = run("-p", "hi", CLEW_MODEL_BASE_URL=f"{strict.url}/v1", OPENAI_API_KEY="sk-a-wrong-one-123456")
    assert done.returncode == 1
    assert "refused the request" in done.stderr
    assert "sk-a-wrong-one" not in done.stderr + done.stdout


def test_the_model_finds_again_what_was_said_in_another_conversation(run: Run, simulator: ProviderSimulator) -> None:
    find = {"calls": [{"name": "search_history", "arguments": {"query": "zephyr"}}]}
    simulator.say("Noted.", find, "It was blue.")
    run("-p", "The zephyr is blue.")
    run("-p", "Which colour had the zephyr?")
    assert "The zephyr is blue." in simulator.requests[-1].prompt.messages[-1].text

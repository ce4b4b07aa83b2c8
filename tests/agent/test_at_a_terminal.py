"""`clew chat` in a real terminal: what is typed, pasted and pressed, and what stands on the screen."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.store.address import open_store
from clew.testing import ProviderSimulator
from clew.testing.simulator.faults import Stall
from tests.agent import tmux
from tests.agent.tmux import Terminal

CLEW = str(Path(sys.executable).parent / "clew")
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 992


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


class Desk:
    """A terminal in a project folder, with a simulated provider behind it."""

    def __init__(self, folder: Path, simulator: ProviderSimulator, width: int) -> None:
        self.project, self.home = folder / "project", folder / "home"
        self.project.mkdir()
        self.simulator = simulator
        named = {
            "CLEW_HOME": str(self.home),
            "CLEW_MODEL_PROVIDER": "anthropic",
            "CLEW_MODEL_BASE_URL": simulator.url,
            "CLEW_MODEL_DEFAULT": "claude-sonnet-4-5",
            "ANTHROPIC_API_KEY": "sk-test-1234567890",
            "NO_COLOR": "",
        }
        self.terminal = Terminal(self.project, named, width=width, height=30)

    def start(self, *words: str) -> None:
        self.terminal.type(" ".join([CLEW, "chat", *words]))
        self.terminal.wait("›")

    def paste(self, text: str) -> None:
        """As terminals do it: between marks."""
        self.terminal._tmux("set-buffer", text)
        self.terminal._tmux("paste-buffer", "-p")


@pytest.fixture
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    tmux.needed()
    with ProviderSimulator(replies=[]) as simulator:
        desk = Desk(tmp_path, simulator, getattr(request, "param", 80))
        with desk.terminal:
            yield desk


def asked(desk: Desk) -> list[Any]:
    return [json.loads(request.raw)["messages"][-1]["content"] for request in desk.simulator.requests]


@pytest.mark.parametrize("desk", [40, 140], indirect=True)
def test_a_turn_with_a_question_a_command_and_the_sum_at_the_end(desk: Desk) -> None:
    desk.simulator.say(
        call("terminal", command="sleep 1; echo hallo"), call("read_file", path="none.py"), "All done. 完成了。"
    )
    terminal = desk.terminal
    desk.start()
    terminal.type("Try it.")
    assert "run: sleep 1; echo hallo" in terminal.wait("v never")
    terminal.press("y")
    terminal.wait("→ yes, this once")
    running = terminal.wait("observed")
    assert "terminal $ sleep 1" in running
    assert ("Ctrl-C stops" in running) == (desk.terminal._size[1] != "40")
    terminal.press("C-d")  # while the command runs: it counts when the turn is over
    screen = terminal.wait("clew chat --resume")
    assert "All done. 完成了。" in screen
    assert "✓ terminal $" in screen
    assert "exit 0, 1 line" in screen
    assert "✗ read_file" in screen
    assert "Ctrl-C stops" not in screen, "the status is gone when the turn is over"
    with open_store(desk.home / "store.db") as store:
        (spent,) = store.spent()
    for tokens in (spent.usage.input, spent.usage.cache_read, spent.usage.cache_write, spent.usage.prompt):
        assert f" {tokens:,}" in screen


def test_never_is_remembered_for_the_project(desk: Desk) -> None:
    (desk.project / "a.py").write_text("x = 1\ny = 2\n")
    patch = call("patch", path="a.py", old="x = 1", new="x = 3")
    desk.simulator.say(patch, "I may not.", patch, "Still not.")
    terminal = desk.terminal
    desk.start()
    terminal.type("Change it.")
    asking = terminal.wait("v never")
    assert "-x = 1\n+x = 3\n y = 2" in asking
    terminal.press("v")
    terminal.wait("I may not.")
    terminal.type("Again.")
    terminal.wait("Still not.")
    assert terminal.screen(whole=True).count("patch: a.py") == 1, "it was asked once"
    assert (desk.project / "a.py").read_text() == "x = 1\ny = 2\n"


def test_ctrl_c_stops_the_turn_clears_the_line_and_leaves_when_pressed_twice(desk: Desk) -> None:
    desk.simulator.say(Stall(30.0), "Now.")
    terminal = desk.terminal
    desk.start()
    terminal.type("Wait for it.")
    terminal.wait("You said")
    terminal.press("C-c")
    terminal.wait("stopped; everything up to here is kept")
    terminal.type("half a thought", enter=False)
    terminal.wait("half a thought")
    terminal.press("C-c")
    terminal.press("C-c")
    terminal.wait("Ctrl-C again leaves")
    assert "half a thought" not in terminal.screen()
    terminal.press("C-c")
    terminal.wait("go on with")
    assert len(desk.simulator.requests) == 1


def test_ctrl_c_at_a_question_is_a_no_and_stops_the_turn(desk: Desk) -> None:
    desk.simulator.say(call("terminal", command="touch made.txt"), "never asked for")
    desk.start()
    desk.terminal.type("Do it.")
    desk.terminal.wait("v never")
    desk.terminal.press("C-c")
    desk.terminal.wait("stopped; everything up to here is kept")
    assert not (desk.project / "made.txt").exists()
    desk.terminal.press("C-d")
    desk.terminal.wait("go on with")


def test_several_lines_are_one_message_however_they_are_typed(desk: Desk) -> None:
    desk.simulator.say("One.", "Two.", "Three.")
    terminal = desk.terminal
    desk.start()
    desk.paste("first\nsecond\nthird")
    terminal.wait("third")
    terminal.press("Enter")
    terminal.wait("One.")
    terminal.type("a\\")
    terminal.type("b")
    terminal.wait("Two.")
    terminal.type("c", enter=False)
    terminal.press("M-Enter")
    terminal.type("d")
    terminal.wait("Three.")
    texts = ["".join(part["text"] for part in content) for content in asked(desk)]
    assert texts == ["first\nsecond\nthird", "a\nb", "c\nd"]


def test_a_pasted_picture_is_shown_by_its_name_and_sent(desk: Desk) -> None:
    (desk.project / "my shot.png").write_bytes(PNG)
    (desk.project / "words.png").write_text("no picture")
    desk.simulator.say("A picture.", "Another.")
    terminal = desk.terminal
    desk.start()
    desk.paste(f"'{desk.project}/my shot.png'")
    terminal.wait("[image my shot.png 1.0 KB]")
    terminal.type(" what is it?")
    terminal.wait("A picture.")
    text, picture = asked(desk)[0]
    assert text["text"] == "[image my shot.png 1.0 KB] what is it?"
    assert picture["source"]["media_type"] == "image/png"
    terminal.type('And @"my shot.png"?')
    terminal.wait("Another.")
    assert [part["type"] for part in asked(desk)[1]] == ["text", "image"]
    terminal.type("And @words.png?")
    terminal.wait("words.png is no picture")
    terminal.press("C-v")
    terminal.wait("no program to read the clipboard")
    assert len(desk.simulator.requests) == 2


def test_commands_complete_and_models_and_conversations_are_picked(desk: Desk) -> None:
    desk.simulator.say("One.", "Two.")
    terminal = desk.terminal
    desk.start()
    terminal.type("Remember the zephyr.")
    terminal.wait("One.")
    terminal.type("/ins", enter=False)
    terminal.wait("what all of them took")
    terminal.press("Tab")
    terminal.wait("› /insights")
    terminal.press("C-c")
    terminal.type("/new")
    terminal.wait("a new conversation")
    terminal.type("/resume")
    terminal.wait("Which conversation?")
    terminal.wait("Remember the zephyr.", times=2)
    terminal.press("Down")
    terminal.press("Enter")
    terminal.wait("going on with")
    terminal.type("/model")
    assert "200,000 tokens · $3 in, $15 out a million" in terminal.wait("Which model?")
    terminal.press("Down")
    terminal.press("Enter")
    terminal.wait("with a window of")
    terminal.type("Go on.")
    terminal.wait("Two.")
    bodies = [json.loads(request.raw) for request in desk.simulator.requests]
    assert bodies[1]["model"] != bodies[0]["model"] == "claude-sonnet-4-5"
    assert len(bodies[1]["messages"]) == 3


def test_without_a_terminal_that_moves_it_is_plain_and_without_a_model_it_is_friendly(desk: Desk) -> None:
    desk.simulator.say(call("list_files", path="."), "Plain.")
    terminal = desk.terminal
    terminal.type(f"TERM=dumb {CLEW} chat")
    terminal.wait("/help")
    terminal.type("Hello?")
    assert "⚙ list_files" in terminal.wait("Plain.")
    terminal.type("/quit")
    terminal.wait("go on with")
    terminal.type(f"env -u CLEW_MODEL_PROVIDER -u CLEW_MODEL_BASE_URL -u ANTHROPIC_API_KEY {CLEW} chat")
    screen = terminal.wait("clew chat --local")
    assert "export ANTHROPIC_API_KEY=" in screen
    assert "clew config set model.base_url" in screen
    assert "Traceback" not in screen

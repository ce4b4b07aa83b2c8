"""A turn as a person sees it at a terminal, with a clock of the test's own."""

from __future__ import annotations

from pathlib import Path

from clew.agent.below import Below
from clew.agent.live import Live
from clew.agent.standing import Standing
from clew.agent.tools.call import failed
from clew.facts.exchange import PromptTooLong, RateLimited, Unavailable
from clew.facts.messages import tool_result
from clew.facts.pieces import Begun, Beside, Broken, Called, Counted, Grown, Said
from clew.facts.usage import Usage
from tests.agent import call, tmux
from tests.agent.test_below import END, on_screen


class Seat:
    """A person before a terminal of 60 columns."""

    def __init__(self, tokens: int = 1_000) -> None:
        self.now = 100.0
        self.raw: list[str] = []
        self.stands = Standing("sonnet", 200_000, tokens, False, 160_000, "$0.01")
        self.live = Live(Below(self.raw.append, lambda: 60), lambda: self.stands, lambda: self.now)

    def screen(self, folder: Path) -> list[str]:
        self.live.draw()
        shown = on_screen(folder, "".join(self.raw) + f"\x1b[12;1H{END}", 60)
        return [line for line in shown if line not in ("", END)]


def test_a_turn_from_its_first_thought_to_its_last_word(tmp_path: Path) -> None:
    tmux.needed()
    seat = Seat()
    live = seat.live
    live.begin()
    seat.now += 2
    assert seat.screen(tmp_path) == ["⠋ model 2 s · window 0% estimated · $0.01 · Ctrl-C stops"]
    live.piece(Begun())
    live.piece(Counted(Usage(input=20_000)))
    live.piece(Grown("thinking", "First I look.\nThen I "))
    seat.now += 12
    live.piece(Beside("reasoning_content", "think.\x1b[2J"))
    assert seat.screen(tmp_path)[0] == "✻ Then I think.[2J"
    assert "model, thinking 12 s" in seat.screen(tmp_path)[1]
    assert "10% observed" in seat.screen(tmp_path)[1]
    live.piece(Said("I will run "))
    live.piece(Said("it.\x1b[2J"))
    live.piece(Called(0, "c1", "terminal"))
    asked = call("terminal", {"command": "make"})
    live.calling(asked)
    seat.now += 3
    assert seat.screen(tmp_path)[-2] == "⠋ terminal $ make  3 s"
    live.told("  ↳ read_file a.py")
    live.called(asked, tool_result(asked, "exit code 0\nfine\n"), 3.2)
    refused = call("patch", {"path": "a.py", "old": "a", "new": "b"})
    live.calling(refused)
    with live.aside():
        seat.now += 60
    live.called(refused, failed(refused, "the person said no"), 60.3)
    live.told("compacted: 3 messages")
    live.piece(Said("Done."))
    live.end()
    assert seat.screen(tmp_path) == [
        "✻ thought for 12 s",
        "I will run it.[2J",
        "  ↳ read_file a.py",
        "✓ terminal $ make  exit 0, 1 line · 3.2 s",
        "✗ patch a.py +1 −1  the person said no · 0.3 s",
        "· compacted: 3 messages",
        "Done.",
    ]


def test_what_is_awaited_is_said(tmp_path: Path) -> None:
    tmux.needed()
    waits = {
        RateLimited(retry_after=3.0): "rate limit",
        PromptTooLong(): "summary",
        Unavailable(why="busy"): "provider, trying again",
    }
    for failure, told in waits.items():
        seat = Seat()
        seat.live.begin()
        seat.live.piece(Broken(failure))
        assert f"⠋ {told} 0 s" in seat.screen(tmp_path)[-1]
    full = Seat(tokens=170_000)
    full.live.begin()
    assert "⠋ summary" in full.screen(tmp_path)[-1], "a prompt past the hard mark waits for room"
    full.live.told("compacted: 100 messages")
    assert "⠋ model" in full.screen(tmp_path)[-1]


def test_nothing_moves_while_someone_else_writes() -> None:
    seat = Seat()
    seat.live.begin()
    seat.live.draw()
    with seat.live.aside():
        said = len(seat.raw)
        seat.now += 5
        seat.live.draw()
        assert len(seat.raw) == said
    seat.live.draw()
    assert len(seat.raw) > said
    seat.live.end()
    said = len(seat.raw)
    seat.live.draw()
    assert len(seat.raw) == said

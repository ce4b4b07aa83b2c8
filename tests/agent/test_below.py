"""Lines below a text that grows: in a real terminal the text is what it would be without them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from clew.agent.below import Below, Line
from clew.agent.shading import Shading
from clew.agent.standing import Word, clipped, fitted
from tests.agent import tmux
from tests.agent.tmux import Terminal

END = "the end"


def on_screen(folder: Path, raw: str, width: int, until: str = END) -> list[str]:
    """What a terminal of that width shows of these bytes, with what scrolled away; joined lines are not joined."""
    (folder / "raw").write_bytes(raw.encode())
    with Terminal(folder, {}, width=width, height=12) as terminal:
        terminal.type("clear; echo what was typed; cat raw; sleep 9")
        terminal.wait(until)
        shown = terminal._tmux("capture-pane", "-p", "-S", "-")
    return [line.rstrip() for line in shown.rstrip("\n").split("\n")][1:]


def grown(pieces: list[str], width: int) -> str:
    """What is written to show these pieces with two lines below that change all the time."""
    raw: list[str] = []
    below = Below(raw.append, lambda: width)
    for number, piece in enumerate(pieces):
        below.keep(Line(f"busy {number} " + "忙" * 60), Line(f"status {number}", "2"))
        below.write(piece)
    below.keep()
    below.line(END)
    return "".join(raw)


@pytest.mark.parametrize("width", [20, 40, 81])
def test_a_text_with_lines_below_it_ends_as_the_text_alone(tmp_path: Path, width: int) -> None:
    tmux.needed()
    chance = random.Random(width)
    words = [
        "a",
        "word ",
        "这是",
        "宽",
        "\n",
        "\n\n",
        "-" * width,
        "x" * (width - 1),
        "宽" * (width // 2),
        "é",
        "日本語 text ",
    ]
    pieces = [chance.choice(words) for _ in range(150)]
    plain = "".join(pieces) + ("" if pieces[-1].endswith("\n") else "\n") + END + "\n"
    assert on_screen(tmp_path, grown(pieces, width), width) == on_screen(tmp_path, plain, width)


def test_the_lines_stand_below_the_text_and_only_they_are_drawn_again(tmp_path: Path) -> None:
    tmux.needed()
    raw: list[str] = []
    below = Below(raw.append, lambda: 30)
    below.line("first")
    below.keep(Line("⠋ working"), Line("status"))
    below.write("half a ")
    below.keep(Line("⠙ working"), Line("status"))
    assert "first" not in raw[-1]
    assert "half" not in raw[-1]
    below.write("line")
    assert on_screen(tmp_path, "".join(raw), 30, "status")[-4:] == ["first", "half a line", "⠙ working", "status"]
    said = len(raw)
    below.keep(Line("⠙ working"), Line("status"))
    assert len(raw) == said, "the same lines again cost nothing"


def test_nothing_is_coloured_for_who_wants_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    raw: list[str] = []
    Below(raw.append, lambda: 30).keep(Line("status", "2"))
    plain, coloured = Shading().take("```\ncode\n```\n")
    assert "m" not in "".join(raw).replace("status", "")
    assert plain == coloured


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_code_is_coloured_however_its_fence_arrives_and_not_a_character_changes(size: int) -> None:
    text = "Look:\n```python\nx = `1`\n  ``\n```\n`not` code\n  ```\nmore\n  ```\nend ``` here"
    shading = Shading()
    plain, coloured = "", ""
    for at in range(0, len(text), size):
        more = shading.take(text[at : at + size])
        plain, coloured = plain + more[0], coloured + more[1]
    plain += shading.end()
    assert plain == text
    lines = coloured.replace("\x1b[0m\x1b[36m", "").replace("\x1b[0m\x1b[2m", "").split("\n")
    assert lines[2] == "\x1b[36mx = `1`\x1b[0m"
    assert "\x1b[36m" in lines[7]
    assert lines[5] == "`not` code"
    assert lines[9] == "end ``` here"
    assert "\x1b[2m" in lines[1]


def test_a_line_says_what_matters_most_where_there_is_no_room() -> None:
    said = [Word("⠋ model 3 s", 0), Word("claude", 4), Word("window 6% observed", 1), Word("$0.01", 2)]
    assert fitted(said, 80) == "⠋ model 3 s · claude · window 6% observed · $0.01"
    assert fitted(said, 40) == "⠋ model 3 s · window 6% observed · $0.01"
    assert fitted(said, 33) == "⠋ model 3 s · window 6% observed"
    assert fitted(said, 12) == "⠋ model 3 s"
    assert fitted(said, 7) == "⠋ mode…"


@pytest.mark.parametrize("width", range(12))
def test_what_is_cut_takes_no_more_columns_than_there_are(width: int) -> None:
    from rich.cells import cell_len

    for text in ("日本語のテキスト", "plain words here", "a宽b宽c宽"):
        cut = clipped(text, width)
        assert cell_len(cut) <= width
        assert width < 3 or cell_len(cut) >= min(width, cell_len(text)) - 1

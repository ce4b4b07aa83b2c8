"""Record `clew chat` in a real terminal: `python docs/record_chat.py` writes docs/recorded/. Needs tmux.

The model is scripted and served by clew's simulator; everything else is real: the terminal, the files, the store, the
compactions, kill -9. The same sessions run in the tests.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.agent import first_day, test_long_task  # noqa: E402
from tests.agent.coder import Coder  # noqa: E402
from tests.agent.tmux import Terminal  # noqa: E402

from clew.testing import ProviderSimulator  # noqa: E402

WIDTH, HEIGHT = 96, 34


def main() -> None:
    record("a-long-task", test_long_task.long_task(), test_long_task.drive)
    record("a-first-day", first_day.model(), first_day.drive, begin=first_day.project)


def record(
    name: str,
    model: Coder,
    drive: Callable[[Terminal], None],
    begin: Callable[[Path], None] = lambda folder: folder.mkdir(exist_ok=True),
) -> None:
    """All that scrolled by, as text, and the last screen as a picture."""
    window = test_long_task.WINDOW
    with (
        tempfile.TemporaryDirectory() as folder,
        ProviderSimulator(replies=model, window=window, key="sk-test-1234567890") as simulator,
    ):
        project = Path(folder) / "project"
        begin(project)
        environment = test_long_task.surroundings(Path(folder), simulator)
        with Terminal(project, environment, width=WIDTH, height=HEIGHT) as terminal:
            drive(terminal)
            whole, last = terminal.screen(whole=True), terminal.screen(colours=True)
    lines = [line.rstrip() for line in whole.splitlines()]
    recorded = HERE / "recorded"
    recorded.mkdir(exist_ok=True)
    (recorded / f"{name}.txt").write_text("\n".join(lines).strip() + "\n", encoding="utf-8")
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(last.rstrip()))
    console.save_svg(str(recorded / f"{name}.svg"), title="clew chat")
    print(f"{name}: {len(lines)} lines")


if __name__ == "__main__":
    main()

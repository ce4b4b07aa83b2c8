"""Record a long task in a real terminal: `python docs/record_chat.py` writes docs/recorded/. Needs tmux.

The model is scripted (tests/agent/coder.py) and served by clew's simulator; everything else is real: the terminal, the
files, the store, the compactions, kill -9. The same task runs in the tests.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.agent.test_long_task import WINDOW, drive, long_task, surroundings  # noqa: E402
from tests.agent.tmux import Terminal  # noqa: E402

from clew.testing import ProviderSimulator  # noqa: E402

WIDTH, HEIGHT = 96, 34


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        ProviderSimulator(replies=long_task(), window=WINDOW, key="sk-test-1234567890") as simulator,
    ):
        place = Path(folder)
        project = place / "project"
        project.mkdir()
        environment = surroundings(place, simulator)
        with Terminal(project, environment, width=WIDTH, height=HEIGHT) as terminal:
            drive(terminal)
            whole, last = terminal.screen(whole=True), terminal.screen(colours=True)
    recorded = HERE / "recorded"
    recorded.mkdir(exist_ok=True)
    lines = [line.rstrip() for line in whole.splitlines()]
    (recorded / "a-long-task.txt").write_text("\n".join(lines).strip() + "\n", encoding="utf-8")
    drawn(last, recorded / "a-long-task.svg")
    print(f"{len(lines)} lines in {recorded}")


def drawn(screen: str, file: Path) -> None:
    """The screen as a picture."""
    console = Console(record=True, width=WIDTH, file=open("/dev/null", "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text.from_ansi(screen.rstrip()))
    console.save_svg(str(file), title="clew chat")


if __name__ == "__main__":
    main()

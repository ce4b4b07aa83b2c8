"""terminal: a shell command in the workspace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from clew.agent.tools.environment import without_secrets
from clew.agent.tools.output import HEAD, TAIL, Kept
from clew.agent.workspace import Workspace
from tests.agent import did, refused


@pytest.fixture
def at(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    return Workspace(tmp_path / "project")


def gone(pid_file: Path) -> bool:
    """Whether the process whose number stands there has ended; a zombie has."""
    number = int(pid_file.read_text())
    for _ in range(50):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


def test_the_exit_code_comes_first_then_output_and_errors_in_their_order(at: Workspace) -> None:
    assert did(at, "terminal", command="echo out; echo err >&2; pwd; exit 3") == (f"exit code 3\nout\nerr\n{at.base}\n")
    assert did(at, "terminal", command="true") == "exit code 0\n"


def test_input_is_closed(at: Workspace) -> None:
    assert did(at, "terminal", command="cat; read x; echo $?", timeout=20) == "exit code 0\n1\n"


def test_what_it_started_ends_with_its_time(at: Workspace) -> None:
    told = refused(at, "terminal", command="echo begun; (sleep 300 & echo $! > child; wait) & wait", timeout=1)
    assert "stopped after 1 s" in told
    assert "begun" in told
    assert gone(at.root / "child")


def test_a_process_that_ignores_the_wish_to_end_is_ended(at: Workspace) -> None:
    assert "stopped" in refused(at, "terminal", command="trap '' TERM; echo $$ > child; sleep 300", timeout=1)
    assert gone(at.root / "child")


def test_a_command_that_closed_its_output_is_still_waited_for_and_stopped(at: Workspace) -> None:
    assert did(at, "terminal", command="exec >&- 2>&-; sleep 0.3; exit 4") == "exit code 4\n"
    assert "stopped" in refused(at, "terminal", command="exec >&- 2>&-; echo $$ > child; sleep 300", timeout=1)
    assert gone(at.root / "child")


def test_a_cancelled_command_ends_at_once(at: Workspace) -> None:
    patient = replace(at, cancelled=(at.root / "child").exists)
    assert "cancelled" in refused(patient, "terminal", command="echo $$ > child; sleep 300", timeout=100)
    assert gone(at.root / "child")


def test_ctrl_c_ends_the_command_and_goes_on_to_whoever_called(at: Workspace) -> None:
    program = (
        "import sys; from pathlib import Path; from clew.agent.tools.terminal import terminal\n"
        "from clew.agent.workspace import Workspace\n"
        "try: terminal({'command': 'echo $$ > child; sleep 300', 'timeout': 100}, Workspace(Path(sys.argv[1])))\n"
        "except KeyboardInterrupt: sys.exit(7)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(at.root)]) as process:
        while not (at.root / "child").exists() or not (at.root / "child").read_text():
            assert process.poll() is None
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(20) == 7
    assert gone(at.root / "child")


def test_a_server_in_the_background_is_left_running_and_told(at: Workspace) -> None:
    told = did(at, "terminal", command="sleep 300 & echo $! > child; echo ready", timeout=60)
    try:
        assert told.startswith("exit code 0\nready\n")
        assert "background" in told
        os.kill(int((at.root / "child").read_text()), 0)
    finally:
        os.kill(int((at.root / "child").read_text()), signal.SIGKILL)


def test_a_chatty_background_process_does_not_hold_the_answer(at: Workspace) -> None:
    told = did(at, "terminal", command="(while true; do echo x; sleep 0.02; done) & echo $! > child", timeout=60)
    try:
        assert "background" in told
    finally:
        os.kill(int((at.root / "child").read_text()), signal.SIGKILL)


def test_of_long_output_both_ends_are_kept_and_the_rest_is_counted(at: Workspace) -> None:
    told = did(at, "terminal", command="echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last")
    left_out = len("first\n") + 3_000_000 + len("\nlast\n") - HEAD - TAIL
    assert told.startswith("exit code 0\nfirst\nxxx")
    assert told.endswith("xxx\nlast\n")
    assert f"{left_out:,} bytes left out" in told
    assert len(told) < HEAD + TAIL + 500


@pytest.mark.parametrize("length", [0, 1, HEAD, HEAD + 1, HEAD + TAIL])
def test_output_that_fits_is_whole_however_it_comes(length: int) -> None:
    data = bytes(65 + n % 26 for n in range(length))
    kept = Kept()
    for start in range(0, length, 7_000):
        kept.add(data[start : start + 7_000])
    assert str(kept) == data.decode()


def test_credentials_of_the_environment_stay_here(at: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "ACME_API_KEY": "a1",
        "GITHUB_TOKEN": "b2",
        "CLIENT_SECRET": "c3",
        "token": "d4",
        "AWS_SECRET_ACCESS_KEY": "e5",
        "DB_PASSWORD": "f6",
        "DATABASE_URL": "postgres://me:hunter22x@db/app",
    }
    for name, value in {**secrets, "MAX_TOKENS": "100", "PLAIN": "seen"}.items():
        monkeypatch.setenv(name, value)
    said = did(at, "terminal", command="env").split("\n")
    assert not [line for line in said if line.partition("=")[0] in secrets]
    assert {"MAX_TOKENS=100", "PLAIN=seen"} <= set(said)


def test_what_a_command_needs_is_left() -> None:
    needed = {"PATH": "/usr/bin:/bin", "HOME": "/home/me", "LANG": "C.UTF-8", "SSH_AUTH_SOCK": "/tmp/ssh/agent.1"}
    assert needed.items() <= without_secrets(needed).items()


def test_a_command_that_is_none_is_told(at: Workspace) -> None:
    assert "nothing was run" in refused(at, "terminal", command=" ")
    assert "nothing was run" in refused(at, "terminal", command="echo \0")
    assert did(at, "terminal", command="nosuchprogram").startswith("exit code 127\n")

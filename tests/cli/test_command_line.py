"""The front door as a shell sees it: real processes, exit codes, streams."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.cli.talks import long_talk

CLEW = [sys.executable, "-c", "from clew.cli.main import main; main()"]


def shell(*arguments, stdin=b"", **environment):
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "COLUMNS")}
    command = [*CLEW, *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, env={**kept, **environment}, check=False)


def test_help_lists_the_commands_and_loads_no_more_than_it_needs():
    code = (
        "import sys\nfrom clew.cli.main import main\nsys.argv = ['clew', '--help']\n"
        "try: main()\nexcept SystemExit: print([m for m in ('rich', 'clew.cli.report') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "compact" in done.stdout
    assert "replay" in done.stdout
    assert done.stdout.rstrip().endswith("[]")


def test_version_names_the_installed_package():
    from importlib.metadata import version

    assert shell("--version").stdout.decode().strip() == f"clew {version('clew')}"


def test_a_pipe_gets_plain_text_and_a_document_nothing_else(talk):
    plain = shell("compact", talk, "--context-length", "32000")
    assert plain.returncode == 0
    assert json.loads(plain.stdout)[-1] == long_talk()[-1]
    assert b"\x1b" not in plain.stderr
    assert b"summed up" in plain.stderr
    assert json.loads(shell("replay", talk, "--json").stdout)["failed"] == []


def test_standard_input_works_through_a_pipe(talk):
    done = shell("compact", "-", "--json", stdin=talk.read_bytes())
    assert done.returncode == 0
    assert json.loads(done.stdout)["source"] == "stdin"


def test_no_colour_is_used_where_none_is_wanted(talk):
    done = shell("replay", talk, FORCE_COLOR="1", NO_COLOR="1")
    assert done.returncode == 0
    assert b"\x1b[3" not in done.stdout  # bold and dim are no colours


@pytest.mark.parametrize("arguments", [("compact", "missing.json"), ("replay", "missing.json"), ("fog",), ("compact",)])
def test_a_mistake_never_ends_in_a_traceback(arguments):
    done = shell(*arguments)
    assert done.returncode == (1 if "missing.json" in arguments else 2)
    assert b"Error" in done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


def test_a_terminal_that_cannot_show_an_arrow_gets_a_question_mark(talk):
    done = shell("replay", talk, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"heaviest prompt" in done.stdout


def test_a_reader_that_leaves_early_is_no_error_to_talk_about(talk):
    process = subprocess.Popen([*CLEW, "replay", str(talk)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    with process.stderr:
        assert b"Traceback" not in process.stderr.read()
    process.wait()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_with_130_after_showing_what_was_done(talk):
    # The second recording is a standard input that never ends; the first is shown before it is waited for.
    process = subprocess.Popen(
        [*CLEW, "replay", str(talk), "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process.stdin, process.stdout, process.stderr:
        assert b"talk.jsonl" in process.stdout.readline()
        while b"took" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
        process.wait()
    assert process.returncode == 130
    assert b"Traceback" not in told
    assert b"interrupted" in told


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_a_person_at_a_terminal_sees_how_far_it_is(talk):
    terminal, end = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen([*CLEW, "replay", str(talk)], stdout=subprocess.DEVNULL, stderr=end, env=environment)
    os.close(end)
    seen = b""
    while chunk := _read(terminal):
        seen += chunk
    os.close(terminal)
    assert process.wait() == 0
    assert f"/{len(long_talk())}".encode() in seen


def _read(terminal):
    try:
        return os.read(terminal, 4_096)
    except OSError:  # how Linux says that the other end is closed
        return b""

"""What a call is called in a person's words, and what came of it."""

from __future__ import annotations

from typing import Any

import pytest

from clew.agent.deeds import changed_lines, deed, is_failed, outcome
from clew.agent.tools.call import failed
from clew.facts.messages import tool_result
from tests.agent import call


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("read_file", {"path": "src/a.py"}, "read_file src/a.py"),
        ("read_file", {"path": "src/a.py", "offset": 10, "limit": 51}, "read_file src/a.py:10-60"),
        ("read_file", {"path": "src/a.py", "offset": 10}, "read_file src/a.py:10-"),
        ("terminal", {"command": "make test", "timeout": 9}, "terminal $ make test"),
        ("terminal", {"command": "one\ntwo"}, "terminal $ one two"),
        ("patch", {"path": "a.py", "old": "a\nb\nc\n", "new": "a\nB\nc\nd\n"}, "patch a.py +2 −1"),
        ("patch", {"path": "a.py", "old": "a", "new": "b", "count": 3}, "patch a.py +3 −3"),
        ("write_file", {"path": "a.txt", "content": "1\n2\n"}, "write_file a.txt 2 lines"),
        ("search_files", {"pattern": "def x", "path": "src", "glob": "*.py"}, "search_files “def x” in src in *.py"),
        ("list_files", {}, "list_files ."),
        ("search_history", {"query": "zephyr"}, "search_history “zephyr”"),
        ("delegate", {"task": "Count the lines."}, "delegate Count the lines."),
        ("lcm_grep", {"query": "x", "limit": 3}, "lcm_grep query: x, limit: 3"),
        ("lcm_describe", {"id": "n1"}, "lcm_describe n1"),
        ("patch", {"path": "a.py"}, 'patch {"path": "a.py"}'),
        ("patch", {"path": "a.py", "old": 3, "new": []}, 'patch {"path": "a.py", "old": 3, "new": []}'),
        ("terminal", "not json", "terminal not json"),
        ("terminal", "[1]", "terminal [1]"),
        ("terminal", "", "terminal"),
    ],
)
def test_a_call_is_told_in_a_persons_words(name: str, arguments: Any, told: str) -> None:
    assert deed(call(name, arguments)) == told


def test_a_call_is_one_line_without_keys_and_without_what_steers_a_terminal() -> None:
    told = deed(call("terminal", {"command": "export A_KEY=sk-ant-" + "a1B2" * 10 + "\n\x1b[2J" + "x" * 500}))
    assert "\n" not in told
    assert "\x1b" not in told
    assert "a1B2a1B2" not in told
    assert len(told) <= 100


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("terminal", "exit code 0\none\ntwo\n", "exit 0, 2 lines"),
        ("terminal", "exit code 2\n", "exit 2, no output"),
        ("terminal", "exit code -9\nx", "exit -9, 1 line"),
        ("read_file", "1\tx = 1", "1 line"),
        ("read_file", "1\tx\n2\ty\n[a goes on]", "3 lines"),
        ("patch", "a.py: changed at line 4.", "changed at line 4"),
        ("search_history", "", ""),
    ],
)
def test_the_essence_of_a_result(name: str, text: str, told: str) -> None:
    asked = call(name, {"path": "a.py"})
    assert outcome(asked, tool_result(asked, text)) == told


def test_what_failed_says_why_in_its_first_line() -> None:
    asked = call("patch", {"path": "a.py"})
    result = failed(asked, "a.py does not hold old.\nThe nearest lines:\n1\tx")
    assert is_failed(result)
    assert outcome(asked, result) == "a.py does not hold old."


def test_a_command_that_ended_badly_failed_and_a_file_that_says_so_did_not() -> None:
    asked = call("terminal", {"command": "false"})
    assert is_failed(tool_result(asked, "exit code 1\n"))
    assert not is_failed(tool_result(asked, "exit code 0\n"))
    assert not is_failed(tool_result(call("read_file", {}), "exit code 1\n"))


def test_lines_that_come_and_go_are_counted_not_those_around_them() -> None:
    assert changed_lines("a\nb\nc", "a\nc") == (0, 1)
    assert changed_lines("", "a\nb") == (2, 0)
    assert changed_lines("a", "a") == (0, 0)

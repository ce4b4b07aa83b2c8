"""What a call did is read from its name, its arguments and its result."""

from __future__ import annotations

import json

import pytest

from clew.engines.actions import Touch, Verb, read_action, verb_of
from clew.facts.messages import ToolCall, read_message


def did(tool, arguments, output, **fields):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    result = read_message({"role": "tool", "tool_call_id": "c", "name": tool, "content": output, **fields})
    return read_action(ToolCall("c", tool, text, {}), result)


@pytest.mark.parametrize(
    ("tool", "verb"),
    [
        ("read_file", Verb.READ), ("Read", Verb.READ), ("view", Verb.READ), ("read_file_v2", Verb.READ),
        ("write_file", Verb.WRITE), ("create_file", Verb.WRITE), ("Edit", Verb.EDIT), ("MultiEdit", Verb.EDIT),
        ("apply_patch", Verb.EDIT), ("str_replace_based_edit_tool", Verb.EDIT), ("terminal", Verb.RUN),
        ("exec_command", Verb.RUN), ("run_terminal_command_v2", Verb.RUN), ("Bash", Verb.RUN), ("Grep", Verb.SEARCH),
        ("codebase_search", Verb.SEARCH), ("list_dir", Verb.LIST), ("WebFetch", Verb.FETCH), ("TodoWrite", Verb.PLAN),
        ("AskUserQuestion", Verb.ASK), ("mcp__linear__create_issue", Verb.WRITE), ("get_user_details", Verb.CALL),
    ],
)  # fmt: skip
def test_the_words_of_a_name_tell_what_a_tool_does(tool, verb):
    assert verb_of(tool) is verb


def test_a_command_is_told_with_its_exit_code_its_counts_and_its_error():
    action = did(
        "terminal", {"command": "pytest tests/"}, "Exit code 1\nE  ValueError: bad rune\n2 failed, 48 passed in 3s\n"
    )
    assert (action.verb, action.target, action.failed) == (Verb.RUN, "pytest tests/", True)
    assert action.error == "E ValueError: bad rune"
    assert "exit 1" in action.outcome
    assert "2 failed, 48 passed" in action.outcome


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("Process exited with code 0\nOutput: fine", False),
        ("Process exited with code 2\nboom", True),
        ('{"exit_code": 127, "output": "not found"}', True),
        ("Traceback (most recent call last):\n  x\nKeyError: 'a'", True),
        ("all good", False),
        ("the error handling section explains Error codes", False),
    ],
)
def test_a_failure_is_known_by_its_status_not_by_the_word_error(output, failed):
    assert did("terminal", {"command": "make"}, output).failed is failed


def test_nothing_found_is_no_failure():
    assert not did("terminal", {"command": "grep -rn foo src"}, "Exit code 1").failed


def test_the_host_may_say_that_it_failed():
    assert did("read_file", {"path": "a.py"}, "File does not exist.", is_error=True).failed


@pytest.mark.parametrize(
    ("tool", "arguments", "touched"),
    [
        ("Read", {"file_path": "/a/b.py"}, (("/a/b.py", Touch.READ),)),
        ("read", {"filePath": "/a/b.py"}, (("/a/b.py", Touch.READ),)),
        ("Write", {"file_path": "new.py", "content": "x"}, (("new.py", Touch.CREATED),)),
        ("Edit", {"file_path": "old.py", "old_string": "a"}, (("old.py", Touch.CHANGED),)),
        ("apply_patch", {"patch": "*** Begin Patch\n*** Add File: n.py\n+x\n*** Delete File: d.py\n"},
         (("n.py", Touch.CREATED), ("d.py", Touch.DELETED))),
        ("bash", {"command": "echo hi > out/log.txt 2>/dev/null"}, (("out/log.txt", Touch.CHANGED),)),
        ("bash", {"command": "sed -i 's/a/b/' src/x.py"}, (("src/x.py", Touch.CHANGED),)),
        ("bash", {"command": "git rm -f old/y.py"}, (("old/y.py", Touch.DELETED),)),
        ("bash", {"command": "ls > /dev/null"}, ()),
    ],
)  # fmt: skip
def test_files_that_were_touched_are_named(tool, arguments, touched):
    assert did(tool, arguments, "ok").touched == touched


def test_a_failed_edit_changed_nothing():
    assert did("Edit", {"file_path": "old.py"}, "<tool_use_error>not found</tool_use_error>").touched == ()


@pytest.mark.parametrize(
    "arguments", ["", "null", "[1]", "not json", "{", '{"path": null}', '{"path": 7}', '{"a": {"b": []}}']
)
def test_odd_arguments_have_an_account_too(arguments):
    assert did("read_file", arguments, "x").line


def test_a_call_under_way_has_no_outcome():
    assert read_action(ToolCall("c", "terminal", '{"command": "make"}', {}), None).outcome == "under way"


def test_no_credential_is_quoted_from_a_result():
    secret = "sk-" + "proj-" + "Zq7Xw2Lm9Kp4Vt8Rb3Nc6Yd1"
    assert (
        secret not in did("terminal", {"command": "env"}, f"Error: OPENAI_API_KEY={secret} refused", is_error=True).line
    )

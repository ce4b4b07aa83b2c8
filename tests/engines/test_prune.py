"""Old tool output becomes one line, huge arguments stay valid JSON, the rest is not touched."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.engines.prune import CLEARED, prune, shape, short_arguments
from clew.facts.messages import read_messages
from tests.histories import legal_histories


def history(tool, arguments, *outputs):
    made = [{"role": "user", "content": "go"}]
    for n, output in enumerate(outputs):
        call = {"id": f"c{n}", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        made.append({"role": "assistant", "content": None, "tool_calls": [call]})
        made.append({"role": "tool", "tool_call_id": f"c{n}", "name": tool, "content": output})
    return read_messages(made)


def lines(messages):
    return [said.text for said in messages if said.role == "tool"]


def test_a_long_log_becomes_one_line_with_tool_target_outcome_and_size():
    log = "Exit code 1\n" + "test output\n" * 2_999
    made = prune(history("terminal", {"command": "pytest tests/"}, log), before=99)
    assert lines(made) == ["[terminal] ran `pytest tests/` -> exit 1, test output, 3,000 lines output"]


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("read_file", {"path": "src/a.py"}, "[read_file] read src/a.py -> 100 lines"),
        ("Grep", {"pattern": "foo.*bar"}, "[Grep] searched `foo.*bar` -> 100 lines"),
        ("web_fetch", {"url": "https://example.org/x"}, "[web_fetch] fetched https://example.org/x -> 100 lines"),
        ("get_order", {"order_id": "#W123"}, "[get_order] order_id=#W123 -> 100 lines"),
        ("strange", {}, "[strange] -> 100 lines"),
    ],
)
def test_every_tool_has_its_words(tool, arguments, told):
    assert lines(prune(history(tool, arguments, "some line\n" * 100), before=99)) == [told]


def test_short_output_stays():
    assert lines(prune(history("terminal", {"command": "ls"}, "a\nb"), before=99)) == ["a\nb"]


def test_the_same_output_again_is_kept_once():
    made = prune(history("read_file", {"path": "a.py"}, "same line\n" * 80, "same line\n" * 80), before=3)
    assert "came again later" in lines(made)[0]
    assert lines(made)[1] == "same line\n" * 80


@settings(max_examples=50, deadline=None)
@given(legal_histories(), st.integers(0, 40))
def test_nothing_behind_the_boundary_changes_and_nothing_grows(raw, before):
    messages = read_messages(raw)
    made = prune(messages, before=before)
    assert made[before:] == messages[before:]
    for old, new in zip(messages, made, strict=True):
        assert len(new.text) <= max(len(old.text), len(CLEARED))
        for call in new.calls:
            assert isinstance(json.loads(call.arguments), dict)


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps({"path": "a.py", "content": "x" * 90_000}),
        json.dumps({"ids": [f"item-{n}" for n in range(9_000)]}),
        json.dumps({f"key{n}": n for n in range(9_000)}),
        json.dumps([["deep"] * 50] * 50),
        "not json at all " * 4_000,
        "{" * 60_000,
        json.dumps({"k" * 5_000: 1}),
    ],
)
def test_any_arguments_can_be_brought_under_a_cap_and_stay_valid(arguments):
    short = short_arguments(arguments, 1_000)
    assert len(short) <= 1_000
    json.loads(short)


def test_what_was_cut_out_of_an_argument_is_said():
    short = json.loads(short_arguments(json.dumps({"path": "a.py", "content": "line\n" * 9_000}), 1_000))
    assert short["path"] == "a.py"
    assert "9,000 lines in all" in short["content"]


def test_a_shape_keeps_both_ends_and_says_how_much_is_missing():
    made = shape("first line\n" + "middle\n" * 5_000 + "last line", most=400, where="see message 7")
    assert made.startswith("first line")
    assert made.endswith("last line")
    assert "5,002 lines" in made
    assert "see message 7" in made
    assert len(made) < 600

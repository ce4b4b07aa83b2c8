"""Cuts never split a call from its result, and what is broken is mended without touching the rest."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from clew import validate_messages
from clew.core.pairs import RESULT_IS_GONE, exchanges, legal_cuts, repair
from clew.core.speaker import HISTORY_STARTS_LATER
from clew.facts.messages import read_messages
from tests.histories import legal_histories, odd_histories


def call(call_id, arguments="{}"):
    made = {"id": call_id, "type": "function", "function": {"name": "run", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def result(call_id, text="ok"):
    return {"role": "tool", "tool_call_id": call_id, "name": "run", "content": text}


USER = {"role": "user", "content": "go"}
ANSWER = {"role": "assistant", "content": "done"}


def repaired(*history):
    return [said.to_dict() for said in repair(read_messages(history))]


@given(legal_histories())
def test_a_legal_history_needs_no_repair(history):
    assert [said.to_dict() for said in repair(read_messages(history))] == history


@given(legal_histories(), st.data())
def test_both_sides_of_every_legal_cut_are_whole(history, data):
    messages = read_messages(history)
    cut = data.draw(st.sampled_from(legal_cuts(messages)))
    for side in (history[:cut], history[cut:]):
        asked = {c["id"] for said in side for c in said.get("tool_calls") or [] if c["id"] != "flying"}
        assert asked == {said["tool_call_id"] for said in side if said["role"] == "tool"}


@given(odd_histories)
def test_repair_is_total_and_done_after_once(history):
    once = repair(read_messages(history))
    assert repair(once) == once


def test_a_result_without_a_call_leaves():
    assert repaired(USER, result("lost"), ANSWER) == [USER, ANSWER]


def test_a_call_without_a_result_gets_a_stub():
    assert repaired(USER, call("a"), ANSWER) == [USER, call("a"), result("a", RESULT_IS_GONE), ANSWER]


def test_a_call_in_flight_is_left_alone():
    assert repaired(USER, call("a", "not json")) == [USER, call("a", "not json")]


def test_a_result_that_stands_apart_is_put_behind_its_call():
    reminder = {"role": "user", "content": "<system-reminder>x</system-reminder>"}
    assert repaired(USER, call("a"), reminder, result("a"), ANSWER) == [USER, call("a"), result("a"), reminder, ANSWER]


def test_reused_call_ids_keep_their_own_results():
    history = [USER, call("a"), result("a", "first"), call("a"), result("a", "second"), ANSWER]
    assert repaired(*history) == history
    assert [e.results[0].text for e in exchanges(read_messages(history)) if e.results] == ["first", "second"]


def test_calls_without_ids_take_their_results_in_order():
    asked = call("")
    asked["tool_calls"] = asked["tool_calls"] * 2
    history = [USER, asked, result("", "first"), result("", "second"), ANSWER]
    assert repaired(*history) == history


def test_a_history_that_begins_with_the_assistant_gets_an_opening():
    assert repaired(ANSWER)[0] == {"role": "user", "content": HISTORY_STARTS_LATER}


def test_arguments_that_are_no_json_object_become_one_and_keep_what_they_were():
    for odd in ("not json", "[1, 2]", "", None, 5, {"a": 1}):
        mended = repaired(USER, call("a", odd), result("a"), ANSWER)
        assert validate_messages(mended, "anthropic") == []
        if odd:
            assert str(odd if not isinstance(odd, dict) else 1)[:3].strip("[") in json.dumps(mended)


def test_a_call_of_a_tool_that_takes_free_text_is_left_alone() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    told = [
        {"role": "user", "content": "count"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
    ]
    assert [said.to_dict() for said in repair(read_messages(told))] == told

"""What holds for every history, every pass and every way out of the default engine."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from clew import ContextCompressor, validate_messages
from clew.core.speaker import Speaker, is_handoff, newest_said_by_person, speaker
from clew.engines.handoff import CLOSING, OPENING
from clew.facts.messages import read_messages
from clew.tokens import count_message, default
from tests.histories import SECRET, legal_histories, odd_histories

windows = st.sampled_from([8_000, 12_000, 16_000, 64_000])
summarisers = st.sampled_from([
    None,
    lambda prompt: "## Goal\nfinish the parser\n\n## Critical Context\nport 8080",
    lambda prompt: "",
    lambda prompt: f"the key was {SECRET}",
    lambda prompt: 1 / 0,
    lambda prompt: "far too long " * 20_000,
])  # fmt: skip


def passes(history: list[dict[str, Any]], window: int, summarise: Any, n: int = 3) -> list[list[dict[str, Any]]]:
    """The history after one, two, … compactions, with more talk in between."""
    engine = ContextCompressor(window, summarise=summarise, protect_last_n=4)
    seen = []
    for number in range(n):
        history = engine.compress(history)
        seen.append(history)
        if history and history[-1]["role"] != "tool" and not history[-1].get("tool_calls"):
            more = [
                {"role": "user", "content": f"round {number}: go on"},
                {"role": "assistant", "content": "word " * 900 + "end"},
            ]
            history = history + (more if history[-1]["role"] != "user" else more[1:])
    return seen


def weight(history: list[dict[str, Any]]) -> int:
    return sum(count_message(said, default()) for said in history)


@settings(max_examples=60, deadline=None)
@given(legal_histories(), windows, summarisers)
def test_every_pass_leaves_a_history_that_openai_and_anthropic_accept(history, window, summarise):
    for result in passes(history, window, summarise):
        assert validate_messages(result, "openai") == []
        assert validate_messages(result, "anthropic") == []


@settings(max_examples=60, deadline=None)
@given(legal_histories(), windows, summarisers)
def test_the_first_message_after_the_system_prompt_is_a_users(history, window, summarise):
    for result in passes(history, window, summarise):
        spoken = [said for said in result if said["role"] != "system"]
        assert spoken[0]["role"] == "user"


@settings(max_examples=60, deadline=None)
@given(legal_histories(), windows, summarisers)
def test_the_newest_request_stays_word_for_word_and_behind_the_summary(history, window, summarise):
    engine = ContextCompressor(window, summarise=summarise, protect_last_n=4)
    asked = newest_said_by_person(read_messages(history))
    result = engine.compress(history)
    behind = [said.get("content") for said in result]
    place = len(behind) - 1 - behind[::-1].index(history[asked]["content"])
    assert not any(is_handoff(said) for said in read_messages(result[place:]))
    assert behind.count(history[asked]["content"]) <= [said.get("content") for said in history].count(
        history[asked]["content"]
    )


@settings(max_examples=60, deadline=None)
@given(legal_histories(), windows, summarisers)
def test_there_is_one_summary_whatever_the_number_of_passes(history, window, summarise):
    for result in passes(history, window, summarise, n=4):
        handoffs = [said for said in read_messages(result) if is_handoff(said)]
        assert len(handoffs) <= 1
        for said in handoffs:
            assert said.text.startswith(OPENING)
            assert said.text.endswith(CLOSING)
            assert said.text.count("\n## Active Task\n") == 1


@settings(max_examples=60, deadline=None)
@given(legal_histories(), windows, summarisers)
def test_it_is_never_larger_than_before(history, window, summarise):
    engine = ContextCompressor(window, summarise=summarise)
    assert weight(engine.compress(history)) <= weight(history)


@settings(max_examples=60, deadline=None)
@given(legal_histories(), windows, summarisers)
def test_a_call_in_flight_is_untouched(history, window, summarise):
    result = ContextCompressor(window, summarise=summarise).compress(history)
    if history[-1].get("tool_calls"):
        assert result[-1] == history[-1]


@settings(max_examples=60, deadline=None)
@given(legal_histories(), windows, summarisers)
def test_no_call_without_result_and_no_result_without_call(history, window, summarise):
    for result in passes(history, window, summarise):
        asked = [call["id"] for said in result for call in said.get("tool_calls") or [] if call["id"] != "flying"]
        answered = [said["tool_call_id"] for said in result if said["role"] == "tool"]
        assert sorted(asked) == sorted(answered)


@settings(max_examples=60, deadline=None)
@given(legal_histories(), windows, summarisers)
def test_arguments_are_valid_json_afterwards(history, window, summarise):
    for result in passes(history, window, summarise):
        for said in result:
            for call in said.get("tool_calls") or []:
                json.loads(call["function"]["arguments"])


@settings(max_examples=60, deadline=None)
@given(legal_histories(), windows, summarisers)
def test_what_is_handed_in_is_not_touched(history, window, summarise):
    before = copy.deepcopy(history)
    ContextCompressor(window, summarise=summarise).compress(history, focus_topic="parser")
    assert history == before


@settings(max_examples=60, deadline=None)
@given(legal_histories(least=4), windows, st.booleans())
def test_no_secret_leaves_in_a_summary_or_a_prompt(history, window, with_model):
    prompts: list[str] = []

    def summarise(prompt: str) -> str:
        prompts.append(prompt)
        return f"## Goal\nuse {SECRET} to log in"

    engine = ContextCompressor(window, summarise=summarise if with_model else None, protect_last_n=2)
    result = engine.compress(history, focus_topic=f"the login with {SECRET}")
    assert all(SECRET not in prompt for prompt in prompts)
    for said in read_messages(result):
        if is_handoff(said):
            assert SECRET not in said.text


@settings(max_examples=40, deadline=None)
@given(legal_histories(), windows)
def test_the_same_history_gives_the_same_result(history, window):
    first = ContextCompressor(window).compress(history)
    assert ContextCompressor(window).compress(copy.deepcopy(history)) == first


@settings(max_examples=200, deadline=None)
@given(odd_histories, windows, st.sampled_from([None, lambda prompt: "short summary"]))
def test_odd_histories_become_sound_ones_and_lose_no_person(history, window, summarise):
    engine = ContextCompressor(window, summarise=summarise, protect_last_n=3)
    before = read_messages(history)
    result = engine.compress(history)
    after = read_messages(result)
    asked = newest_said_by_person(before)
    if asked is not None and before[asked].text:
        assert any(said.text == before[asked].text for said in after if speaker(said) is Speaker.PERSON)
    calls = [call for said in after for call in said.calls]
    for said in after[:-1]:
        for call in said.calls if said is not after[-1] else ():
            assert isinstance(call.raw["function"]["arguments"], str)
    assert len(calls) <= sum(len(said.calls) for said in before)
    spoken = [said for said in after if not said.is_system]
    assert not spoken or spoken[0].role == "user"

"""Where cache points go: the layout agents know, and the one that finds again what was written."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.cache import apply_anthropic_cache_control, caching_line, is_cached, place_cache_points, style_of
from clew.core.cache_marks import MARKS, Style
from clew.facts.exchange import Prompt
from clew.facts.messages import Message, read_message, read_messages
from tests.wire.exchanges import prompts

FIVE = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
BREAKPOINT = {"mode": "explicit"}
TOOL = {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(*ids: str, text: str | None = None) -> dict[str, Any]:
    made = [{"id": one, "type": "function", "function": {"name": "read", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": text, "tool_calls": made}


def result(call: str, text: str = "lines") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def prompt(*messages: dict[str, Any], system: str = "Be brief.", **fields: Any) -> Prompt:
    return Prompt(system, read_messages(messages), **fields)


TURNS = (
    user("Port the parser."),
    calls("a"),
    result("a"),
    says("Ported."),
    user("Test it."),
    calls("b"),
    result("b"),
    calls("c", "d"),
    result("c"),
    result("d"),
)
"""A finished turn, and two steps of the next."""


def places(placed: Prompt) -> set[str | int]:
    """Where a prompt is marked: tools, system, or the place of a message."""
    found: set[str | int] = {n for n, message in enumerate(placed.messages) if is_marked(message.raw)}
    if any(is_marked(tool) for tool in placed.tools):
        found.add("tools")
    if any(is_marked(own.get("system")) for own in placed.foreign.values()):
        found.add("system")
    return found


def is_marked(value: Any) -> bool:
    return any(f'"{mark}"' in json.dumps(value) for mark in MARKS)


def count(value: Any) -> int:
    return sum(json.dumps(value).count(f'"{mark}"') for mark in MARKS)


def bare(value: Any) -> Any:
    """A value without markers; a list of one text is the text, as a marker makes the one of the other."""
    if isinstance(value, dict):
        return {key: bare(inner) for key, inner in value.items() if key not in MARKS}
    if isinstance(value, list):
        inner = [bare(part) for part in value]
        plain = len(inner) == 1 and isinstance(inner[0], dict) and inner[0].keys() == {"type", "text"}
        return inner[0]["text"] if plain else inner
    return value


def said(message: Message) -> Any:
    return bare(dict(message.raw))


# --- the layout agents know ---


def test_system_and_3_marks_the_system_prompt_and_the_last_three_others() -> None:
    history = [{"role": "system", "content": "Be brief."}, *(user(str(n)) for n in range(5))]
    marked = apply_anthropic_cache_control(history)
    assert marked == [
        {"role": "system", "content": [{"type": "text", "text": "Be brief.", "cache_control": FIVE}]},
        user("0"),
        user("1"),
        *({"role": "user", "content": [{"type": "text", "text": n, "cache_control": FIVE}]} for n in "234"),
    ]


def test_without_a_system_prompt_it_marks_three() -> None:
    marked = apply_anthropic_cache_control([user(str(n)) for n in range(6)])
    assert [is_marked(message) for message in marked] == [False] * 3 + [True] * 3


def test_a_list_is_marked_on_its_last_element_an_empty_message_on_itself() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    listed = {"role": "user", "content": [{"type": "text", "text": "See:"}, picture]}
    marked = apply_anthropic_cache_control([listed, calls("a"), says("")], "1h")
    assert marked == [
        {"role": "user", "content": [{"type": "text", "text": "See:"}, {**picture, "cache_control": HOUR}]},
        {**calls("a"), "cache_control": HOUR},
        {**says(""), "cache_control": HOUR},
    ]


def test_a_list_that_does_not_end_in_a_dict_is_left_alone() -> None:
    odd = [{"role": "user", "content": ["plain"]}]
    assert apply_anthropic_cache_control(odd) == odd


def test_a_tool_message_is_marked_on_itself_at_anthropic_and_nowhere_else() -> None:
    history = [calls("a"), result("a")]
    assert apply_anthropic_cache_control(history)[1] == {**result("a"), "cache_control": FIVE}
    assert apply_anthropic_cache_control(history, native_anthropic=False)[1] == result("a")


def test_the_messages_handed_in_stay_as_they_are() -> None:
    history = [{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, *copy.deepcopy(TURNS)]
    before = copy.deepcopy(history)
    marked = apply_anthropic_cache_control(history)
    for message in marked:
        message["seen"] = True
    marked[0]["content"][0]["text"] = "Be long."
    marked[-1]["cache_control"]["ttl"] = "1h"
    assert history == before


def test_marking_twice_is_marking_once() -> None:
    once = apply_anthropic_cache_control([{"role": "system", "content": "Be brief."}, *TURNS])
    assert apply_anthropic_cache_control(once) == once
    assert apply_anthropic_cache_control([]) == []


@pytest.mark.parametrize("ttl", ["", "10m", "1H", "5"])
def test_a_lifetime_that_anthropic_does_not_have_is_refused_in_a_sentence(ttl: str) -> None:
    with pytest.raises(ValueError, match="'5m' or '1h'"):
        apply_anthropic_cache_control([user("Hi")], ttl)
    with pytest.raises(ValueError, match="'5m' or '1h'"):
        place_cache_points(prompt(user("Hi")), ttl=ttl)


# --- the one that finds again what was written ---


def test_marked_are_the_end_the_end_of_the_last_request_of_the_last_turn_and_the_system_prompt() -> None:
    placed = place_cache_points(prompt(*TURNS, tools=(TOOL,)), minimum=0)
    assert places(placed) == {9, 6, 4, "system"}
    assert placed.messages[9].raw == {**result("d"), "cache_control": FIVE}
    assert placed.messages[4].raw["content"] == [{"type": "text", "text": "Test it.", "cache_control": FIVE}]
    assert placed.foreign == {"anthropic": {"system": [{"type": "text", "text": "Be brief.", "cache_control": FIVE}]}}


def test_a_turn_without_tools_is_marked_where_the_two_turns_before_were_asked() -> None:
    talk = (user("One?"), says("1"), user("Two?"), says("2"), user("Three?"))
    assert places(place_cache_points(prompt(*talk), minimum=0)) == {4, 2, 0, "system"}


def test_the_first_prompt_of_a_conversation_has_room_to_mark_its_tools() -> None:
    late = {**TOOL, "anthropic": {"defer_loading": True}}
    placed = place_cache_points(prompt(user("Hi"), tools=(TOOL, TOOL, late)), minimum=0, ttl="1h")
    assert placed.tools == (TOOL, {**TOOL, "cache_control": HOUR}, late)
    assert places(placed) == {0, "system", "tools"}


def test_several_messages_of_a_reply_count_as_one_reply() -> None:
    pieces = (user("One?"), says("1"), user("Go."), says("I look."), calls("a"), result("a"))
    assert places(place_cache_points(prompt(*pieces), minimum=0)) == {5, 2, 0, "system"}


def test_a_reply_that_is_to_be_gone_on_with_is_marked_on_its_last_call() -> None:
    placed = place_cache_points(prompt(user("Go."), calls("a", "b", text="I look.")), minimum=0)
    marked = placed.messages[1]
    assert [is_marked(call.raw) for call in marked.calls] == [False, True]
    assert [is_marked(call) for call in marked.raw["tool_calls"]] == [False, True]
    assert marked.raw["content"] == "I look."


@pytest.mark.parametrize(
    "unmarkable",
    [
        {"role": "user", "content": " \n"},
        {"role": "user", "content": [{"type": "text", "text": ""}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]},
        {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a call that was taken away"}]},
        {"role": "system", "content": "From now on in French."},
        {"role": "user", "content": None},
        {"role": "user", "content": ["bare"]},
    ],
    ids=str,
)
def test_what_cannot_carry_a_marker_leaves_it_to_what_stands_before(unmarkable: dict[str, Any]) -> None:
    placed = place_cache_points(prompt(user("Hi"), unmarkable), minimum=0)
    assert places(placed) == {0, "system"}


def test_thoughts_are_passed_over_inside_a_message() -> None:
    parts = [{"type": "text", "text": "So."}, {"type": "thinking", "thinking": "Hm.", "signature": "s"}]
    placed = place_cache_points(prompt(user("Hi"), {"role": "assistant", "content": parts}), minimum=0)
    assert placed.messages[1].raw["content"] == [{**parts[0], "cache_control": FIVE}, parts[1]]


@pytest.mark.parametrize(
    "own",
    [
        prompt(*TURNS, tools=({**TOOL, "cache_control": FIVE},)),
        prompt(*TURNS, {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": HOUR}]}),
        prompt({**result("a"), "cache_control": FIVE}, *TURNS),
        prompt({"role": "assistant", "tool_calls": [{**calls("a")["tool_calls"][0], "cache_control": FIVE}]}, *TURNS),
        prompt(*TURNS, foreign={"anthropic": {"system": [{"type": "text", "text": "Hi", "cache_control": FIVE}]}}),
        prompt(*TURNS, foreign={"anthropic": {"cache_control": FIVE}}),
        prompt(*TURNS, foreign={"chat": {"prompt_cache_options": {"mode": "explicit"}}}),
        prompt(
            *TURNS,
            foreign={"chat": {"system": [{"role": "developer", "content": [{"text": "", "cache_control": FIVE}]}]}},
        ),
    ],
    ids=["tool", "part", "result", "call", "system", "automatic", "options", "chat system"],
)
def test_whoever_marks_a_prompt_has_a_plan_and_is_left_alone(own: Prompt) -> None:
    assert place_cache_points(own, minimum=0) is own


def test_a_system_prompt_keeps_the_spelling_its_client_gave_it() -> None:
    blocks = [{"type": "text", "text": "You are"}, {"type": "text", "text": "brief."}]
    spelled = prompt(*TURNS, system="You are\n\nbrief.", foreign={"anthropic": {"system": blocks, "metadata": {}}})
    placed = place_cache_points(spelled, minimum=0)
    assert placed.foreign == {
        "anthropic": {"system": [blocks[0], {**blocks[1], "cache_control": FIVE}], "metadata": {}}
    }
    chat = [{"role": "system", "content": "You are"}, {"role": "developer", "content": "brief."}]
    placed = place_cache_points(replace(spelled, foreign={"chat": {"system": chat}}), "openrouter", minimum=0)
    marked = [{"type": "text", "text": "brief.", "cache_control": FIVE}]
    assert placed.foreign == {"chat": {"system": [chat[0], {"role": "developer", "content": marked}]}}


def test_what_is_too_light_to_be_cached_gets_no_marker() -> None:
    long = prompt(user("x" * 400), says("y" * 400), user("z" * 400), says("1"), user("more"), tools=(TOOL,))
    assert places(place_cache_points(long, minimum=10_000)) == set()
    assert places(place_cache_points(long, minimum=1_024)) == {4, 2}
    assert places(place_cache_points(long, minimum=1_024, count=lambda text: 10 * len(text))) == {4, 2, 0, "system"}
    assert places(place_cache_points(long, minimum=1_024, count=lambda text: len(text) // 4)) == set()


def test_a_picture_and_the_arguments_of_calls_weigh_too() -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:" + "x" * 2_000}}]}
    assert places(place_cache_points(prompt(picture))) == {0}
    call = {"id": "a", "type": "function", "function": {"name": "write", "arguments": "x" * 2_000}}
    assert places(
        place_cache_points(prompt(user("Go."), {"role": "assistant", "tool_calls": [call]}, result("a")))
    ) == {2}


def test_openrouter_is_told_inside_text_parts_and_nowhere_else() -> None:
    placed = place_cache_points(prompt(*TURNS, tools=(TOOL,)), "openrouter", minimum=0)
    assert places(placed) == {9, 6, 4, "system"}
    assert placed.messages[9].raw == {
        **result("d"),
        "content": [{"type": "text", "text": "lines", "cache_control": FIVE}],
    }
    assert placed.foreign["chat"]["system"][0]["content"][0]["cache_control"] == FIVE
    assert place_cache_points(prompt(user("Go."), tools=(TOOL,)), "openrouter", minimum=0).tools == (TOOL,)
    only_calls = place_cache_points(prompt(user("Go."), calls("a"), result("a", "")), "openrouter", minimum=0)
    assert places(only_calls) == {0, "system"}


def test_openai_is_told_on_what_the_model_was_told_and_marks_the_newest_itself() -> None:
    placed = place_cache_points(prompt(*TURNS, tools=(TOOL,), model="gpt-5.6-sol"), "openai", minimum=0)
    assert places(placed) == {6, 4, "system"}
    marked = [{"type": "text", "text": "lines", "prompt_cache_breakpoint": BREAKPOINT}]
    assert placed.messages[6].raw["content"] == marked
    blank = prompt(user("One?"), says("1"), user(" "), says("Well?"), user("Two?"), model="gpt-5.6")
    assert places(place_cache_points(blank, "openai", minimum=0)) == {0, "system"}
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    seen = prompt({"role": "user", "content": [picture]}, says("A cat."), user("Sure?"), model="gpt-6")
    assert place_cache_points(seen, "openai", minimum=0).messages[0].raw["content"] == [
        {**picture, "prompt_cache_breakpoint": BREAKPOINT}
    ]


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-5.5"), ("openai", "gpt-4.1"), ("openai", ""), ("azure", "gpt-35-turbo"), ("openai", "o3"),
        ("deepseek", "deepseek-v4"), ("gemini", "gemini-3-pro"), ("xai", "grok-5"), ("groq", ""), ("moonshot", ""),
        ("mistral", ""), ("llama.cpp", ""), ("vllm", ""), ("vertex", "gemini-3-pro"), ("openrouter", "openai/gpt-5.6"),
        ("bedrock", "meta.llama4"), ("somewhere", "claude-opus-5"),
    ],
)  # fmt: skip
def test_who_caches_unasked_gets_the_prompt_as_it_is(provider: str, model: str) -> None:
    own = prompt(*TURNS, model=model)
    assert place_cache_points(own, provider, minimum=0) is own


@pytest.mark.parametrize(
    ("provider", "model", "style"),
    [
        ("anthropic", "claude-opus-5", Style.BLOCKS),
        ("bedrock", "anthropic.claude-sonnet-5", Style.BLOCKS),
        ("vertex", "claude-haiku-4-5", Style.BLOCKS),
        ("minimax", "MiniMax-M3", Style.BLOCKS),
        ("OpenRouter", "anthropic/Claude-Opus-5", Style.PARTS),
        ("openrouter", "qwen/qwen3-max", Style.PARTS),
        ("openai", "gpt-5.10", Style.BREAKPOINTS),
        ("azure", "gpt-6-mini", Style.BREAKPOINTS),
    ],
)
def test_who_has_to_be_told_and_how(provider: str, model: str, style: Style) -> None:
    assert style_of(provider, model) is style


providers = st.sampled_from([("anthropic", ""), ("openrouter", "anthropic/claude-opus-5"), ("openai", "gpt-5.6")])


@given(prompts(), providers)
def test_any_prompt_gets_at_most_four_markers_and_is_otherwise_unchanged(own: Prompt, to: tuple[str, str]) -> None:
    own = replace(own, model=to[1])
    before = copy.deepcopy(own)
    placed = place_cache_points(own, to[0], minimum=0)
    assert own == before
    foreign = {key: dict(value) for key, value in placed.foreign.items()}
    assert 1 <= count([[dict(m.raw) for m in placed.messages], list(placed.tools), foreign]) <= 4
    assert list(map(said, placed.messages)) == list(map(said, own.messages))
    assert [bare(dict(tool)) for tool in placed.tools] == [dict(tool) for tool in own.tools]
    assert [(m.text, m.call_id, m.name) for m in placed.messages] == [(m.text, m.call_id, m.name) for m in own.messages]
    assert all(m == read_message(m.raw) for m in placed.messages)


@given(prompts(), providers)
def test_placing_twice_is_placing_once(own: Prompt, to: tuple[str, str]) -> None:
    once = place_cache_points(replace(own, model=to[1]), to[0], minimum=0)
    assert place_cache_points(once, to[0], minimum=0) == once


@given(prompts())
def test_every_request_marks_the_place_where_the_one_before_ended(own: Prompt) -> None:
    roles = [message.role for message in own.messages]
    asked = [n for n in range(1, len(roles)) if roles[n] == "assistant" != roles[n - 1]] + [len(roles)]
    for before, now in pairwise(asked):
        earlier = places(place_cache_points(replace(own, messages=own.messages[:before]), minimum=0))
        later = places(place_cache_points(replace(own, messages=own.messages[:now]), minimum=0))
        assert before - 1 in earlier & later


# --- the line at the start ---


def test_the_start_line_says_that_claude_is_cached_at_anthropic_and_openrouter() -> None:
    line = "💾 Prompt caching: ENABLED (Claude via OpenRouter, 5m TTL)"
    assert caching_line("anthropic/claude-opus-5", "openrouter") == line
    assert caching_line("claude-sonnet-5", "anthropic", "1h") == (
        "💾 Prompt caching: ENABLED (Claude via Anthropic, 1h TTL)"
    )
    assert caching_line("gpt-5.6", "openrouter") is None
    assert not is_cached("claude-opus-5", "bedrock")
    assert is_cached("Claude-Opus-5", "Anthropic")

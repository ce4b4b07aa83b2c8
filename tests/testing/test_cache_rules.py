"""The providers' cache rules, and what the placement of markers costs under them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.cache import apply_anthropic_cache_control, place_cache_points
from clew.facts.exchange import Prompt
from clew.facts.messages import Message, read_message, read_messages
from clew.testing.simulator.cache import BadCacheControl, Billed, PromptCache, least_cached, price
from clew.testing.simulator.openai_cache import AutomaticCache, BreakpointCache
from clew.wire.anthropic import ANTHROPIC
from tests.recordings import sample
from tests.wire.exchanges import prompts

FIVE = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def tokens_of(block: Mapping[str, Any]) -> int:
    """A block's own number of tokens, or its length."""
    return int(block.get("tokens", len(json.dumps(block))))


def a_cache(minimum: int = 0, runs_count_once: bool = True) -> PromptCache:
    return PromptCache(tokens_of, minimum=lambda model: minimum, runs_count_once=runs_count_once)


def blocks(count: int, *marked: int, kind: str = "text", marker: Mapping[str, str] = FIVE) -> list[dict[str, Any]]:
    """So many blocks of 100 tokens, counted from 1, some of them marked."""
    made: list[dict[str, Any]] = [{"type": kind, "text": str(n), "tokens": 100} for n in range(1, count + 1)]
    for place in marked:
        made[place - 1]["cache_control"] = dict(marker)
    return made


def body(content: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-5", "messages": [{"role": "user", "content": content}], **fields}


# --- Anthropic: what is found ---


def test_the_documented_example_of_a_conversation_that_grows() -> None:
    cache = a_cache()
    assert cache.bill(body(blocks(10, 10)), now=0) == Billed(write_5m=1_000)
    assert cache.bill(body(blocks(15, 15)), now=1) == Billed(read=1_000, write_5m=500)
    assert cache.bill(body(blocks(35, 35)), now=2) == Billed(write_5m=3_500)


def test_a_second_marker_looks_back_from_its_own_place() -> None:
    cache = a_cache()
    cache.bill(body(blocks(15, 15)), now=0)
    assert cache.bill(body(blocks(35, 15, 35)), now=1) == Billed(read=1_500, write_5m=2_000)


def test_the_marked_block_is_the_first_of_the_twenty() -> None:
    cache = a_cache()
    cache.bill(body(blocks(15, 15)), now=0)
    assert cache.bill(body(blocks(34, 34)), now=1) == Billed(read=1_500, write_5m=1_900)


def test_only_what_was_written_is_found_not_what_stayed_the_same() -> None:
    cache = a_cache()
    said = [*blocks(5), {"type": "text", "text": "12:00", "tokens": 10, "cache_control": FIVE}]
    later = [*blocks(5), {"type": "text", "text": "12:01", "tokens": 10, "cache_control": FIVE}]
    cache.bill(body(said), now=0)
    assert cache.bill(body(later), now=1) == Billed(write_5m=510)


@pytest.mark.parametrize("kind", ["tool_use", "tool_result"])
def test_calls_in_a_row_are_one_position_where_runs_count_once(kind: str) -> None:
    runs, every = a_cache(), a_cache(runs_count_once=False)
    for cache in (runs, every):
        cache.bill(body(blocks(5, 5)), now=0)
    longer = body(blocks(5) + blocks(30, 30, kind=kind))
    assert runs.bill(longer, now=1) == Billed(read=500, write_5m=3_000)
    assert every.bill(longer, now=1) == Billed(write_5m=3_500)


@pytest.mark.parametrize(("steps", "read"), [(9, 500), (10, 0)])
def test_a_call_and_its_result_are_positions_each(steps: int, read: int) -> None:
    cache = a_cache()
    cache.bill(body(blocks(5, 5)), now=0)
    step = [*blocks(1, kind="tool_use"), *blocks(1, kind="tool_result")]
    assert (
        cache.bill(body([*blocks(5), *step * (steps - 1), step[0], {**step[1], "cache_control": FIVE}]), now=1).read
        == read
    )


def test_texts_in_a_row_are_positions_each() -> None:
    cache = a_cache()
    cache.bill(body(blocks(5, 5)), now=0)
    assert cache.bill(body(blocks(5) + blocks(30, 30)), now=1) == Billed(write_5m=3_500)


# --- Anthropic: what is billed ---


def test_more_markers_cost_no_more() -> None:
    assert a_cache().bill(body(blocks(10, 2, 5, 7, 10)), now=0) == Billed(write_5m=1_000)
    assert a_cache().bill(body(blocks(10, 7)), now=0) == Billed(write_5m=700, fresh=300)
    assert a_cache().bill(body(blocks(10)), now=0) == Billed(fresh=1_000)


def test_with_two_lifetimes_each_is_billed_for_its_part() -> None:
    said = blocks(10, 10)
    said[5]["cache_control"] = HOUR
    cache = a_cache()
    assert cache.bill(body(said), now=0) == Billed(write_1h=600, write_5m=400)
    assert cache.bill(body(said + blocks(2, 2)), now=400) == Billed(read=600, write_5m=600)


def test_a_price_is_told_in_tokens_of_plain_input() -> None:
    assert price(Billed(read=1_000, write_5m=100, write_1h=10, fresh=1)) == pytest.approx(100 + 125 + 20 + 1)


def test_what_is_lighter_than_the_minimum_is_served_uncached() -> None:
    cache = a_cache(minimum=1_001)
    assert cache.bill(body(blocks(10, 10)), now=0) == Billed(fresh=1_000)
    assert cache.bill(body(blocks(11, 11)), now=1) == Billed(write_5m=1_100)
    assert a_cache(minimum=1_000).bill(body(blocks(10, 10)), now=0) == Billed(write_5m=1_000)


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("claude-opus-5", 512),
        ("claude-sonnet-5", 1_024),
        ("anthropic/claude-opus-4.5", 4_096),
        ("claude-opus-4-8", 1_024),
    ],
)
def test_each_model_has_its_minimum(model: str, least: int) -> None:
    assert least_cached(model) == least


def test_an_entry_lives_five_minutes_after_its_last_use() -> None:
    cache = a_cache()
    said = body(blocks(10, 10))
    cache.bill(said, now=0)
    assert cache.bill(said, now=299).read == 1_000
    assert cache.bill(said, now=598).read == 1_000
    assert cache.bill(said, now=898) == Billed(write_5m=1_000)


def test_an_entry_found_on_the_way_back_has_been_used() -> None:
    cache = a_cache()
    cache.bill(body(blocks(10, 10)), now=0)
    cache.bill(body(blocks(12, 12)), now=299)
    other = {"type": "text", "text": "else", "tokens": 50, "cache_control": FIVE}
    assert cache.bill(body([*blocks(10), other]), now=598) == Billed(read=1_000, write_5m=50)


def test_an_entry_of_an_hour_lives_an_hour() -> None:
    cache = a_cache()
    cache.bill(body(blocks(10, 10, marker=HOUR)), now=0)
    assert cache.bill(body(blocks(10, 10)), now=3_599).read == 1_000


def test_a_marker_keeps_alive_what_it_stands_on() -> None:
    cache = a_cache()
    cache.bill(body(blocks(2, 2)), now=0)
    cache.bill(body(blocks(10, 2, 10)), now=200)
    cache.bill(body(blocks(12, 2, 12)), now=400)
    assert cache.bill(body([*blocks(2, 2), {"type": "text", "text": "else", "tokens": 50}]), now=600).read == 200


# --- Anthropic: what is the same prompt ---

TOOLS = [{"name": "read", "input_schema": {}, "tokens": 100}, {"name": "run", "input_schema": {}, "tokens": 100}]
SYSTEM = [{"type": "text", "text": "Be brief.", "tokens": 50, "cache_control": FIVE}]


def test_a_changed_message_leaves_the_system_prompt_a_changed_system_prompt_the_tools() -> None:
    cache = a_cache()
    tools = [TOOLS[0], {**TOOLS[1], "cache_control": FIVE}]
    cache.bill(body(blocks(3, 3), tools=tools, system=SYSTEM), now=0)
    assert cache.bill(body(blocks(2, 2, kind="image"), tools=tools, system=SYSTEM), now=1).read == 250
    other = [{**SYSTEM[0], "text": "Be long."}]
    assert cache.bill(body(blocks(3, 3), tools=tools, system=other), now=2).read == 200
    assert cache.bill(body(blocks(3, 3), tools=tools[::-1], system=SYSTEM), now=3).read == 0
    assert cache.bill(body(blocks(3, 3), tools=tools, system=SYSTEM, model="claude-opus-5"), now=4).read == 0


def test_the_first_picture_makes_every_message_new() -> None:
    cache = a_cache()
    cache.bill(body(blocks(3, 3), system=SYSTEM), now=0)
    seen = blocks(3) + blocks(1, 1, kind="image")
    assert cache.bill(body(seen, system=SYSTEM), now=1) == Billed(read=50, write_5m=400)
    assert cache.bill(body(seen + blocks(1, 1, kind="image"), system=SYSTEM), now=2).read == 450


@pytest.mark.parametrize("change", [{"tool_choice": {"type": "any"}}, {"thinking": {"type": "adaptive"}}])
def test_a_choice_of_tools_or_of_thinking_leaves_tools_and_system_prompt(change: dict[str, Any]) -> None:
    cache = a_cache()
    cache.bill(body(blocks(3, 3), system=SYSTEM), now=0)
    assert cache.bill(body(blocks(3, 3), system=SYSTEM, **change), now=1) == Billed(read=50, write_5m=300)


def test_neither_markers_nor_the_short_way_to_write_a_text_change_a_prompt() -> None:
    cache = a_cache()
    cache.bill(body([{"type": "text", "text": "Hello", "cache_control": FIVE}]), now=0)
    assert cache.bill(body([{"cache_control": FIVE, "text": "Hello", "type": "text"}]), now=1).read > 0
    said = {"role": "user", "content": "Hello"}
    more = {"role": "assistant", "content": [{"type": "text", "text": "Hi", "cache_control": FIVE}]}
    assert cache.bill({"model": "claude-sonnet-5", "messages": [said, more]}, now=1).read > 0


def test_the_order_of_a_calls_arguments_is_part_of_it() -> None:
    cache = a_cache()

    def call(given: dict[str, Any]) -> dict[str, Any]:
        return body([{"type": "tool_use", "input": given, "tokens": 9, "cache_control": FIVE}])

    cache.bill(call({"a": 1, "b": True}), now=0)
    assert cache.bill(call({"a": 1, "b": True}), now=1).read == 9
    assert cache.bill(call({"b": True, "a": 1}), now=1).read == 0
    assert cache.bill(call({"a": 1, "b": 1}), now=1).read == 0


# --- Anthropic: what is refused ---


def test_more_than_four_markers_are_refused_in_anthropics_words() -> None:
    with pytest.raises(
        BadCacheControl, match=r"^A maximum of 4 blocks with cache_control may be provided\. Found 5\.$"
    ):
        a_cache().bill(body(blocks(9, 1, 2, 3, 4, 5)), now=0)


def test_a_longer_lifetime_after_a_shorter_one_is_refused() -> None:
    said = blocks(3, 3, marker=HOUR)
    with pytest.raises(
        BadCacheControl, match=r"^messages\.0\.content\.2\.cache_control\.ttl: a ttl='1h' cache_control"
    ):
        a_cache().bill(body(said, system=SYSTEM), now=0)


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "thinking", "thinking": "Hm."}, "messages.0.content.0.thinking.cache_control: Extra inputs are not"),
        ({"type": "text", "text": ""}, "messages.0.content.0.text: cache_control cannot be set for empty text blocks"),
    ],
)
def test_what_cannot_carry_a_marker_is_refused_with_one(block: dict[str, Any], words: str) -> None:
    with pytest.raises(BadCacheControl) as refused:
        a_cache().bill(body([{**block, "cache_control": FIVE}]), now=0)
    assert str(refused.value).startswith(words)


@pytest.mark.parametrize("marker", [{"type": "ephemeral", "ttl": "30m"}, {"type": "eternal"}])
def test_a_marker_of_another_kind_is_refused(marker: dict[str, str]) -> None:
    with pytest.raises(BadCacheControl, match="ephemeral"):
        a_cache().bill(body(blocks(1, 1, marker=marker)), now=0)


# --- Anthropic: markers of its own ---


def test_asked_to_cache_by_itself_it_marks_the_last_block_that_can_carry_one() -> None:
    cache = a_cache()
    mute = [{"type": "thinking", "thinking": "Hm.", "tokens": 7}, {"type": "text", "text": "", "tokens": 0}]
    assert cache.bill(body(blocks(10) + mute, cache_control=FIVE), now=0) == Billed(write_5m=1_000, fresh=7)
    assert cache.bill(body(blocks(12), cache_control=FIVE), now=1) == Billed(read=1_000, write_5m=200)
    assert cache.bill(body(mute, cache_control=FIVE), now=2) == Billed(fresh=7)


def test_its_own_marker_is_one_of_the_four() -> None:
    assert a_cache().bill(body(blocks(9, 1, 2, 3, 9), cache_control=FIVE), now=0).write_5m == 900
    with pytest.raises(BadCacheControl, match="Found 5"):
        a_cache().bill(body(blocks(9, 1, 2, 3, 4), cache_control=FIVE), now=0)
    with pytest.raises(BadCacheControl, match="ttl"):
        a_cache().bill(body(blocks(9, 9), cache_control=HOUR), now=0)


def test_a_marker_inside_a_result_counts_and_acts_like_the_results_own() -> None:
    inner = [{"type": "text", "text": "lines", "cache_control": FIVE}]
    said = body([{"type": "tool_result", "tool_use_id": "a", "content": inner, "tokens": 60}])
    cache = a_cache()
    assert cache.bill(said, now=0) == Billed(write_5m=60)
    plain = {"type": "tool_result", "tool_use_id": "a", "content": "lines", "tokens": 60, "cache_control": FIVE}
    assert cache.bill(body([plain]), now=1) == Billed(read=60)


# --- OpenAI ---


def chat(*messages: tuple[str, int], mode: str = "", marked: Sequence[int] = ()) -> dict[str, Any]:
    """Messages of so many tokens each, some of them marked."""
    made = []
    for place, (role, tokens) in enumerate(messages):
        part: dict[str, Any] = {"type": "text", "text": f"{place}", "tokens": tokens}
        if place in marked:
            part["prompt_cache_breakpoint"] = {"mode": "explicit"}
        made.append({"role": role, "content": [part]})
    options = {"prompt_cache_options": {"mode": mode}} if mode else {}
    return {"model": "gpt-5.6", "messages": made, **options}


def test_before_gpt_5_6_every_prefix_is_cached_in_steps_of_128_tokens() -> None:
    cache = AutomaticCache(tokens_of)
    assert cache.bill(chat(("user", 1_500)), now=0) == Billed(fresh=1_500)
    assert cache.bill(chat(("user", 1_500), ("assistant", 100)), now=1) == Billed(read=1_408, fresh=192)
    assert cache.bill(chat(("user", 1_500)), now=9_000) == Billed(fresh=1_500)
    assert AutomaticCache(tokens_of).bill({"model": "gpt-5.5", "input": "Hi"}, now=0).read == 0


def test_before_gpt_5_6_less_than_1024_tokens_are_never_cached() -> None:
    cache = AutomaticCache(tokens_of)
    cache.bill(chat(("user", 1_000)), now=0)
    assert cache.bill(chat(("user", 1_000)), now=1) == Billed(fresh=1_000)


def test_from_gpt_5_6_the_newest_message_is_written_and_found_at_its_end() -> None:
    cache = BreakpointCache(tokens_of)
    talk = [("system", 1_100), ("user", 100), ("assistant", 50), ("tool", 70), ("tool", 80)]
    assert cache.bill(chat(*talk[:2]), now=0) == Billed(write_5m=1_200)
    assert cache.bill(chat(*talk), now=1_000) == Billed(read=1_200, write_5m=200)
    assert cache.bill(chat(*talk), now=2_500) == Billed(read=1_400)
    assert cache.bill(chat(*talk), now=5_000) == Billed(write_5m=1_400)


def test_from_gpt_5_6_a_shared_prefix_is_found_only_where_it_was_marked() -> None:
    plain, told = BreakpointCache(tokens_of), BreakpointCache(tokens_of)
    plain.bill(chat(("system", 2_000), ("user", 100)), now=0)
    assert plain.bill(chat(("system", 2_000), ("user", 90)), now=1) == Billed(write_5m=2_090)
    told.bill(chat(("system", 2_000), ("user", 100), marked=[0]), now=0)
    assert told.bill(chat(("system", 2_000), ("user", 90)), now=1) == Billed(read=2_000, write_5m=90)


def test_from_gpt_5_6_a_turn_of_many_steps_is_looked_over_from_a_marked_place() -> None:
    steps = [("assistant", 10), ("tool", 10)] * 25
    first, more = [("user", 2_000)], [("user", 2_000), *steps]
    plain, told = BreakpointCache(tokens_of), BreakpointCache(tokens_of)
    for cache in (plain, told):
        cache.bill(chat(*first), now=0)
    assert plain.bill(chat(*more), now=1) == Billed(write_5m=2_500)
    assert told.bill(chat(*more, marked=[0]), now=1) == Billed(read=2_000, write_5m=500)


def test_from_gpt_5_6_told_to_use_marked_blocks_alone_it_caches_nothing_else() -> None:
    cache = BreakpointCache(tokens_of)
    talk = [("user", 1_100)] + [("user", 100)] * 5
    assert cache.bill(chat(*talk, mode="explicit"), now=0) == Billed(fresh=1_600)
    assert cache.bill(chat(*talk, mode="explicit", marked=[0, 1, 2, 3, 4]), now=1) == Billed(write_5m=1_500, fresh=100)
    # Of five marked blocks the latest four are written.
    assert cache.bill(chat(*talk, mode="explicit", marked=[0]), now=2) == Billed(write_5m=1_100, fresh=500)
    assert BreakpointCache(tokens_of).bill(chat(("user", 500)), now=0) == Billed(fresh=500)


def test_responses_are_read_as_chat_is() -> None:
    items = [
        {"role": "user", "content": "x" * 2_000},
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "lines"},
    ]
    asked = {"model": "gpt-5.6", "instructions": "Be brief.", "tools": TOOLS}
    cache = BreakpointCache(tokens_of)
    first = cache.bill({**asked, "input": items[:1]}, now=0)
    assert first.write_5m == first.prompt
    second = cache.bill({**asked, "input": items}, now=1)
    assert second.read == first.prompt
    assert second.write_5m == second.prompt - second.read > 0


# --- what the placement costs ---

Place = Callable[[Prompt], Prompt]


def known(own: Prompt) -> Prompt:
    """`system_and_3`, its marker on a reply of nothing but calls moved to where the API reads it."""
    raws = [{"role": "system", "content": own.system or "."}, *(message.to_dict() for message in own.messages)]
    system, *marked = apply_anthropic_cache_control(raws)
    for raw in marked:
        if raw.get("tool_calls") and "cache_control" in raw:
            raw["tool_calls"] = [
                *raw["tool_calls"][:-1],
                {**raw["tool_calls"][-1], "cache_control": raw["cache_control"]},
            ]
    foreign = {"anthropic": {"system": system["content"]}} if own.system else {}
    return replace(own, messages=tuple(map(read_message, marked)), foreign=foreign)


def replies(messages: Sequence[Message]) -> Iterator[int]:
    """Where each reply begins, and the end, where the next will."""
    for place in range(1, len(messages)):
        if messages[place].role == "assistant" != messages[place - 1].role:
            yield place
    yield len(messages)


def turns(messages: Sequence[Message]) -> Iterator[int]:
    return (place for place in replies(messages) if messages[place - 1].role == "user")


def cost(own: Prompt, ends: Sequence[int], place: Place, runs_count_once: bool) -> list[Billed]:
    cache = a_cache(minimum=0, runs_count_once=runs_count_once)
    asked = [replace(own, messages=own.messages[:end]) for end in ends]
    return [cache.bill(ANTHROPIC.encode(place(prompt)), now=number) for number, prompt in enumerate(asked)]


def place(own: Prompt) -> Prompt:
    return place_cache_points(own, minimum=0)


def check_that_nothing_is_billed_twice(own: Prompt, cut: Callable[[Sequence[Message]], Iterator[int]]) -> None:
    """Everything that stood in the last prompt is read, everything new is written; `system_and_3` is no cheaper."""
    ends = list(cut(own.messages))
    for once in (True, False):
        ours = cost(own, ends, place, once)
        assert [bill.fresh for bill in ours] == [0] * len(ours)
        assert [bill.read for bill in ours] == [0, *(bill.prompt for bill in ours)][: len(ours)]
        assert sum(map(price, ours)) <= sum(map(price, cost(own, ends, known, once))) + 1e-6


def in_words(own: Prompt) -> Prompt:
    """Without pictures: by Anthropic's rules the first of them makes every message new."""
    raws = [
        {**m.raw, "content": [{"type": "text", "text": str(part)} for part in m.raw["content"]]}
        if isinstance(m.raw["content"], list)
        else m.raw
        for m in own.messages
    ]
    return replace(own, messages=read_messages(raws))


@given(prompts().map(in_words))
@settings(max_examples=40)
def test_asked_for_each_reply_nothing_is_billed_twice(own: Prompt) -> None:
    check_that_nothing_is_billed_twice(own, replies)


@given(prompts().map(in_words))
@settings(max_examples=40)
def test_asked_for_each_turn_nothing_is_billed_twice(own: Prompt) -> None:
    check_that_nothing_is_billed_twice(own, turns)


def wide(calls: int) -> Prompt:
    """A question, a step of so many calls at once, and the next question."""
    made = [
        {"id": f"call_{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}} for n in range(calls)
    ]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "lines"} for call in made]
    opening = [
        {"role": "user", "content": "Read all. " * 200},
        {"role": "assistant", "content": None, "tool_calls": made},
    ]
    return Prompt("Be brief.", read_messages([*opening, *results]), model="claude-sonnet-5")


@given(st.integers(1, 60))
@settings(max_examples=20)
def test_however_many_calls_a_step_makes_the_last_prompt_is_found(calls: int) -> None:
    check_that_nothing_is_billed_twice(wide(calls), replies)


def test_system_and_3_loses_the_last_prompt_where_a_step_adds_more_than_twenty_blocks() -> None:
    own = wide(12)
    ends = list(replies(own.messages))
    assert cost(own, ends, known, runs_count_once=False)[1].read < cost(own, ends, place, runs_count_once=False)[1].read


def test_a_recorded_conversation_costs_the_least_it_can() -> None:
    said = [message for message in read_messages(sample()) if not message.is_system]
    own = Prompt("Be brief.", tuple(said), model="claude-sonnet-5")
    check_that_nothing_is_billed_twice(own, turns)
    check_that_nothing_is_billed_twice(replace(own, messages=tuple(said[:120])), replies)

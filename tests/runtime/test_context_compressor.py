"""The engine as people hold it: its numbers, its summariser, its account of what it did."""

from __future__ import annotations

import asyncio

import pytest

from clew import BadMessages, ContextCompressor, Unsatisfiable, compact, plan
from clew.engines.handoff import WITHOUT_MODEL

HISTORY = [
    said
    for n in range(60)
    for said in (
        {"role": "user", "content": f"Request {n}: never drop column c{n}."},
        {"role": "assistant", "content": f"Did {n}. " + "Some more words about it. " * 40},
    )
]


def test_completion_and_reasoning_never_count_against_the_window():
    engine = ContextCompressor(200_000)
    engine.update_from_response({"prompt_tokens": 50_000, "completion_tokens": 90_000, "reasoning_tokens": 80_000})
    assert not engine.should_compress()
    engine.update_from_response({"prompt_tokens": 100_000})
    assert engine.should_compress()


def test_a_smaller_model_moves_the_threshold_and_an_output_cap_is_reserved():
    engine = ContextCompressor(200_000)
    engine.update_model("small", 32_000)
    assert engine.threshold_tokens == 16_000
    engine.update_model("talkative", 131_072, max_tokens=65_536)
    assert engine.threshold_tokens <= 0.85 * 65_536


def test_after_a_compaction_nothing_is_measured_until_a_report_comes():
    engine = ContextCompressor(16_000)
    engine.update_from_response({"prompt_tokens": 9_000})
    engine.compress(HISTORY)
    assert (engine.last_prompt_tokens, engine.should_compress(), engine.compression_count) == (0, False, 1)


def test_preflight_sees_a_history_that_is_too_heavy():
    assert ContextCompressor(16_000).should_compress_preflight(HISTORY)
    assert not ContextCompressor(200_000).should_compress_preflight(HISTORY)
    assert ContextCompressor(16_000).has_content_to_compress(HISTORY)
    assert not ContextCompressor(16_000).has_content_to_compress(HISTORY[:2])


def test_an_async_summariser_works_from_sync_and_from_async_code():
    async def summarise(prompt):
        await asyncio.sleep(0)
        return "## Goal\nfinish the migration"

    engine = ContextCompressor(16_000, summarise=summarise)
    assert "finish the migration" in str(engine.compress(HISTORY))
    assert "finish the migration" in str(asyncio.run(ContextCompressor(16_000, summarise=summarise).acompress(HISTORY)))


def test_a_summariser_that_fails_is_said_and_left_alone_for_a_while_but_not_when_a_person_asks():
    asked = []

    def summarise(prompt):
        asked.append(prompt)
        raise ConnectionError("down")

    engine = ContextCompressor(16_000, summarise=summarise)
    assert WITHOUT_MODEL in engine.compacted(HISTORY).report
    before = len(asked)
    engine.compress(HISTORY)
    assert len(asked) == before
    engine.compress(HISTORY, focus_topic="columns")
    assert len(asked) > before


def test_every_demand_stands_in_a_models_summary_although_the_model_forgot_them():
    engine = ContextCompressor(64_000, summarise=lambda prompt: "## Goal\nmigrate")
    done = engine.compacted(HISTORY)
    left = [HISTORY[place]["content"] for place in done.dropped if HISTORY[place]["role"] == "user"]
    assert left
    assert [said for said in left if said not in done.summary] == []


def test_a_middle_too_large_for_one_prompt_goes_in_parts_and_none_is_skipped():
    prompts = []

    def summarise(prompt):
        prompts.append(prompt)
        return f"## Goal\npart {len(prompts)}"

    ContextCompressor(8_000, summarise=summarise).compress(HISTORY)
    assert len(prompts) > 1
    everything = "".join(prompts)
    assert all(f"Request {n}:" in everything for n in range(5, 40))
    assert all(len(prompt) < 8_000 * 4 for prompt in prompts)


def test_a_focus_reaches_the_prompt():
    prompts = []
    ContextCompressor(16_000, summarise=lambda p: prompts.append(p) or "ok").compress(
        HISTORY, focus_topic="database schema"
    )
    assert "database schema" in prompts[0]


def test_old_tool_output_can_be_cut_down_alone():
    history = [{"role": "user", "content": "go"}]
    for n in range(40):
        call = {
            "id": f"c{n}",
            "type": "function",
            "function": {"name": "read_file", "arguments": f'{{"path": "f{n}.py"}}'},
        }
        history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        history.append({"role": "tool", "tool_call_id": f"c{n}", "name": "read_file", "content": f"line {n}\n" * 200})
    pruned, freed = ContextCompressor(16_000, protect_last_n=4).prune_tool_results_only(history)
    assert pruned[2]["content"] == "[read_file] read f0.py -> 200 lines"
    assert pruned[-1] == history[-1]
    assert [said["role"] for said in pruned] == [said["role"] for said in history]
    assert freed > 10_000


def test_the_second_compaction_is_told_with_advice():
    engine = ContextCompressor(16_000)
    once = engine.compacted(HISTORY)
    twice = engine.compacted(once.messages + HISTORY)
    assert not any("2 times" in line for line in once.report)
    assert any("compacted 2 times" in line for line in twice.report)


def test_one_huge_message_leaves_with_a_pointer_and_a_shape():
    log = "\n".join(f"line {n} of the log" for n in range(30_000))
    history = [
        {"role": "user", "content": "read the log"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "x.log"}'}}]},
        {"role": "tool", "tool_call_id": "c", "name": "read_file", "content": log},
    ]  # fmt: skip
    done = compact(history, context_length=32_000)
    kept = done.messages[-1]["content"]
    assert kept.startswith("line 0 of")
    assert kept.endswith("line 29999 of the log")
    assert "message 2 of the compacted conversation has it whole" in kept
    assert done.tokens_after < 16_000


def test_a_request_larger_than_the_window_is_shown_in_part_and_its_demands_survive():
    paste = "You must keep the API stable.\n" + "noise line\n" * 60_000
    done = compact([{"role": "user", "content": paste}], context_length=32_000)
    assert done.tokens_after < 16_000
    assert "You must keep the API stable." in str(done.messages)


@pytest.mark.parametrize(
    "history", [[], [{"role": "user", "content": "hi"}], [{"role": "system", "content": "be brief"}]]
)
def test_a_tiny_history_stays_as_it_is(history):
    done = compact(history, context_length=8_000)
    assert done.messages == history
    assert done.summary == ""


def test_bad_input_is_refused_by_place():
    with pytest.raises(BadMessages, match="message 1"):
        compact([{"role": "user", "content": "x"}, "not a message"], context_length=8_000)
    with pytest.raises(Unsatisfiable, match="context_length"):
        compact([], context_length=1_000)


def test_looking_before_doing_shows_the_same_places():
    where = plan(HISTORY, context_length=16_000)
    done = compact(HISTORY, context_length=16_000)
    assert where.middle == done.dropped
    assert set(where.head) | set(where.tail) <= set(done.kept)


def test_an_own_way_of_counting_is_used():
    engine = ContextCompressor(16_000, count=lambda text: len(text.split()))
    assert engine.compacted(HISTORY).tokens_before < compact(HISTORY, context_length=16_000).tokens_before

"""What a simulated provider reports as cached, and charges for it."""

from __future__ import annotations

import json

import pytest

from clew.testing import ProviderSimulator
from clew.tokens import count_exact
from tests.testing.asking import post

LONG = "All work and no play makes for a long system prompt. " * 200
MARK = {"type": "ephemeral"}


def marked(*said: str, ttl: str = "5m", model: str = "claude-opus-5"):
    mark = {**MARK, "ttl": ttl}
    turns = [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(said)]
    turns[-1] = {**turns[-1], "content": [{"type": "text", "text": said[-1], "cache_control": mark}]}
    system = [{"type": "text", "text": LONG, "cache_control": mark}]
    return {"model": model, "max_tokens": 50, "system": system, "messages": turns}


def usage(sim, body, key="one", path="/v1/messages"):
    got = post(sim, path, body, {"x-api-key": key})
    assert got.status == 200, got.body
    return got.json["usage"]


@pytest.mark.parametrize(("ttl", "lasts"), [("5m", 300), ("1h", 3_600)])
def test_what_was_written_is_read_until_it_has_expired(ttl, lasts):
    with ProviderSimulator() as sim:
        first = usage(sim, marked("Hi", ttl=ttl))
        assert first["cache_creation_input_tokens"] == count_exact(LONG) + count_exact("Hi") + 8
        assert first["cache_creation"][f"ephemeral_{ttl}_input_tokens"] == first["cache_creation_input_tokens"]
        assert (first["input_tokens"], first["cache_read_input_tokens"]) == (0, 0)
        sim.pass_time(lasts - 10)
        second = usage(sim, marked("Hi", "Hello", "And?", ttl=ttl))
        assert second["cache_read_input_tokens"] == first["cache_creation_input_tokens"]
        assert second["cache_creation_input_tokens"] == count_exact("Hello") + count_exact("And?") + 8
        sim.pass_time(lasts + 1)
        third = usage(sim, marked("Hi", "Hello", "And?", ttl=ttl))
        assert third["cache_read_input_tokens"] == 0
        assert sim.bill.cache_read == second["cache_read_input_tokens"]
        written = {"5m": sim.bill.cache_write_5m, "1h": sim.bill.cache_write_1h}
        assert written[ttl] == sum(told["cache_creation_input_tokens"] for told in (first, second, third))
        dear = 1.25 if ttl == "5m" else 2.0
        assert sim.bill.cost == pytest.approx(written[ttl] * dear + sim.bill.cache_read * 0.1 + sim.bill.output * 5)


def test_a_cache_belongs_to_its_key():
    with ProviderSimulator() as sim:
        usage(sim, marked("Hi"), "one")
        assert usage(sim, marked("Hi"), "two")["cache_read_input_tokens"] == 0
        assert usage(sim, marked("Hi"), "one")["cache_read_input_tokens"] > 0
        sim.reset()
        assert usage(sim, marked("Hi"), "one")["cache_read_input_tokens"] == 0


def test_a_fifth_marker_is_refused_and_leaves_no_trace():
    body = marked("one", "two", "three", "four", "five")
    for turn in body["messages"]:
        turn["content"] = (
            [{"type": "text", "text": turn["content"], "cache_control": MARK}]
            if isinstance(turn["content"], str)
            else turn["content"]
        )
    with ProviderSimulator(replies=["hello"]) as sim:
        got = post(sim, "/v1/messages", body)
        assert got.status == 400
        assert got.json["error"]["message"] == "A maximum of 4 blocks with cache_control may be provided. Found 6."
        assert sim.bill.calls == 0
        assert usage(sim, marked("Hi"))["cache_read_input_tokens"] == 0


def test_a_refused_request_is_neither_cached_nor_billed():
    with ProviderSimulator(window=1_000) as sim:
        assert post(sim, "/v1/messages", marked("Hi")).status == 400
        assert (sim.bill.calls, sim.bill.cost, sim.requests[0].usage) == (0, 0, None)


@pytest.mark.parametrize(("model", "writes"), [("gpt-5.2", False), ("gpt-5.6", True)])
def test_openai_reports_cached_tokens_inside_the_prompt(model, writes):
    body = {"model": model, "messages": [{"role": "system", "content": LONG}, {"role": "user", "content": "Hi"}]}
    with ProviderSimulator() as sim:
        first, second = (usage(sim, body, path="/v1/chat/completions") for _ in range(2))
        assert first["prompt_tokens"] == second["prompt_tokens"] == count_exact(LONG) + count_exact("Hi") + 8
        assert first["prompt_tokens_details"]["cached_tokens"] == 0
        assert second["prompt_tokens_details"]["cached_tokens"] > 1_024
        assert (sim.bill.cache_write_5m > 0) is writes
        assert sim.bill.prompt == first["prompt_tokens"] + second["prompt_tokens"]


def test_claude_is_cached_by_its_markers_in_chat_too():
    body = {
        "model": "anthropic/claude-opus-5",
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": LONG, "cache_control": MARK}]},
            {"role": "user", "content": "Hi"},
        ],
    }
    with ProviderSimulator(provider="openrouter") as sim:
        first, second = (usage(sim, body, path="/v1/chat/completions")["prompt_tokens_details"] for _ in range(2))
    written = count_exact(LONG) + 4
    assert (first["cached_tokens"], first["cache_write_tokens"]) == (0, written)
    assert (second["cached_tokens"], second["cache_write_tokens"]) == (written, 0)


def test_deepseek_reports_hits_and_misses():
    body = {"model": "deepseek-chat", "messages": [{"role": "user", "content": LONG}]}
    with ProviderSimulator(provider="deepseek") as sim:
        usage(sim, body, path="/v1/chat/completions")
        told = usage(sim, body, path="/v1/chat/completions")
    assert told["prompt_cache_hit_tokens"] + told["prompt_cache_miss_tokens"] == told["prompt_tokens"]
    assert told["prompt_cache_hit_tokens"] > 1_024


def test_a_stream_tells_the_prompts_weight_before_the_first_word_and_the_replys_after_the_last():
    with ProviderSimulator(replies=["one two three"] * 2) as sim:
        written = usage(sim, marked("Hi"))["cache_creation_input_tokens"]
        events = post(sim, "/v1/messages", {**marked("Hi"), "stream": True}, {"x-api-key": "one"}).events
    told = {event.name: json.loads(event.data) for event in events}
    begun, ended = told["message_start"]["message"]["usage"], told["message_delta"]["usage"]
    assert (begun["cache_read_input_tokens"], begun["output_tokens"]) == (written, 1)
    assert (ended["cache_read_input_tokens"], ended["output_tokens"]) == (written, 3)

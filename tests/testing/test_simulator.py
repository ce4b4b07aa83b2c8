"""A simulated provider answers, counts, refuses, caches and fails as the real ones do."""

from __future__ import annotations

import asyncio
import doctest
import http.client
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given, settings

import clew.testing.simulator.clock
import clew.testing.simulator.simulator
from clew.facts.exchange import RateLimited, Reply
from clew.facts.messages import message, read_message
from clew.testing import ProviderSimulator
from clew.testing.simulator import Prices
from clew.tokens import count_exact
from clew.wire.dialects import DIALECTS
from tests.testing.asking import NAMES, ask, asking, get, post, reply_in
from tests.wire.exchanges import PNG, prompts

TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Reads a file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "mode": {"enum": ["text", "bytes"]}},
            "required": ["path", "mode"],
        },
    },
}


# --- answering ---


@pytest.mark.parametrize("module", [clew.testing.simulator.simulator, clew.testing.simulator.clock])
def test_the_examples_run(module):
    ran = doctest.testmod(module)
    assert (ran.failed, ran.attempted > 0) == (0, True)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", NAMES)
def test_a_scripted_text_comes_back_in_every_dialect(dialect, stream):
    with ProviderSimulator(replies=["Hello there, friend.\n\nHow are you?"]) as sim:
        reply = reply_in(ask(sim, asking(stream=stream), dialect), dialect)
    assert reply.message.text == "Hello there, friend.\n\nHow are you?"
    assert reply.stop == "stop"
    assert reply.usage.output == count_exact("Hello there, friend.\n\nHow are you?")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", NAMES)
def test_calls_and_thoughts_come_back_in_every_dialect(dialect, stream):
    line = {
        "thinking": "The file first.",
        "text": "I read it.",
        "calls": [{"name": "read_file", "arguments": {"path": "a b.py"}}, {"name": "read_file", "arguments": "{}"}],
    }
    with ProviderSimulator(replies=[line]) as sim:
        reply = reply_in(ask(sim, asking(stream=stream, tools=(TOOL,)), dialect), dialect)
    assert [(call.name, json.loads(call.arguments)) for call in reply.message.calls] == [
        ("read_file", {"path": "a b.py"}),
        ("read_file", {}),
    ]
    assert reply.message.text == "I read it."
    assert reply.stop == "tool_calls"
    assert "The file first." in json.dumps(reply.message.raw)
    assert reply.usage.reasoning == count_exact("The file first.")
    assert len({call.id for call in reply.message.calls}) == 2


def test_a_stream_comes_word_by_word():
    with ProviderSimulator(replies=["one two three four five"]) as sim:
        events = ask(sim, asking(stream=True), "anthropic").events
    said = [json.loads(event.data)["delta"]["text"] for event in events if event.name == "content_block_delta"]
    assert said == ["one ", "two ", "three ", "four ", "five"]


def test_paths_work_with_and_without_v1():
    with ProviderSimulator() as sim:
        for dialect in DIALECTS.values():
            for path in (dialect.path, f"/v1{dialect.path}"):
                assert post(sim, path, dialect.encode(asking())).status == 200
        assert post(sim, "/v1/embeddings", {}).status == 404
        assert get(sim, "/v1/messages").status == 404


@settings(max_examples=25)
@given(prompt=prompts())
def test_any_legal_prompt_is_understood_in_every_dialect(shared, prompt):
    for dialect in NAMES:
        got = ask(shared, prompt, dialect)
        assert got.status == 200, got.body
        assert shared.requests[-1].prompt == prompt
        assert isinstance(reply_in(got, dialect), Reply)


@pytest.fixture(scope="module")
def shared():
    with ProviderSimulator() as sim:
        yield sim


# --- the script ---


def test_lines_are_said_in_order_and_more_can_be_added():
    with ProviderSimulator(replies=["one", Reply(message("assistant", "two"))]) as sim:
        sim.say({"text": "three"}, {"role": "assistant", "content": "four"})
        assert [reply_in(ask(sim, asking())).message.text for _ in range(4)] == ["one", "two", "three", "four"]


def test_a_script_that_has_run_out_says_so():
    with ProviderSimulator(replies=["one"]) as sim:
        ask(sim, asking())
        got = ask(sim, asking())
    assert got.status == 400
    assert "no line left" in got.json["error"]["message"]


def test_a_function_is_asked_for_every_reply():
    with ProviderSimulator(replies=lambda prompt: prompt.messages[-1].text.upper()) as sim:
        assert reply_in(ask(sim, asking("louder"))).message.text == "LOUDER"
        assert reply_in(ask(sim, asking("and louder"))).message.text == "AND LOUDER"


def test_a_mistake_in_the_script_is_told_in_the_answer():
    with ProviderSimulator(replies=[{"txt": "one"}, 7]) as sim:
        assert "no txt" in ask(sim, asking()).json["error"]["message"]
        sim.reset()
    with ProviderSimulator(replies=lambda prompt: 1 / 0) as sim:
        assert "ZeroDivisionError" in ask(sim, asking()).json["error"]["message"]


def test_without_a_script_it_echoes():
    with ProviderSimulator() as sim:
        assert (
            reply_in(ask(sim, asking("Port the parser, please."))).message.text == "You said: Port the parser, please."
        )


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "read_file"}}])
def test_the_echo_calls_a_tool_where_one_is_demanded(choice):
    prompt = asking(tools=(TOOL,), settings={"tool_choice": choice})
    with ProviderSimulator() as sim:
        (call,) = reply_in(ask(sim, prompt)).message.calls
        answered = (
            *prompt.messages,
            read_message({"role": "assistant", "content": None, "tool_calls": [dict(call.raw)]}),
        )
        answered += (read_message({"role": "tool", "tool_call_id": call.id, "content": "text"}),)
        assert not reply_in(ask(sim, replace(prompt, messages=answered))).message.calls
    assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "example", "mode": "text"})


def test_a_failure_in_the_script_is_answered_as_the_provider_would():
    with ProviderSimulator(replies=[RateLimited(why="slow down", retry_after=7), "hello"]) as sim:
        got = ask(sim, asking(), "anthropic")
        assert (got.status, got.headers["retry-after"]) == (429, "7")
        assert got.json["error"] == {"type": "rate_limit_error", "message": "slow down"}
        assert reply_in(ask(sim, asking())).message.text == "hello"


# --- what is written down ---


def test_requests_are_kept_without_their_secrets():
    with ProviderSimulator(key="sk-secret-key") as sim:
        ask(sim, asking("Hi", system="Be brief."), "chat", {"authorization": "Bearer sk-secret-key", "x-trace": "7"})
        ask(sim, asking("Again", stream=True), "anthropic", {"x-api-key": "sk-secret-key"})
        first, second = sim.requests
    assert (first.number, first.dialect, first.status, first.prompt) == (
        0,
        "chat",
        200,
        asking("Hi", system="Be brief."),
    )
    assert (second.number, second.dialect, second.prompt.stream) == (1, "anthropic", True)
    assert first.headers["x-trace"] == "7"
    assert "sk-secret-key" not in repr((first, second))
    assert json.loads(first.raw)["messages"][0]["content"] == "Be brief."
    assert second.time >= first.time
    assert first.usage.output == reply_tokens("You said: Hi")


def reply_tokens(text):
    return count_exact(text)


def test_a_reset_forgets_all_and_begins_the_script_again():
    with ProviderSimulator(replies=["one"], tokens_per_minute=550) as sim:
        ask(sim, asking())
        assert (len(sim.requests), sim.bill.calls) == (1, 1)
        sim.reset()
        assert (sim.requests, sim.bill.calls) == ([], 0)
        assert reply_in(ask(sim, asking())).message.text == "one"


# --- weight ---


def test_usage_is_what_was_sent_and_said():
    with ProviderSimulator(replies=["fine"]) as sim:
        reply = reply_in(ask(sim, asking("How heavy is this?", system="Be brief.")))
    assert reply.usage.prompt == count_exact("How heavy is this?") + count_exact("Be brief.") + 2 * 4
    assert reply.usage.output == 1


def test_a_factor_makes_every_token_heavier():
    text = "How heavy is this, then? " * 50
    weights = []
    for factor in (1.0, 1.7):
        with ProviderSimulator(replies=[text], factor=factor) as sim:
            weights.append(reply_in(ask(sim, asking(text, max_output=5_000))).usage)
    assert weights[1].prompt == pytest.approx(weights[0].prompt * 1.7, abs=1)
    assert weights[1].output == pytest.approx(weights[0].output * 1.7, abs=1)


def test_tools_and_pictures_weigh():
    picture = read_message(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Hi"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            ],
        }
    )
    with ProviderSimulator() as sim:
        for dialect in NAMES:
            plain, tooled, seen = (
                reply_in(ask(sim, prompt, dialect), dialect).usage.prompt
                for prompt in (asking(), asking(tools=(TOOL,)), asking(messages=(picture,)))
            )
            assert tooled > plain + 20
            assert seen > plain


def test_count_tokens_says_what_usage_will_say():
    prompt = asking("How heavy is this?", system="Be brief.", tools=(TOOL,))
    body = DIALECTS["anthropic"].encode(prompt)
    counted = {key: value for key, value in body.items() if key != "max_tokens"}
    with ProviderSimulator() as sim:
        told = post(sim, "/v1/messages/count_tokens", counted).json
        assert told == {"input_tokens": reply_in(ask(sim, prompt, "anthropic"), "anthropic").usage.prompt}
        assert len(sim.requests) == 1


def test_a_reply_is_cut_where_the_output_ends():
    with ProviderSimulator(replies=["word " * 100] * 2, max_output=64) as sim:
        for prompt, most in ((asking(max_output=10), 10), (asking(max_output=None), 64)):
            reply = reply_in(ask(sim, prompt))
            assert reply.stop == "length"
            assert reply.usage.output <= most
            assert ("word " * 100).startswith(reply.message.text)
            assert len(reply.message.text) > most * 3


def test_a_cut_takes_the_later_parts_first():
    parts = [{"type": "text", "text": "word " * 50, "index": 1}, {"type": "text", "text": "more " * 50, "index": 2}]
    with ProviderSimulator(replies=[{"role": "assistant", "content": parts}], strict=False) as sim:
        reply = reply_in(ask(sim, asking(max_output=20)))
    assert ("more" in reply.message.text, reply.message.text[:9]) == (False, "word word")
    assert reply.usage.output <= 20


def test_thoughts_stand_before_a_reply_that_is_cut():
    with ProviderSimulator(replies=[{"thinking": "Let me see.", "text": "word " * 100}]) as sim:
        reply = reply_in(ask(sim, asking(max_output=40), "anthropic"), "anthropic")
    assert [part["type"] for part in reply.message.raw["content"]] == ["thinking", "text"]
    assert (reply.stop, reply.usage.output <= 40) == ("length", True)


# --- the server ---


def test_a_hundred_conversations_at_once():
    with ProviderSimulator(replies=lambda prompt: prompt.messages[-1].text * 2) as sim:
        with ThreadPoolExecutor(100) as pool:
            texts = [f"line {n} " for n in range(200)]
            said = list(pool.map(lambda text: reply_in(ask(sim, asking(text, stream=True))).message.text, texts))
        assert said == [text * 2 for text in texts]
        assert sorted(asked.number for asked in sim.requests) == list(range(200))


def test_a_connection_is_used_again():
    body = json.dumps(DIALECTS["chat"].encode(asking()))
    with ProviderSimulator() as sim, closing(http.client.HTTPConnection(sim.url.removeprefix("http://"))) as line:
        for _ in range(3):
            line.request("POST", "/v1/chat/completions", body)
            sock = line.sock
            assert line.getresponse().read()
            assert line.sock is sock is not None


def test_nothing_is_left_behind():
    before = threading.active_count()
    sim = ProviderSimulator().start()
    idle = http.client.HTTPConnection(sim.url.removeprefix("http://"))
    idle.connect()
    assert ask(sim, asking()).status == 200
    sim.close()
    sim.close()
    idle.close()
    assert threading.active_count() == before
    with pytest.raises(RuntimeError, match="not running"):
        sim.url  # noqa: B018


def test_it_works_in_an_async_with():
    async def told() -> bytes:
        async with ProviderSimulator(replies=["Hello"]) as sim:
            return (await asyncio.to_thread(ask, sim, asking())).body

    assert b"Hello" in asyncio.run(told())


def test_the_server_is_loaded_only_when_it_is_used():
    code = "import clew.testing, sys; assert not {'uvicorn', 'clew.testing.simulator'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_provider_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"unknown provider 'openia'.*openai"):
        ProviderSimulator(provider="openia")


# --- conversations kept by the provider ---


def test_a_response_builds_on_an_earlier_one():
    with ProviderSimulator(replies=["I am Ada.", "Ada."]) as sim:
        first = post(sim, "/v1/responses", {"model": "m", "input": "Who are you?"}).json
        again = {"model": "m", "input": "Your name?", "previous_response_id": first["id"]}
        second = post(sim, "/v1/responses", again).json
        assert [said.text for said in sim.requests[1].prompt.messages] == ["Who are you?", "I am Ada.", "Your name?"]
        assert second["usage"]["input_tokens"] > first["usage"]["input_tokens"]
        lost = post(sim, "/v1/responses", {**again, "previous_response_id": "resp_lost"})
        assert (lost.status, "resp_lost" in lost.json["error"]["message"]) == (400, True)


# --- books ---


def test_the_bill_is_in_tokens_of_input_or_in_dollars():
    prices = Prices(input=5.0, output=25.0, cache_read=0.5, cache_write_5m=6.25, cache_write_1h=10.0)
    for given_prices in (None, prices):
        with ProviderSimulator(replies=["fine"] * 2, prices=given_prices) as sim:
            ask(sim, asking("How heavy is this?"))
            ask(sim, asking("How heavy is this?"))
            assert (sim.bill.calls, sim.bill.prompt, sim.bill.output) == (2, 18, 2)
            assert sim.bill.cost == 18 + 2 * 5
            assert sim.bill.usd == (None if given_prices is None else pytest.approx((18 * 5 + 2 * 25) / 1e6))

"""The providers' own SDKs take the simulator for the real thing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import anthropic
import openai
import pytest

from clew.testing import ProviderSimulator
from clew.testing.simulator import BrokenStream, Chunks, HangUp, KeepAlives, Reset, Status
from tests.wire.exchanges import PNG

QUESTION = [{"role": "user", "content": "What is in notes.txt?"}]
CALL = {"text": "Let me look.", "calls": [{"name": "read_file", "arguments": {"path": "notes.txt"}}]}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
CHAT_TOOL = {"type": "function", "function": {"name": "read_file", "description": "Reads.", "parameters": SCHEMA}}
CLAUDE_TOOL = {"name": "read_file", "description": "Reads.", "input_schema": SCHEMA}
ITEM_TOOL = {"type": "function", "name": "read_file", "description": "Reads.", "parameters": SCHEMA, "strict": False}

BREAKS = "Overloaded|reset by peer|incomplete chunked read"


def claude(sim: ProviderSimulator, key: str = "sk-ant-test", retries: int = 0) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=sim.url, api_key=key, max_retries=retries, timeout=20)


def gpt(sim: ProviderSimulator, key: str = "sk-test", retries: int = 0) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{sim.url}/v1", api_key=key, max_retries=retries, timeout=20)


@pytest.fixture
def sim() -> Iterator[ProviderSimulator]:
    with ProviderSimulator() as started:
        yield started


# --- Anthropic ---


def test_anthropic_replies_whole_and_streamed():
    line = {"thinking": "A greeting is due.", "text": "Hello there, friend."}
    with ProviderSimulator(replies=[line, line]) as sim, claude(sim) as client:
        asked = {"model": "claude-opus-5", "max_tokens": 1_000, "messages": QUESTION}
        whole = client.messages.create(**asked)
        with client.messages.stream(**asked) as stream:
            heard = "".join(stream.text_stream)
            streamed = stream.get_final_message()
    assert [block.type for block in whole.content] == ["thinking", "text"]
    assert whole.content[0].thinking == "A greeting is due."
    assert heard == whole.content[1].text == "Hello there, friend."
    assert [block.to_dict() for block in streamed.content] == [block.to_dict() for block in whole.content]
    assert (streamed.usage.input_tokens, streamed.usage.output_tokens) == (
        whole.usage.input_tokens,
        whole.usage.output_tokens,
    )
    assert whole.usage.output_tokens_details.thinking_tokens > 0
    assert whole.stop_reason == streamed.stop_reason == "end_turn"


@pytest.mark.parametrize("stream", [False, True])
def test_anthropic_runs_a_whole_tool_loop(stream):
    with ProviderSimulator(replies=[CALL, "It says hello."]) as sim, claude(sim) as client:
        messages: list = list(QUESTION)
        while True:
            asked = {"model": "claude-opus-5", "max_tokens": 500, "tools": [CLAUDE_TOOL], "messages": messages}
            if stream:
                with client.messages.stream(**asked) as streaming:
                    said = streaming.get_final_message()
            else:
                said = client.messages.create(**asked)
            messages.append({"role": "assistant", "content": [block.to_dict() for block in said.content]})
            calls = [block for block in said.content if block.type == "tool_use"]
            if not calls:
                break
            assert (said.stop_reason, calls[0].input) == ("tool_use", {"path": "notes.txt"})
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": "hello"} for call in calls]
            messages.append({"role": "user", "content": results})
        assert said.content[0].text == "It says hello."
        assert [message.role for message in sim.requests[1].prompt.messages] == ["user", "assistant", "tool"]


def test_anthropic_counts_tokens_and_pictures(sim):
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    seen = [{"role": "user", "content": [picture, {"type": "text", "text": "What is it?"}]}]
    with claude(sim) as client:
        counted = client.messages.count_tokens(model="claude-opus-5", messages=seen, system="Be brief.")
        told = client.messages.create(model="claude-opus-5", messages=seen, system="Be brief.", max_tokens=10)
        assert counted.input_tokens == told.usage.input_tokens > 10
        assert client.models.list().data[0].id == "simulated"
    assert sim.requests[0].prompt.messages[0].raw["content"][0]["type"] == "image_url"


def test_anthropic_caches_what_is_marked(sim):
    system = [
        {"type": "text", "text": "Be brief and kind. " * 300, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    ]
    with claude(sim) as client:
        first, second = (
            client.messages.create(model="claude-opus-5", max_tokens=10, system=system, messages=QUESTION).usage
            for _ in range(2)
        )
    assert first.cache_creation.ephemeral_1h_input_tokens == first.cache_creation_input_tokens > 1_000
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens


@pytest.mark.parametrize(
    ("options", "error", "status"),
    [
        ({"window": 5}, anthropic.BadRequestError, 400),
        ({"key": "sk-ant-other"}, anthropic.AuthenticationError, 401),
        ({"models": ["claude-sonnet-5"]}, anthropic.NotFoundError, 404),
        ({"body_bytes": 10}, anthropic.RequestTooLargeError, 413),
        ({"tokens_per_minute": 5}, anthropic.RateLimitError, 429),
        ({"faults": {0: Status(500)}}, anthropic.InternalServerError, 500),
        ({"faults": {0: Status(503)}}, anthropic.APIStatusError, 503),
        ({"faults": {0: Status(529)}}, anthropic.APIStatusError, 529),
        ({"faults": {0: Status(502, html=True)}}, anthropic.APIStatusError, 502),
    ],
    ids=str,
)
def test_anthropic_raises_its_own_errors(options, error, status):
    with ProviderSimulator(**options) as sim, claude(sim) as client:
        with pytest.raises(error) as caught:
            client.messages.create(model="claude-opus-5", max_tokens=10, messages=QUESTION)
        assert caught.value.status_code == status
        assert caught.value.request_id == "req_sim000000"


@pytest.mark.parametrize("fault", [BrokenStream(), Reset("middle"), HangUp("middle")], ids=repr)
def test_anthropic_notices_a_stream_that_breaks(fault):
    with ProviderSimulator(replies=["one two three four"], faults={0: fault}) as sim, claude(sim) as client:
        asked = {"model": "claude-opus-5", "max_tokens": 100, "messages": QUESTION}
        with pytest.raises(Exception, match=BREAKS), client.messages.stream(**asked) as stream:
            stream.get_final_message()
        with client.messages.stream(**asked) as stream:
            assert stream.get_final_text() == "one two three four"


@pytest.mark.parametrize("fault", [KeepAlives(), Chunks(1)], ids=repr)
def test_anthropic_is_not_disturbed_by_noise(fault):
    asked = {"model": "claude-opus-5", "max_tokens": 100, "messages": QUESTION}
    with (
        ProviderSimulator(replies=["one two three four"], faults={0: fault}) as sim,
        claude(sim) as client,
        client.messages.stream(**asked) as stream,
    ):
        assert stream.get_final_text() == "one two three four"


def test_anthropic_tries_again_by_itself():
    faults = {0: Status(529, retry_after=0.01), 1: Reset()}
    with ProviderSimulator(replies=["at last"], faults=faults) as sim, claude(sim, retries=2) as client:
        told = client.messages.create(model="claude-opus-5", max_tokens=10, messages=QUESTION)
        assert (told.content[0].text, len(sim.requests)) == ("at last", 3)


# --- OpenAI Chat Completions ---


def test_chat_replies_whole_and_streamed():
    with ProviderSimulator(replies=["Hello there, friend."] * 3) as sim, gpt(sim) as client:
        asked = {"model": "gpt-5.2", "messages": QUESTION}
        whole = client.chat.completions.create(**asked)
        chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
        with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
            for _ in stream:
                pass
            final = stream.get_final_completion()
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content == final.choices[0].message.content == "Hello there, friend."
    assert chunks[-1].usage == whole.usage == final.usage
    assert (whole.usage.completion_tokens, whole.choices[0].finish_reason) == (5, "stop")
    assert whole._request_id == "req_sim000000"


def test_chat_sends_no_usage_unless_it_is_asked_to(sim):
    with gpt(sim) as client:
        chunks = list(client.chat.completions.create(model="gpt-5.2", messages=QUESTION, stream=True))
    assert all(chunk.usage is None for chunk in chunks)


@pytest.mark.parametrize("stream", [False, True])
def test_chat_runs_a_whole_tool_loop(stream):
    with ProviderSimulator(replies=[CALL, "It says hello."]) as sim, gpt(sim) as client:
        messages: list = list(QUESTION)
        while True:
            asked = {"model": "gpt-5.2", "tools": [CHAT_TOOL], "messages": messages}
            if stream:
                with client.chat.completions.stream(**asked) as streaming:
                    said = streaming.get_final_completion().choices[0].message
            else:
                said = client.chat.completions.create(**asked).choices[0].message
            messages.append(said.to_dict())
            if not said.tool_calls:
                break
            for call in said.tool_calls:
                assert json.loads(call.function.arguments) == {"path": "notes.txt"}
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "hello"})
        assert said.content == "It says hello."
        assert [message.role for message in sim.requests[1].prompt.messages] == ["user", "assistant", "tool"]


def test_chat_takes_pictures_and_gives_thoughts():
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    seen = [{"role": "user", "content": [picture, {"type": "text", "text": "What is it?"}]}]
    with ProviderSimulator(replies=[{"thinking": "One pixel.", "text": "A dot."}]) as sim, gpt(sim) as client:
        told = client.chat.completions.create(model="deepseek-reasoner", messages=seen)
        assert client.models.list().data[0].id == "simulated"
    assert told.choices[0].message.reasoning_content == "One pixel."
    assert told.usage.completion_tokens_details.reasoning_tokens > 0


@pytest.mark.parametrize(
    ("options", "error", "status"),
    [
        ({"window": 5}, openai.BadRequestError, 400),
        ({"key": "sk-other"}, openai.AuthenticationError, 401),
        ({"models": ["gpt-5.6"]}, openai.NotFoundError, 404),
        ({"body_bytes": 10}, openai.APIStatusError, 413),
        ({"tokens_per_minute": 5}, openai.RateLimitError, 429),
        ({"tokens_per_minute": 5, "provider": "groq"}, openai.APIStatusError, 413),
        ({"faults": {0: Status(500)}}, openai.InternalServerError, 500),
        ({"faults": {0: Status(529)}}, openai.APIStatusError, 529),
        ({"faults": {0: Status(502, html=True)}}, openai.InternalServerError, 502),
    ],
    ids=str,
)
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_openai_raises_its_own_errors(options, error, status, api):
    with ProviderSimulator(**options) as sim, gpt(sim) as client:
        asks = {
            "chat": lambda: client.chat.completions.create(model="gpt-5.2", messages=QUESTION),
            "responses": lambda: client.responses.create(model="gpt-5.2", input="What is in notes.txt?"),
        }
        with pytest.raises(error) as caught:
            asks[api]()
        assert caught.value.status_code == status
        if status == 400:
            assert caught.value.code == "context_length_exceeded"
        assert caught.value.request_id == "req_sim000000"


@pytest.mark.parametrize("fault", [BrokenStream(), Reset("middle"), HangUp("middle")], ids=repr)
def test_chat_notices_a_stream_that_breaks(fault):
    with ProviderSimulator(replies=["one two three four"], faults={0: fault}) as sim, gpt(sim) as client:
        stream = client.chat.completions.create(model="gpt-5.2", messages=QUESTION, stream=True)
        with pytest.raises(openai.APIError, match=r"Overloaded|Connection error"):
            list(stream)


@pytest.mark.parametrize("fault", [KeepAlives(), Chunks(1)], ids=repr)
def test_chat_is_not_disturbed_by_noise(fault):
    with ProviderSimulator(replies=["one two three four"], faults={0: fault}) as sim, gpt(sim) as client:
        stream = client.chat.completions.create(model="gpt-5.2", messages=QUESTION, stream=True)
        assert (
            "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices) == "one two three four"
        )


def test_openai_tries_again_by_itself():
    faults = {0: Status(503, retry_after=0.01), 1: Reset()}
    with ProviderSimulator(replies=["at last"], faults=faults) as sim, gpt(sim, retries=2) as client:
        told = client.chat.completions.create(model="gpt-5.2", messages=QUESTION)
        assert (told.choices[0].message.content, len(sim.requests)) == ("at last", 3)


# --- OpenAI Responses ---


def test_responses_reply_whole_and_streamed():
    line = {"thinking": "A greeting is due.", "text": "Hello there, friend."}
    with ProviderSimulator(replies=[line] * 3) as sim, gpt(sim) as client:
        asked = {"model": "gpt-5.2", "input": "Hi", "instructions": "Be kind."}
        whole = client.responses.create(**asked)
        events = list(client.responses.create(**asked, stream=True))
        with client.responses.stream(**asked) as stream:
            for _ in stream:
                pass
            final = stream.get_final_response()
    assert whole.output_text == final.output_text == events[-1].response.output_text == "Hello there, friend."
    assert [item.type for item in whole.output] == [item.type for item in final.output] == ["reasoning", "message"]
    assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert whole.usage == final.usage
    assert whole.usage.output_tokens_details.reasoning_tokens > 0
    assert sim.requests[0].prompt.system == "Be kind."


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_responses_run_a_whole_tool_loop(stream, kept):
    with ProviderSimulator(replies=[CALL, "It says hello."]) as sim, gpt(sim) as client:
        items: list = [{"role": "user", "content": "What is in notes.txt?"}]
        earlier: dict = {}
        while True:
            asked = {"model": "gpt-5.2", "tools": [ITEM_TOOL], "input": items, **earlier}
            if stream:
                with client.responses.stream(**asked) as streaming:
                    said = streaming.get_final_response()
            else:
                said = client.responses.create(**asked)
            calls = [item for item in said.output if item.type == "function_call"]
            if not calls:
                break
            assert json.loads(calls[0].arguments) == {"path": "notes.txt"}
            results = [{"type": "function_call_output", "call_id": call.call_id, "output": "hello"} for call in calls]
            if kept:
                items, earlier = results, {"previous_response_id": said.id}
            else:
                items += [*(item.to_dict() for item in said.output), *results]
        assert said.output_text == "It says hello."
        assert [message.role for message in sim.requests[1].prompt.messages] == ["user", "assistant", "tool"]


def test_responses_say_in_the_stream_that_the_prompt_is_too_long():
    with ProviderSimulator(window=100) as sim, gpt(sim) as client:
        events = list(client.responses.create(model="gpt-5.2", input="go on " * 100, stream=True))
    assert events[-1].type == "response.failed"
    assert events[-1].response.error.code == "context_length_exceeded"


def test_responses_that_are_cut_are_incomplete():
    with ProviderSimulator(replies=["word " * 100]) as sim, gpt(sim) as client:
        told = client.responses.create(model="gpt-5.2", input="Hi", max_output_tokens=16)
    assert (told.status, told.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert told.usage.output_tokens <= 16


def test_responses_notice_a_stream_that_breaks():
    faults = {0: BrokenStream(), 1: Reset("middle"), 2: HangUp("middle")}
    with ProviderSimulator(replies=["one two three four"], faults=faults) as sim, gpt(sim) as client:
        asked = {"model": "gpt-5.2", "input": "Hi", "stream": True}
        assert list(client.responses.create(**asked))[-1].type == "response.failed"
        for _ in range(2):
            with pytest.raises(openai.APIConnectionError):
                list(client.responses.create(**asked))
        assert list(client.responses.create(**asked))[-1].response.output_text == "one two three four"


# --- both, without waiting ---


def test_async_clients_talk_to_it_all_at_once():
    async def talk() -> list[str]:
        async with (
            ProviderSimulator(replies=lambda prompt: prompt.messages[-1].text) as sim,
            anthropic.AsyncAnthropic(base_url=sim.url, api_key="x", max_retries=0) as claude,
            openai.AsyncOpenAI(base_url=f"{sim.url}/v1", api_key="x", max_retries=0) as gpt,
        ):

            async def one(number: int) -> str:
                said = [{"role": "user", "content": f"line {number}"}]
                if number % 2:
                    told = await claude.messages.create(model="claude-opus-5", max_tokens=50, messages=said)
                    return told.content[0].text
                return (await gpt.chat.completions.create(model="gpt-5.2", messages=said)).choices[0].message.content

            return await asyncio.gather(*map(one, range(40)))

    assert asyncio.run(talk()) == [f"line {number}" for number in range(40)]

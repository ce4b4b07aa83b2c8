"""Are chat's replies read whole, and spelled as a client of chat expects them?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.facts.exchange import (
    Failure,
    OutputTooLarge,
    PayloadTooLarge,
    PromptTooLong,
    RateLimited,
    Refused,
    Reply,
    Unavailable,
)
from clew.facts.messages import read_message
from clew.facts.usage import Usage
from clew.wire.chat import CHAT, error_in
from clew.wire.chat.stops import read_stop
from clew.wire.errors import classify_error
from tests.wire.exchanges import replies, values, words

USAGE = {
    "prompt_tokens": 1_200,
    "completion_tokens": 80,
    "total_tokens": 1_280,
    "prompt_tokens_details": {"cached_tokens": 1_024, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 64, "audio_tokens": 0},
}
CALL = {"id": "call_a", "type": "function", "function": {"name": "look", "arguments": '{"at": "it"}'}}


def body(message: dict[str, Any], reason: Any = "stop", **more: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": "gpt-5.2-2025-12-11",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": USAGE,
        **more,
    }


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


WHOLE = {
    "openai": body(said("Hello", refusal=None, annotations=[]), service_tier="default", system_fingerprint="fp_1"),
    "a refusal": body(said(None, refusal="I can't do that.")),
    "calls": body(said(None, tool_calls=[CALL]), "tool_calls"),
    "a custom call": body(
        said(None, tool_calls=[{"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}]),
        "tool_calls",
    ),
    "a legacy call": body(said(None, function_call={"name": "look", "arguments": "{}"}), "function_call"),
    "a forced call, told as a stop": body(said(None, tool_calls=[CALL])),
    "reasoning_content": body(said("42", reasoning_content="hm")),
    "reasoning in details": body(
        said("42", reasoning="hm", reasoning_details=[{"type": "reasoning.text", "text": "hm", "index": 0}]),
        provider="Anthropic",
    ),
    "thoughts in the content": body(
        said([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "42"}])
    ),
    "texts in the content": body(said([{"type": "text", "text": "4"}, {"type": "text", "text": "2"}])),
    "sound": body(said(None, audio={"id": "audio_1", "data": "UklGRg==", "transcript": "Hello", "expires_at": 1})),
    "Mistral's call, without a type": body(
        said("", tool_calls=[{"id": "x", "index": 0, "function": CALL["function"]}], prefix=False), "tool_calls"
    ),
    "a call without arguments": body(said("", tool_calls=[{**CALL, "function": {"name": "look"}}]), "tool_calls"),
    "a call with its arguments as an object": body(
        said("", tool_calls=[{**CALL, "function": {"name": "look", "arguments": {"at": "it"}}}]), "tool_calls"
    ),
    "calls without ids": body(said("", tool_calls=[{**CALL, "id": ""}, {**CALL, "id": None}]), "tool_calls"),
    "empty shells": body(
        said("ok", audio={"id": "", "data": ""}, function_call={"name": "", "arguments": ""}, tool_calls=None), ""
    ),
    "no calls in a list of calls": body(said("ok", tool_calls=[])),
    "words of others": body(said("so far"), "model_context_window_exceeded", x_groq={"id": "req_1"}),
    "several choices": {
        **body(said("one")),
        "choices": [
            {"index": 0, "message": said("one"), "finish_reason": "stop"},
            {"index": 1, "message": said("two"), "finish_reason": "length"},
        ],
    },
    "logprobs": {
        **body(said("Hi")),
        "choices": [{"index": 0, "message": said("Hi"), "finish_reason": "stop", "logprobs": {"content": []}}],
    },
    "a bare choice": {**body(said("Hi")), "choices": [{"message": said("Hi"), "finish_reason": "stop"}]},
    "nothing reported": {**body(said("Hi")), "usage": None},
    "an odd report": {**body(said("Hi")), "usage": {"input_tokens": 4, "output_tokens": 1}},
    "no choices": {**body(said("Hi")), "choices": []},
}  # fmt: skip


@pytest.mark.parametrize("whole", WHOLE.values(), ids=WHOLE)
def test_a_reply_comes_back_as_it_was(whole: dict[str, Any]) -> None:
    assert CHAT.encode_reply(CHAT.decode_reply(whole)) == whole


@settings(max_examples=50)
@given(replies())
def test_a_reply_that_is_spelled_can_be_read_back(reply: Reply) -> None:
    assert CHAT.decode_reply(CHAT.encode_reply(reply)) == reply


@settings(max_examples=25)
@given(st.dictionaries(words, words, max_size=2), st.sampled_from(["message", "usage", "finish_reason"]), values)
def test_fields_nobody_knows_come_back(more: dict[str, Any], field: str, odd: Any) -> None:
    whole = body(said("Hi", **{f"x{name}": value for name, value in more.items()}), **more)
    whole["choices"][0]["x_" + field] = odd
    assert CHAT.encode_reply(CHAT.decode_reply(whole)) == whole


@settings(max_examples=50)
@given(values, values, values)
def test_no_body_is_too_odd_to_be_read(one: Any, other: Any, third: Any) -> None:
    for whole in (
        {"choices": one, "usage": other, "id": third},
        {"choices": [one], "error": other},
        {"choices": [{"message": one, "finish_reason": other}]},
        {"choices": [{"message": {"content": one, "tool_calls": [other], "role": third}}]},
        {"choices": [{"message": {"content": [one, other], "tool_calls": [{"function": third}]}}]},
    ):
        CHAT.encode_reply(CHAT.decode_reply(whole))
        error_in(whole)
    error_in(one)


def read(name: str) -> Reply:
    return CHAT.decode_reply(WHOLE[name])


def test_fields_that_say_nothing_do_not_enter_the_history() -> None:
    assert read("openai").message.raw == said("Hello")
    assert read("empty shells").message.raw == said("ok")
    assert read("no calls in a list of calls").message.raw == said("ok")


def test_calls_enter_the_history_as_every_provider_takes_them() -> None:
    [call] = read("Mistral's call, without a type").message.calls
    assert (call.raw["type"], call.name) == ("function", "look")
    assert read("a call without arguments").message.calls[0].arguments == "{}"
    assert read("a call with its arguments as an object").message.raw["tool_calls"] == [CALL]
    assert [call.id for call in read("calls without ids").message.calls] == ["call_0", "call_1"]


def test_calls_that_were_taken_out_of_a_reply_do_not_come_back() -> None:
    whole = body(said("ok", tool_calls=[{**CALL, "id": ""}, {**CALL, "type": None}], refusal=None), "tool_calls")
    reply = CHAT.decode_reply(whole)
    shorter = replace(reply, message=reply.message.calling(reply.message.calls[1:]))
    assert CHAT.encode_reply(shorter)["choices"][0]["message"] == said("ok", tool_calls=[CALL], refusal=None)


@pytest.mark.parametrize(
    ("reason", "called", "stop"),
    [
        ("stop", False, "stop"),
        ("stop", True, "tool_calls"),
        (None, True, "tool_calls"),
        (None, False, "stop"),
        ("", False, "stop"),
        ("length", True, "length"),
        ("MAX_TOKENS", False, "length"),
        ("model_context_window_exceeded", False, "length"),
        ("function_call", False, "tool_calls"),
        ("SAFETY", False, "content_filter"),
        ("error", False, "stop"),
        ({"odd": 1}, False, "stop"),
    ],
)
def test_why_it_stopped_is_told_in_the_nearest_of_four_words(reason: Any, called: bool, stop: str) -> None:
    assert read_stop(reason, called=called) == stop


def test_the_providers_word_for_it_gives_way_when_the_reply_says_otherwise() -> None:
    reply = read("words of others")
    assert CHAT.encode_reply(replace(reply, stop="stop"))["choices"][0]["finish_reason"] == "stop"


def test_the_report_is_read_with_the_cache_taken_out_of_the_prompt() -> None:
    assert read("openai").usage == Usage(input=176, output=80, cache_read=1_024, reasoning=64)


def test_what_another_provider_counted_is_told_with_the_cache_inside_the_prompt() -> None:
    usage = Usage(10, 7, 100, 20, 3, raw={"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 7})
    assert CHAT.encode_reply(Reply(read_message(said("Hi")), usage))["usage"] == {
        "prompt_tokens": 130,
        "completion_tokens": 7,
        "total_tokens": 137,
        "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }


def test_of_another_providers_reply_people_see_the_words_and_the_thoughts() -> None:
    content = [
        {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"},
        {"type": "text", "text": "It is ", "citations": [{"url": "u"}]},
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "call_a"},
        {"type": "text", "text": "here."},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": " Yes."}]},
    ]
    raw = said(content, tool_calls=[{**CALL, "anthropic": {"caller": {}}}], anthropic={"container": {}})
    spelled = CHAT.encode_reply(Reply(read_message(raw), stop="tool_calls"))["choices"][0]["message"]
    assert spelled == said("It is here.", tool_calls=[CALL], reasoning_content="Let me see. Yes.")


def test_parts_that_only_chat_has_are_told_as_they_are() -> None:
    content = WHOLE["thoughts in the content"]["choices"][0]["message"]["content"]
    assert CHAT.encode_reply(Reply(read_message(said(content))))["choices"][0]["message"] == said(content)


def test_a_refusal_in_the_content_has_its_own_field() -> None:
    reply = Reply(read_message(said([{"type": "refusal", "refusal": "No."}])))
    assert CHAT.encode_reply(reply)["choices"][0]["message"] == said(None, refusal="No.")


@pytest.mark.parametrize(
    ("whole", "error"),
    [
        ({"error": {"code": 502, "message": "m"}}, {"code": 502, "message": "m"}),
        ({"error": {"message": "m"}, "choices": []}, {"message": "m"}),
        ([{"error": {"message": "m"}}], {"message": "m"}),
        ({"choices": [{"error": {"message": "m"}, "message": {}}]}, {"message": "m"}),
        ({"detail": "no"}, {"detail": "no"}),
        ("<html>", "<html>"),
        (WHOLE["openai"], None),
        ({**WHOLE["openai"], "error": None}, None),
        (WHOLE["no choices"], None),
    ],
)
def test_an_error_under_status_200_is_found(whole: Any, error: Any) -> None:
    assert error_in(whole) == error


# ── failures ──


FAILURES: list[tuple[Failure, int, str | None]] = [
    (PromptTooLong(limit=128_000, used=131_072), 400, "context_length_exceeded"),
    (PromptTooLong(limit=128_000), 400, "context_length_exceeded"),
    (PromptTooLong(), 400, "context_length_exceeded"),
    (OutputTooLarge(limit=128_000, used=100_000, requested_output=32_000), 400, "context_length_exceeded"),
    (OutputTooLarge(limit=16_384, requested_output=32_000), 400, "invalid_value"),
    (PayloadTooLarge(), 413, "request_too_large"),
    (RateLimited(retry_after=6.5), 429, "rate_limit_exceeded"),
    (Unavailable(), 503, None),
    (Refused(why="No such model.", status=404), 404, None),
    (Refused(why="Bad tools.", status=418), 400, None),
]


@pytest.mark.parametrize(("failure", "status", "code"), FAILURES)
def test_a_failure_is_told_as_openai_tells_it(failure: Failure, status: int, code: str | None) -> None:
    told, error = CHAT.encode_failure(failure)
    assert (told, error["error"]["code"]) == (status, code)
    assert "None" not in error["error"]["message"]
    assert error["error"].keys() == {"message", "type", "param", "code"}


@pytest.mark.parametrize(("failure", "status", "code"), FAILURES)
def test_a_failure_that_is_told_is_understood_again(failure: Failure, status: int, code: str | None) -> None:
    again = classify_error(*CHAT.encode_failure(failure))
    assert (again.kind, again.limit, again.used, again.requested_output, again.retry_after) == (
        failure.kind, failure.limit, failure.used, failure.requested_output, failure.retry_after,
    )  # fmt: skip


def test_what_is_too_long_is_told_in_openais_sentence() -> None:
    assert CHAT.encode_failure(PromptTooLong(limit=8_192, used=9_000))[1]["error"]["message"] == (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. "
        "Please reduce the length of the messages."
    )

"""Does a reply come back from Anthropic's spelling as it went, and is a failure told in Anthropic's words?"""

from __future__ import annotations

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
from clew.facts.messages import BadMessages, message, read_message
from clew.facts.usage import Usage
from clew.wire.anthropic import ANTHROPIC
from clew.wire.errors import classify_error
from tests.wire.anthropic_bodies import answers
from tests.wire.exchanges import replies

decode_reply, encode_reply, encode_failure = ANTHROPIC.decode_reply, ANTHROPIC.encode_reply, ANTHROPIC.encode_failure

USAGE = {"input_tokens": 21, "cache_read_input_tokens": 60, "output_tokens": 3, "service_tier": "standard"}


def body(*blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": list(blocks),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
        **fields,
    }


TEXT = {"type": "text", "text": "Yes."}


@settings(max_examples=50)
@given(replies())
def test_a_reply_that_every_dialect_can_spell_comes_back_the_same(reply: Reply) -> None:
    assert decode_reply(encode_reply(reply)) == reply


@settings(max_examples=50)
@given(answers(["toolu_1"]) | answers([]).filter(lambda content: isinstance(content, list)))
def test_a_body_comes_back_the_same(blocks: list[dict[str, Any]]) -> None:
    assert encode_reply(decode_reply(body(*blocks))) == body(*blocks)


@pytest.mark.parametrize(
    ("told", "stop"),
    [
        ({"stop_reason": "end_turn"}, "stop"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"stop_reason": "tool_use"}, "tool_calls"),
        ({"stop_reason": "refusal", "stop_details": {"type": "refusal", "category": None}}, "content_filter"),
        ({"stop_reason": "stop_sequence", "stop_sequence": "Paris"}, "stop"),
        ({"stop_reason": "pause_turn"}, "stop"),
        ({"stop_reason": "model_context_window_exceeded"}, "length"),
        ({"stop_reason": "reason_of_tomorrow"}, "stop"),
        ({"stop_reason": None}, "stop"),
    ],
)
def test_why_it_stopped_is_told_in_chats_words_and_kept_exactly(told: dict[str, Any], stop: str) -> None:
    made = body(TEXT, **told)
    assert decode_reply(made).stop == stop
    assert encode_reply(decode_reply(made)) == made


def test_a_reason_that_was_kept_gives_way_when_the_reply_ended_otherwise_since() -> None:
    reply = decode_reply(body(TEXT, stop_reason="pause_turn"))
    assert encode_reply(Reply(reply.message, stop="length", foreign=reply.foreign))["stop_reason"] == "max_tokens"


def test_fields_nobody_knows_survive() -> None:
    made = body(TEXT, container={"id": "c"}, context_management={"applied_edits": []}, more=None)
    assert decode_reply(made).foreign == {
        "anthropic": {"container": {"id": "c"}, "context_management": {"applied_edits": []}, "more": None}
    }
    assert encode_reply(decode_reply(made)) == made


def test_even_a_blank_text_of_the_model_is_passed_on() -> None:
    made = body({"type": "text", "text": "\n\n"}, {"type": "text", "text": ""})
    assert encode_reply(decode_reply(made)) == made
    assert encode_reply(decode_reply(body())) == body()


def test_usage_is_read_and_given_back_as_it_was_reported() -> None:
    reply = decode_reply(body(TEXT))
    assert reply.usage == Usage(input=21, cache_read=60, output=3)
    assert encode_reply(reply)["usage"] == USAGE


def test_usage_from_elsewhere_is_spelled_in_anthropics_buckets() -> None:
    chat = {"prompt_tokens": 90, "completion_tokens": 5, "total_tokens": 95}
    responses = {"input_tokens": 90, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 60}}
    for raw in (chat, responses, None):
        made = encode_reply(Reply(message("assistant", "Yes."), Usage(20, 5, 60, 10, reasoning=2, raw=raw)))
        assert made["usage"] == {
            "input_tokens": 20,
            "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 60,
            "output_tokens": 5,
            "output_tokens_details": {"thinking_tokens": 2},
        }


def test_a_reply_made_elsewhere_has_all_that_a_client_looks_for() -> None:
    said = read_message({"role": "assistant", "content": "Yes.", "reasoning_content": "hm", "refusal": None})
    made = encode_reply(Reply(said, stop="something_else"))
    assert made["id"].startswith("msg_")
    assert made["content"] == [{"type": "thinking", "thinking": "hm", "signature": ""}, TEXT]
    assert made["stop_reason"] == "end_turn"
    assert made["usage"]["output_tokens"] == 0
    refused = read_message({"role": "assistant", "content": None, "refusal": "No."})
    assert encode_reply(Reply(refused))["content"] == [{"type": "text", "text": "No."}]


@pytest.mark.parametrize("odd", [None, [], {}, {"content": "hi"}])
def test_what_is_no_reply_is_refused(odd: Any) -> None:
    with pytest.raises(BadMessages, match="the reply"):
        decode_reply(odd)


# ── Failures ──

FAILURES: list[tuple[Failure, int, str, str]] = [
    (
        PromptTooLong(limit=200_000, used=204_000, why="whatever"),
        400,
        "invalid_request_error",
        "prompt is too long: 204000 tokens > 200000 maximum",
    ),
    (
        PromptTooLong(why="Your input exceeds the context window of this model."),
        400,
        "invalid_request_error",
        "prompt is too long: Your input exceeds the context window of this model.",
    ),
    (PromptTooLong(why="prompt is too long"), 400, "invalid_request_error", "prompt is too long"),
    (PromptTooLong(), 400, "invalid_request_error", "prompt is too long"),
    (
        OutputTooLarge(limit=200_000, used=190_000, requested_output=32_000),
        400,
        "invalid_request_error",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, "
        "decrease input length or `max_tokens` and try again",
    ),
    (
        OutputTooLarge(limit=8_192, requested_output=9_000),
        400,
        "invalid_request_error",
        "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for this model",
    ),
    (PayloadTooLarge(), 413, "request_too_large", "Request exceeds the maximum size"),
    (RateLimited(why="slow down"), 429, "rate_limit_error", "slow down"),
    (Unavailable(), 529, "overloaded_error", "Overloaded"),
    (Refused(why="unknown field"), 400, "invalid_request_error", "unknown field"),
    (Refused(why="model: x", status=404), 404, "not_found_error", "model: x"),
    (Refused(status=422), 400, "invalid_request_error", "The request was refused"),
]


@pytest.mark.parametrize(("failure", "status", "kind", "words"), FAILURES)
def test_a_failure_is_told_in_anthropics_words(failure: Failure, status: int, kind: str, words: str) -> None:
    assert encode_failure(failure) == (status, {"type": "error", "error": {"type": kind, "message": words}})


@pytest.mark.parametrize("failure", [failure for failure, *_ in FAILURES])
def test_a_failure_is_understood_as_it_was_meant(failure: Failure) -> None:
    assert type(classify_error(*encode_failure(failure))) is type(failure)


@settings(max_examples=20)
@given(st.integers(2_000, 2_000_000), st.integers(1, 100_000))
def test_numbers_survive_being_told(limit: int, more: int) -> None:
    too_long = classify_error(*encode_failure(PromptTooLong(limit=limit, used=limit + more)))
    assert (too_long.limit, too_long.used) == (limit, limit + more)
    large = classify_error(*encode_failure(OutputTooLarge(limit=limit, used=limit - 1, requested_output=1 + more)))
    assert (large.limit, large.used, large.requested_output) == (limit, limit - 1, 1 + more)

"""Whatever a provider says, in whatever wrapping, is read as the failure it is, with the numbers it states."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from textwrap import wrap
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.facts.exchange import Failure, OutputTooLarge, PromptTooLong, RateLimited, Refused, Unavailable
from clew.wire.errors import classify_error
from clew.wire.errors.case import NEARLY_FULL, Case
from clew.wire.errors.classify import decide
from clew.wire.errors.envelope import unfold
from clew.wire.errors.table import ROWS
from tests.recordings import CORPUS

RECORDED = Path(__file__).parents[1] / "recorded" / "errors"
IN_THE_FIELD = {
    "prompt_too_long": "prompt_too_long",
    "output_cap": "output_too_large",
    "payload_too_large": "payload_too_large",
    "rate_limit": "rate_limited",
    "other": "refused",
}
"""The labels of the fact sheet → ours."""


def recorded(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text().splitlines()]


def classified(sample: dict[str, Any]) -> Failure:
    known = {name: sample[name] for name in ("headers", "prompt_tokens", "context_length") if name in sample}
    return classify_error(sample["status"], sample["body"], **known)


def says(failure: Failure) -> tuple[str, int | None, int | None, int | None]:
    return failure.kind, failure.limit, failure.used, failure.requested_output


def shortened(sample: dict[str, Any]) -> str:
    return str(sample["body"])[:60]


@pytest.mark.parametrize(
    "sample",
    [
        *recorded("samples"),
        *recorded("found"),
        *recorded("shapes"),
        *recorded("written_for_tuning"),
        *recorded("written_held_out"),
    ],
    ids=shortened,
)
def test_an_error_is_what_it_says_with_the_numbers_it_states(sample: dict[str, Any]) -> None:
    failure = classified(sample)
    assert says(failure) == (sample["kind"], sample["limit"], sample["used"], sample["requested_output"])
    if "retry_after" in sample:
        assert failure.retry_after == sample["retry_after"]


def test_every_recorded_error_of_the_fact_sheet_is_read_right() -> None:
    path = CORPUS.parent / "facts" / "overflow_samples.jsonl"
    if not path.exists():
        pytest.skip("the recorded errors are not beside the project")
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    expected = [(IN_THE_FIELD[s["kind"]], s["limit"], s["used"], s["requested_output"]) for s in samples]
    assert [says(classified(sample)) for sample in samples] == expected


WAYS_THERE = {
    "lower case": str.lower,
    "bytes": str.encode,
    "wrapped by a terminal": lambda text: "\n      ".join(
        wrap(text, 70, break_long_words=False, break_on_hyphens=False)
    ),
    "in a field": lambda text: {"error": {"message": text, "code": "400"}},
    "in a list": lambda text: [{"error": {"message": text}}],
    "in JSON": lambda text: json.dumps({"error": {"message": text}}),
    "in JSON in JSON": lambda text: json.dumps({"error": {"message": json.dumps({"error": {"message": text}})}}),
    "in Python": lambda text: f"Error code: 400 - { {'error': {'message': text, 'type': 'x_error', 'param': None}} }",
    "in JavaScript": lambda text: "{ error: { message: '" + text.replace("'", "\\'") + "', code: 'bad' } }",
    "behind a gateway's name": "litellm.BadRequestError: FooException - {}".format,
    "before a gateway's notes": "{} Received Model Group=gpt-x\nFallbacks=None LiteLLM Retried: 3 times".format,
}


@pytest.mark.parametrize("way", WAYS_THERE.values(), ids=WAYS_THERE)
def test_a_sentence_means_the_same_whichever_way_it_came(way: Any) -> None:
    names = ("samples", "found", "shapes", "written_for_tuning", "written_held_out")
    for sample in (sample for name in names for sample in recorded(name)):
        body = sample["body"]
        if isinstance(body, str) and body and "<html" not in body.lower() and "(no body)" not in body:
            expected = (sample["kind"], sample["limit"], sample["used"], sample["requested_output"])
            assert says(classified({**sample, "body": way(body)})) == expected, body


def test_every_row_of_the_table_decides_at_least_two_real_bodies() -> None:
    decided = defaultdict(set)
    for sample in (*recorded("samples"), *recorded("found"), *recorded("shapes")):
        row, _ = decide(Case(sample["status"], unfold(sample["body"])))
        decided[row].add(str(sample["body"]))
    assert {row.__name__: len(decided[row]) for row in ROWS if len(decided[row]) < 2} == {}


def test_every_row_says_whom_it_serves() -> None:
    assert all(row.__doc__ for row in ROWS)


# The same sentence, whatever its numbers, their spelling and the wrapping.

TOO_LONG = (
    "prompt is too long: {used} tokens > {limit} maximum",
    "This model's maximum context length is {limit} tokens. However, your messages resulted in {used} tokens.",
    "The input token count ({used}) exceeds the maximum number of tokens allowed ({limit}).",
    "Your request exceeded model token limit: {limit} (requested: {used})",
    "request ({used} tokens) exceeds the available context size ({limit} tokens), try increasing it",
    "This model's maximum prompt length is {limit} but the request contains {used} tokens.",
    "Token limit exceeded (max {limit}, got {used})",
)
NO_ROOM = (
    "input length and `max_tokens` exceed context limit: {used} + {output} > {limit}, decrease input length",
    "This model's maximum context length is {limit} tokens. However, you requested about {total} tokens ({used} in the "
    "messages, {output} in the completion).",
    "`inputs` tokens + `max_new_tokens` must be <= {limit}. Given: {used} `inputs` tokens and {output} "
    "`max_new_tokens`",
)
SPELLINGS = (str, "{:,}".format, "{:_}".format, lambda number: f"{number:,}".replace(",", " "))
WRAPPINGS = (
    lambda text: text,
    lambda text: text.encode(),
    lambda text: f"Error code: 400 - {text}",
    lambda text: {"error": {"message": text, "code": None, "param": None}},
    lambda text: [{"error": {"message": text, "status": "INVALID_ARGUMENT"}}],
    lambda text: json.dumps({"error": {"message": json.dumps({"error": {"message": text, "code": 400}})}}, indent=1),
    lambda text: f"400 Bad Request: {json.dumps({'detail': text})} (request id: 7f1b2c)",
    lambda text: f"Error code: 400 - { ({'error': {'message': text, 'code': 'bad_request'}}) }",
    lambda text: {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps({"message": text})}}},
    lambda text: json.dumps({"error": {"message": text}}).replace(". However", ".\\nHowever"),
)
LIMITS = st.integers(8_000, 10_000_000)


@given(st.sampled_from(TOO_LONG), LIMITS, st.integers(1, 10**6), st.sampled_from(SPELLINGS), st.sampled_from(WRAPPINGS))
@example(TOO_LONG[0], 200_000, 1, str, WRAPPINGS[7])
def test_a_prompt_that_is_too_long_is_read_in_any_spelling_and_wrapping(
    sentence: str, limit: int, beyond: int, spelled: Any, wrapped: Any
) -> None:
    body = wrapped(sentence.format(limit=spelled(limit), used=spelled(limit + beyond)))
    assert says(classify_error(400, body)) == ("prompt_too_long", limit, limit + beyond, None)


@given(st.sampled_from(NO_ROOM), LIMITS, st.data(), st.sampled_from(SPELLINGS), st.sampled_from(WRAPPINGS))
def test_an_output_without_room_tells_how_much_room_there_is(
    sentence: str, limit: int, data: st.DataObject, spelled: Any, wrapped: Any
) -> None:
    used = data.draw(st.integers(5_000, limit - 1))
    output = data.draw(st.integers(limit - used + 1, limit))
    numbers = {"limit": limit, "used": used, "output": output, "total": used + output}
    failure = classify_error(400, wrapped(sentence.format(**{name: spelled(n) for name, n in numbers.items()})))
    assert says(failure) == ("output_too_large", limit, used, output)
    assert failure.room == limit - used


@given(LIMITS, LIMITS, st.sampled_from([None, 200, 400, 413, 429]), st.sampled_from(["minute", "day", "hour"]))
def test_a_quota_is_never_a_window(limit: int, asked: int, status: int | None, period: str) -> None:
    failure = classify_error(
        status,
        f"Request too large for model `m` on tokens per {period}: Limit {limit}, Requested {asked}, please reduce your "
        "message size and try again.",
    )
    assert says(failure) == ("rate_limited", limit, asked, None)


@given(st.integers(1, 9_999_999))
def test_by_how_much_a_prompt_is_too_long_is_neither_limit_nor_use(beyond: int) -> None:
    failure = classify_error(
        400, f"prompt too long; exceeded max context length by {beyond} tokens", prompt_tokens=9**7
    )
    assert says(failure) == ("prompt_too_long", None, None, None)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("prompt is too long: 209\n353 tokens > 199,\n999 maximum", ("prompt_too_long", 199_999, 209_353, None)),
        ("最大上下文长度为 １３１０７２ tokens，请求包含 １４０２１３ tokens",
         ("prompt_too_long", 131_072, 140_213, None)),
        ("Prompt has 9001 tokens; 8192 are allowed", ("prompt_too_long", 8192, 9001, None)),
        ("Your prompt is 1200 tokens over the limit", ("prompt_too_long", None, None, None)),
        ("max_tokens is too large: 64000 > 64001 - 24235", ("output_too_large", 64_001, 24_235, 64_000)),
        ("you requested 9000 tokens, 1000 for the completion; the maximum context is 8500",
         ("output_too_large", 8500, 8000, 1000)),
        ("prompt is too long: -5 tokens > -3 maximum", ("prompt_too_long", None, None, None)),
        ("max_tokens is too large for this model", ("output_too_large", None, None, None)),
        ("The prompt must be longer than 10 tokens", ("refused", None, None, None)),
        ("max_tokens 取值范围为［１，８１９２］", ("output_too_large", 8192, None, None)),
        ("The maximum context length is 8192 tokens, at most 4096 completion tokens. You requested 9000 tokens "
         "(8000 in the messages, 1000 in the completion).", ("output_too_large", 8192, 8000, 1000)),
        ("prompt is too long: 450 tokens > 400 maximum", ("prompt_too_long", 400, 450, None)),
        ("prompt too long 12:30:45", ("prompt_too_long", None, None, None)),
        ("The request failed 3 times: prompt too long", ("prompt_too_long", None, None, None)),
        ("#/top_k: 600 is not less or equal to 500", ("refused", None, None, None)),
        ("Malformed input request: 9 is not less or equal to 8", ("refused", None, None, None)),
        ("max_tokens (9000) exceeds the output limit of 8192; the context window is 128000 tokens",
         ("output_too_large", 8192, None, 9000)),
    ],
)  # fmt: skip
def test_numbers_are_read_by_the_words_beside_them(sentence: str, expected: tuple[Any, ...]) -> None:
    assert says(classify_error(400, sentence)) == expected


# What the numbers leave to the one who asks next.


def test_the_room_of_an_output_ceiling_is_the_ceiling() -> None:
    failure = classify_error(400, "Range of max_tokens should be [1, 65536]")
    assert (failure.kind, failure.room) == ("output_too_large", 65536)


def test_a_prompt_that_is_too_long_leaves_no_room() -> None:
    assert classify_error(400, "prompt is too long: 5000 tokens > 4096 maximum").room is None


def test_the_status_is_kept_as_it_came_unless_it_is_none() -> None:
    assert classify_error(502, "bad").status == 502
    assert classify_error(0, "bad").status is None


# An answer without words.


@pytest.mark.parametrize("body", ["", b"", None, {}, "  ", "413 status code (no body)"])
def test_a_bare_413_is_a_prompt_that_is_too_long(body: Any) -> None:
    assert isinstance(classify_error(413, body), PromptTooLong)


def test_a_bare_400_is_an_overflow_only_of_a_nearly_full_window() -> None:
    full = int(100_000 * NEARLY_FULL)
    assert isinstance(classify_error(400, "", prompt_tokens=full, context_length=100_000), PromptTooLong)
    assert isinstance(classify_error(400, "", prompt_tokens=full - 1, context_length=100_000), Refused)
    assert isinstance(classify_error(400, ""), Refused)


@pytest.mark.parametrize(
    "body",
    ["Bad Request", "Error", {"error": {"message": "Error", "type": "invalid_request_error"}}, {"error": {}},
     "Provider returned error"],
)  # fmt: skip
def test_a_400_that_means_nothing_is_an_overflow_only_of_a_nearly_full_window(body: Any) -> None:
    assert isinstance(classify_error(400, body, prompt_tokens=95_000, context_length=100_000), PromptTooLong)
    assert isinstance(classify_error(400, body, prompt_tokens=20_000, context_length=100_000), Refused)
    assert isinstance(classify_error(400, body), Refused)


def test_a_bare_400_of_cerebras_is_an_overflow_unless_the_window_is_known_to_be_empty() -> None:
    assert isinstance(classify_error(400, None, provider="Cerebras"), PromptTooLong)
    assert isinstance(classify_error(400, None, provider="cerebras", prompt_tokens=900, context_length=64_000), Refused)
    assert isinstance(classify_error(400, "400 status code (no body)", provider="openai"), Refused)


def test_words_count_more_than_what_we_know_of_the_prompt() -> None:
    failure = classify_error(400, "Input is too long for requested model.", prompt_tokens=10, context_length=200_000)
    assert isinstance(failure, PromptTooLong)
    nearly_full = classify_error(400, "invalid tool name", prompt_tokens=199_000, context_length=200_000)
    assert isinstance(nearly_full, Refused)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "refused"), (401, "refused"), (403, "refused"), (404, "refused"), (405, "refused"), (422, "refused"),
     (408, "unavailable"), (409, "unavailable"), (413, "payload_too_large"), (429, "rate_limited"),
     (500, "unavailable"), (501, "refused"), (502, "unavailable"), (503, "unavailable"), (504, "unavailable"),
     (520, "unavailable"), (529, "unavailable"), (None, "refused"), (200, "refused")],
)  # fmt: skip
def test_what_no_word_decides_the_status_does(status: int | None, kind: str) -> None:
    assert classify_error(status, {"error": {"message": "no comment"}}).kind == kind


def test_no_answer_at_all_is_a_passing_fault() -> None:
    assert isinstance(classify_error(None, None), Unavailable)
    assert isinstance(classify_error(None, "Connection error."), Unavailable)


def test_a_page_of_the_way_there_says_what_its_status_says() -> None:
    page = "<!DOCTYPE html><html><head><title>{0}</title><style>a{{}}</style></head><body><h1>{0}</h1></body></html>"
    assert classify_error(502, page.format("502 Bad gateway")).kind == "unavailable"
    assert classify_error(413, page.format("413 Request Entity Too Large")).kind == "payload_too_large"
    assert classify_error(413, "<html></html>").kind == "payload_too_large"
    assert classify_error(429, page.format("Access denied | error 1015")).kind == "rate_limited"
    assert classify_error(403, page.format("Attention Required!")).kind == "refused"
    assert classify_error(403, page.format("Attention Required!")).why == "Attention Required!"
    scripted = "<html><script>if (context > window) alert('context window exceeded')</script><p>No.</p></html>"
    assert classify_error(403, scripted).kind == "refused"


def test_a_prompt_that_is_too_long_stays_so_under_the_status_of_a_quota() -> None:
    failure = classify_error(429, "This model's maximum context length is 8192 tokens. You have 9001 tokens.")
    assert says(failure) == ("prompt_too_long", 8192, 9001, None)


def test_more_money_is_no_remedy_we_have_even_where_a_prompt_would_fit_for_it() -> None:
    body = "Prompt tokens limit exceeded: 5000 > 2000. To increase, visit https://openrouter.ai/settings and upgrade"
    assert isinstance(classify_error(402, body), Refused)


def test_a_users_words_in_an_echo_are_not_the_providers() -> None:
    echo = {"messages": [{"role": "user", "content": "prompt is too long: 209353 tokens > 199999 maximum"}]}
    body = {"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required", "input": echo}]}
    assert isinstance(classify_error(422, body), Refused)
    assert isinstance(classify_error(422, {"error": {"message": json.dumps(body)}}), Refused)
    assert isinstance(classify_error(422, json.dumps(body).replace("Field required", "Field\nrequired")), Refused)


def test_the_error_at_the_end_of_a_long_trace_is_read() -> None:
    trace = '  File "x.py", line 7, in f\n    g()\n' * 60_000
    failure = classify_error(None, trace + "ValueError: Requested tokens (516) exceed context window of 512")
    assert says(failure) == ("prompt_too_long", 512, 516, None)


def test_the_error_at_the_head_of_a_huge_echo_is_read() -> None:
    body = json.dumps({"error": {"message": "prompt is too long: 5001 tokens > 5000 maximum"}, "sent": "x" * 2_000_000})
    assert says(classify_error(400, body)) == ("prompt_too_long", 5000, 5001, None)
    assert says(classify_error(400, body.encode())) == ("prompt_too_long", 5000, 5001, None)


# How long to wait.

DATE = "Mon, 16 Nov 2026 08:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ([(b"Retry-After", b"9")], 9.0),
        ({"retry-after": "Mon, 16 Nov 2026 08:01:30 GMT", "date": DATE}, 90.0),
        ({"retry-after": "Mon, 16 Nov 2026 08:01:30 GMT"}, None),
        ({"retry-after": "Mon, 16 Nov 2026 07:00:00 GMT", "date": DATE}, 0.0),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 360.0),
        ({"x-ratelimit-reset-requests": "20ms", "x-ratelimit-remaining-requests": "0",
          "x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "500"}, 0.02),
        ({"anthropic-ratelimit-input-tokens-reset": "2026-11-16T08:00:42Z", "Date": DATE}, 42.0),
        ({"anthropic-ratelimit-requests-reset": "2026-11-16T09:00:05+01:00", "date": DATE}, 5.0),
        ({"x-ratelimit-reset": "1794816012", "date": DATE}, 12.0),
        ({"x-ratelimit-reset": "1794816012000", "date": DATE}, 12.0),
        ({"x-ratelimit-reset": "30"}, 30.0),
        ({"retry-after": "soon", "date": "once"}, None),
        ({"retry-after": "99999999"}, None),
        (None, None),
        (7, None),
    ],
    ids=str,
)  # fmt: skip
def test_headers_say_how_long_to_wait(headers: Any, seconds: float | None) -> None:
    failure = classify_error(429, "slow down", headers=headers)
    assert isinstance(failure, RateLimited)
    assert failure.retry_after == seconds


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ("Please try again in 4.77s.", 4.77),
        ("Please try again in 1m30s. Visit", 90.0),
        ("try again in 120ms", 0.12),
        ("Please retry after 7 seconds.", 7.0),
        ("Please wait 2 minutes", 120.0),
        ("Try again in 1h2m3s", 3723.0),
        ({"error": {"message": "quota", "details": [{"retryDelay": "34s"}]}}, 34.0),
        ({"error": {"message": "quota", "retry_after": 3}}, 3.0),
        ("try again later", None),
    ],
    ids=str,
)
def test_words_say_how_long_to_wait(body: Any, seconds: float | None) -> None:
    assert classify_error(429, body).retry_after == seconds


def test_the_reset_of_a_quota_is_no_reason_to_wait_when_something_else_failed() -> None:
    assert classify_error(400, "bad request", headers={"x-ratelimit-reset-tokens": "6m0s"}).retry_after is None
    assert classify_error(503, "overloaded", headers={"retry-after": "3"}).retry_after == 3.0


# What may be shown.


def test_a_failure_keeps_the_providers_words() -> None:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 5 > 4"}}
    assert classify_error(400, body).why == "prompt is too long: 5 > 4"
    assert classify_error(400, json.dumps(body)).why == "prompt is too long: 5 > 4"
    assert classify_error(400, f"Error code: 400 - {body}").why == "prompt is too long: 5 > 4"


def test_the_words_are_short_enough_to_show() -> None:
    assert len(classify_error(400, "no " * 5_000).why) == 300


@pytest.mark.parametrize(
    "secret",
    ["sk-proj-abcd1234efgh5678ijkl", "sk-ant-api03-Ab12Cd34Ef56", "Bearer eyJhbGciOiJIUzI1NiJ9.e30.abc",
     "org-VDAWofJASuLH0vVz8o9tiQZr", "AIzaSyA1234567890abcdefghijk", "3f7051f7-466f-476f-957a-53f14625fdb7",
     "021787281042180b566464da517b102b4cb09cdfd60e7ee3d23dd"],
)  # fmt: skip
def test_keys_and_accounts_are_not_shown(secret: str) -> None:
    why = classify_error(401, f"Incorrect API key provided: {secret}, see https://example.com/keys?key={secret}").why
    assert secret.removeprefix("Bearer ") not in why
    assert why.startswith("Incorrect API key provided")


def test_names_of_models_are_shown() -> None:
    assert "claude-sonnet-4-5-20250929" in classify_error(404, "model: claude-sonnet-4-5-20250929").why


# Nothing breaks it.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
WORDS = st.lists(
    st.sampled_from(
        "prompt tokens max_tokens exceed limit of > + - ( ) [1, 8192] {'message': '128,000 0.5 9k -3 by . : context "
        'length is too long requested per minute retry after 5s \n \\ ` " 超过 } null'.split(" ")
    )
    | st.integers().map(str),
    max_size=30,
).map(" ".join)


@given(
    st.none() | st.integers() | st.sampled_from([200, 400, 413, 429, 500]),
    st.one_of(JSON, WORDS, WORDS.map(str.encode), st.text(), st.binary(), WORDS.map(lambda text: {"error": text})),
    st.none() | st.dictionaries(st.text(), st.text() | st.integers()) | st.lists(st.text()),
    st.none() | st.integers(),
    st.none() | st.integers(),
)
def test_anything_is_some_failure(
    status: Any, body: Any, headers: Any, prompt_tokens: int | None, context_length: int | None
) -> None:
    failure = classify_error(
        status, body, headers=headers, prompt_tokens=prompt_tokens, context_length=context_length, provider="p"
    )
    assert len(failure.why) <= 300
    assert failure.retry_after is None or failure.retry_after >= 0
    numbers = (failure.limit, failure.used, failure.requested_output, failure.room)
    assert all(number is None or number >= 0 for number in numbers)
    if isinstance(failure, OutputTooLarge) and failure.room is not None:
        assert failure.room <= (failure.limit or 0)

"""Every limit is refused in the provider's own words, and clew understands each of them."""

from __future__ import annotations

import pytest

from clew.facts.exchange import PromptTooLong
from clew.testing import ProviderSimulator
from clew.testing.simulator.providers import PROVIDERS
from clew.tokens import count_exact
from clew.wire.errors import classify_error
from tests.testing.asking import NAMES, ask, asking, get, post, reply_in
from tests.testing.test_simulator import TOOL

WINDOW, CAP = 8_192, 2_048


def words(tokens: int) -> str:
    text = "go" + " on" * (tokens - 1)
    assert count_exact(text) == tokens
    return text


TOO_LONG = asking(words(9_000), max_output=1_000)
NO_ROOM = asking(words(7_500), max_output=1_500)
TOO_MUCH = asking("Hi", max_output=4_000)

UNTOLD = {
    ("groq", "prompt"): {"limit", "used"},
    ("groq", "window"): {"limit", "used", "requested_output"},
    ("ollama-cloud", "prompt"): {"limit", "used"},
    ("minimax", "prompt"): {"limit", "used"},
    ("dashscope", "prompt"): {"used"},
    ("dashscope", "cap"): {"requested_output"},
    ("deepseek", "cap"): {"requested_output"},
    ("groq", "cap"): {"requested_output"},
}
"""Numbers that a provider keeps to itself."""
AMBIGUOUS = {("groq", "window"), ("moonshot", "window")}
"""Sentences that say the same whether the prompt alone or the prompt and its output are too long."""


def understood(got, name):
    return classify_error(got.status, got.body.decode(), headers=got.headers, provider=name)


def rows(*fields):
    return [(name, field) for name, row in PROVIDERS.items() for field in fields if getattr(row, field) is not None]


@pytest.mark.parametrize(("name", "row"), rows("prompt", "window", "cap"))
def test_a_request_that_does_not_fit_is_refused_in_words_that_clew_understands(name, row):
    dialect = "anthropic" if name in ("anthropic", "minimax") else "chat"
    prompt = {"prompt": TOO_LONG, "window": NO_ROOM, "cap": TOO_MUCH}[row]
    with ProviderSimulator(window=WINDOW, max_output=CAP, provider=name) as sim:
        got = ask(sim, prompt, dialect)
    failure = understood(got, name)
    used, asked = count_exact(prompt.messages[0].text) + 4, prompt.max_output
    expected = {"limit": CAP if row == "cap" else WINDOW, "used": None if row == "cap" else used}
    if name == "moonshot" and row == "window":
        expected["used"] = used + asked
    if row != "prompt":
        expected["requested_output"] = asked
    known = {key: value for key, value in expected.items() if key not in UNTOLD.get((name, row), ())}
    if (name, row) in AMBIGUOUS:
        known.pop("requested_output", None)
    assert failure.kind == ("prompt_too_long" if row == "prompt" or (name, row) in AMBIGUOUS else "output_too_large")
    assert {key: getattr(failure, key) for key in known} == known
    assert all(getattr(failure, key) is None for key in UNTOLD.get((name, row), ()))


@pytest.mark.parametrize("name", PROVIDERS)
def test_too_many_bytes_are_refused(name):
    with ProviderSimulator(body_bytes=1_000, provider=name) as sim:
        got = ask(sim, asking("x" * 1_000), "anthropic" if name in ("anthropic", "minimax") else "chat")
        assert ask(sim, asking("x" * 100)).status == 200
    assert (got.status, understood(got, name).kind) == (413, "payload_too_large")


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_minutes_tokens_are_used_up_and_come_back(name):
    dialect = "anthropic" if name in ("anthropic", "minimax") else "chat"
    prompt = asking(words(1_400), max_output=100)
    with ProviderSimulator(tokens_per_minute=2_000, provider=name) as sim:
        assert ask(sim, prompt, dialect).status == 200
        sim.pass_time(20)
        got = ask(sim, prompt, dialect)
        failure = understood(got, name)
        assert (got.status, failure.kind) == (429, "rate_limited")
        assert 30 <= failure.retry_after <= 40
        sim.pass_time(failure.retry_after)
        assert ask(sim, prompt, dialect).status == 200
    if "{quota" in str(PROVIDERS[name].quota.body):
        assert failure.limit == 2_000


@pytest.mark.parametrize(("name", "row"), rows("burst"))
def test_more_than_a_minute_has_is_no_window(name, row):
    with ProviderSimulator(tokens_per_minute=2_000, provider=name) as sim:
        got = ask(sim, asking(words(2_400), max_output=100))
    failure = understood(got, name)
    assert (got.status, failure.kind) == (413 if name == "groq" else 429, "rate_limited")
    assert (failure.limit, failure.used) == (2_000, 2_400 + 4 + 100)


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_wrong_key_an_unknown_model_and_an_illegal_history_are_refused(name):
    dialect = "anthropic" if name in ("anthropic", "minimax") else "chat"
    illegal = asking(messages=asking().messages * 0)
    with ProviderSimulator(key="sk-the-right-key", models=["some-model"], provider=name) as sim:
        right = {"authorization": "Bearer sk-the-right-key"}
        answers = [
            ask(sim, asking(), dialect, {"authorization": "Bearer sk-another-key"}),
            ask(sim, asking(), dialect),
            ask(sim, asking(model="another-model"), dialect, right),
            ask(sim, illegal, dialect, right),
        ]
        assert ask(sim, asking(), dialect, right).status == 200
    assert {understood(got, name).kind for got in answers} == {"refused"}
    assert all(400 <= got.status < 500 for got in answers)
    assert all(b"sk-another-key" not in got.body for got in answers)


def test_numbers_stay_numbers_where_the_provider_sends_them_so():
    with ProviderSimulator(window=WINDOW, provider="llama.cpp") as sim:
        told = ask(sim, TOO_LONG).json["error"]
    assert (told["n_prompt_tokens"], told["n_ctx"], told["type"]) == (9_004, 8_192, "exceed_context_size_error")


def test_anthropic_says_it_in_these_words():
    with ProviderSimulator(window=WINDOW, max_output=CAP) as sim:
        said = [ask(sim, prompt, "anthropic").json["error"]["message"] for prompt in (TOO_LONG, NO_ROOM, TOO_MUCH)]
    assert said == [
        "prompt is too long: 9004 tokens > 8192 maximum",
        "input length and `max_tokens` exceed context limit: 7504 + 1500 > 8192, decrease input length or "
        "`max_tokens` and try again",
        "max_tokens: 4000 > 2048, which is the maximum allowed number of output tokens for some-model",
    ]


def test_tools_are_told_apart_where_the_provider_does():
    tooled = asking(words(9_000), tools=(TOOL,))
    with ProviderSimulator(window=WINDOW) as sim:
        said = ask(sim, tooled)
    weight = understood(said, "openai").used
    assert f"your messages resulted in {weight} tokens (9004 in the messages, {weight - 9004} in the functions)" in str(
        said.json
    )
    with ProviderSimulator(window=WINDOW, provider="openrouter") as sim:
        failure = understood(ask(sim, tooled), "openrouter")
    assert failure.used == weight


@pytest.mark.parametrize("dialect", NAMES)
def test_the_last_token_fits_and_the_next_does_not(dialect):
    with ProviderSimulator(window=1_504, max_output=500) as sim:
        assert ask(sim, asking(words(1_000), max_output=500), dialect).status == 200
        assert ask(sim, asking(words(1_501), max_output=1), dialect).status == 400
        over = ask(sim, asking(words(1_001), max_output=500), dialect)
        # The Responses endpoint reserves nothing: the reply ends where the window does.
        assert over.status == (200 if dialect == "responses" else 400)


def test_a_provider_that_clamps_cuts_the_reply_instead():
    for options in ({"provider": "llama.cpp"}, {"provider": "openai", "clamps": True}):
        with ProviderSimulator(window=1_504, replies=["go on " * 500], **options) as sim:
            reply = reply_in(ask(sim, asking(words(1_400), max_output=900)))
        assert reply.stop == "length"
        assert reply.usage.total <= 1_504


def test_ollama_cuts_the_prompt_and_says_nothing():
    with ProviderSimulator(window=4_096, provider="ollama") as sim:
        reply = reply_in(ask(sim, asking(words(9_000))))
    assert reply.usage.prompt == 4_096


@pytest.mark.parametrize("name", ["anthropic", "vllm"])
def test_an_error_is_put_into_the_shape_of_the_dialect_spoken(name):
    with ProviderSimulator(window=WINDOW, provider=name) as sim:
        messages, chat = (ask(sim, TOO_LONG, dialect).json for dialect in ("anthropic", "chat"))
    assert messages["type"] == "error"
    assert messages["error"]["type"] == "invalid_request_error"
    assert chat["error"]["message"] == messages["error"]["message"]
    assert "type" not in chat


def test_a_stream_of_responses_says_in_the_stream_that_the_prompt_is_too_long():
    with ProviderSimulator(window=WINDOW) as sim:
        whole = ask(sim, TOO_LONG, "responses")
        streamed = ask(sim, asking(words(9_000), stream=True), "responses")
    assert (whole.status, whole.json["error"]["code"]) == (400, "context_length_exceeded")
    assert isinstance(reply_in(streamed, "responses"), PromptTooLong)


def test_what_is_not_strict_takes_anything_that_can_be_read():
    body = {"model": "m", "messages": [{"role": "assistant", "content": "Hello"}]}
    for strict, status in ((True, 400), (False, 200)):
        with ProviderSimulator(strict=strict) as sim:
            assert post(sim, "/v1/messages", body).status == status
            assert post(sim, "/v1/chat/completions", b"{not json").status == 400
            assert post(sim, "/v1/chat/completions", b"[1]").status == 400
            assert post(sim, "/v1/chat/completions", {"model": "m", "messages": [7]}).status == 400


def test_a_request_without_max_tokens_is_refused_by_anthropic_alone():
    said = [{"role": "user", "content": "Hi"}]
    with ProviderSimulator() as sim:
        got = post(sim, "/v1/messages", {"model": "m", "messages": said})
        assert (got.status, got.json["error"]["message"]) == (400, "max_tokens: Field required")
        assert post(sim, "/v1/chat/completions", {"model": "m", "messages": said}).status == 200


def test_models_are_listed_with_the_window_where_the_provider_tells_it():
    with ProviderSimulator(models=["a", "b"], provider="vllm", window=4_096) as sim:
        listed = get(sim, "/v1/models").json
    assert [(model["id"], model["max_model_len"]) for model in listed["data"]] == [("a", 4_096), ("b", 4_096)]
    with ProviderSimulator(models=["a"]) as sim:
        assert get(sim, "/models", {"anthropic-version": "2023-06-01"}).json["last_id"] == "a"


def test_every_answer_tells_what_is_left_of_the_quota():
    prompt = asking(words(1_396), max_output=100)
    with ProviderSimulator(tokens_per_minute=3_000) as sim:
        chat, messages = ask(sim, prompt).headers, ask(sim, prompt, "anthropic", {"x-api-key": "two"}).headers
    assert (chat["x-ratelimit-limit-tokens"], chat["x-ratelimit-remaining-tokens"]) == ("3000", "1500")
    assert messages["anthropic-ratelimit-input-tokens-remaining"] == "1600"


def test_quotas_are_counted_for_each_key_and_without_what_is_read_from_the_cache():
    marked = {
        "model": "claude-opus-5",
        "max_tokens": 10,
        "system": [{"type": "text", "text": words(1_500), "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "Hi"}],
    }
    with ProviderSimulator(tokens_per_minute=2_000) as sim:
        statuses = [post(sim, "/v1/messages", marked, {"x-api-key": "one"}).status for _ in range(20)]
        assert statuses == [200] * 20
        plain = {**marked, "system": words(1_500)}
        assert [post(sim, "/v1/messages", plain, {"x-api-key": key}).status for key in ("one", "two")] == [429, 200]


def test_what_the_quota_refuses_is_not_cached():
    marked = {
        "model": "claude-opus-5",
        "max_tokens": 10,
        "system": [{"type": "text", "text": words(1_500), "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "Hi"}],
    }
    plain = {**marked, "system": words(1_000)}
    with ProviderSimulator(tokens_per_minute=2_000) as sim:
        assert [post(sim, "/v1/messages", body).status for body in (plain, marked)] == [200, 429]
        sim.pass_time(60)
        told = post(sim, "/v1/messages", marked).json["usage"]
    assert (told["cache_read_input_tokens"], told["cache_creation_input_tokens"]) == (0, 1_504)

"""Where prompts go and with which key, and that no text shows it."""

from __future__ import annotations

import copy
import traceback
from dataclasses import asdict
from typing import Any

import pytest

from clew.facts.exchange import Refused
from clew.runtime.endpoints import BadEndpoint, Endpoint, Secret, cleared, headers_of, url_of

KEY = "sk-live-0123456789abcdefghij"


@pytest.mark.parametrize(
    ("dialect", "path", "base", "url"),
    [
        ("chat", "/chat/completions", "https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
        ("chat", "/chat/completions", "https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
        ("chat", "/chat/completions", "https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/chat/completions"),
        ("chat", "/chat/completions", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/chat/completions"),
        ("chat", "/chat/completions", "http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"),
        (
            "chat",
            "/chat/completions",
            "https://generativelanguage.googleapis.com/v1beta/openai/",
            "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
        ),
        (
            "chat",
            "/chat/completions",
            "https://me.openai.azure.com/openai/deployments/mine?api-version=2024-10-21",
            "https://me.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21",
        ),
        (
            "chat",
            "/chat/completions",
            "https://api.perplexity.ai/chat/completions",
            "https://api.perplexity.ai/chat/completions",
        ),
        ("responses", "/responses", "https://api.openai.com/v1", "https://api.openai.com/v1/responses"),
        ("anthropic", "/messages", "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("anthropic", "/messages", "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
        ("anthropic", "/messages", "https://api.z.ai/api/anthropic", "https://api.z.ai/api/anthropic/v1/messages"),
        (
            "anthropic",
            "/messages",
            "https://gateway.ai.cloudflare.com/v1/me/mine/anthropic",
            "https://gateway.ai.cloudflare.com/v1/me/mine/anthropic/v1/messages",
        ),
    ],
)
def test_a_base_url_is_understood_as_people_write_it(dialect: str, path: str, base: str, url: str) -> None:
    assert url_of(Endpoint("e", base, dialect=dialect), path) == url


def test_the_key_goes_where_the_provider_looks_for_it() -> None:
    def sent(**named: Any) -> dict[str, str]:
        made = headers_of(Endpoint("e", "https://example.com", **{"key": Secret(KEY), **named}))
        assert made.pop("content-type") == "application/json"
        return made

    assert sent(dialect="anthropic") == {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
    assert sent() == {"authorization": f"Bearer {KEY}"}
    assert sent(dialect="responses") == {"authorization": f"Bearer {KEY}"}
    assert sent(provider="azure") == {"api-key": KEY}
    assert sent(key=None) == {}
    assert sent(key=Secret("")) == {}


def test_the_callers_headers_are_sent_and_replace_ours() -> None:
    headers = {"Anthropic-Version": "2030-01-01", "anthropic-beta": "x"}
    made = headers_of(Endpoint("e", "https://example.com", dialect="anthropic", headers=headers))
    assert made == {"content-type": "application/json", "anthropic-version": "2030-01-01", "anthropic-beta": "x"}


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "[::1]", "10.1.2.3", "192.168.0.9", "100.64.1.1", "ollama", "box.local"]
)
def test_a_key_may_go_unencrypted_to_a_near_host(host: str) -> None:
    Endpoint("e", f"http://{host}:8080/v1", key=Secret(KEY))


@pytest.mark.parametrize("host", ["api.openai.com", "8.8.8.8", "[2606:4700::1111]", "localhost.example.com"])
@pytest.mark.parametrize("named", [{"key": Secret(KEY)}, {"headers": {"Authorization": f"Bearer {KEY}"}}])
def test_a_key_does_not_go_unencrypted_over_the_internet(host: str, named: Any) -> None:
    with pytest.raises(BadEndpoint, match="unencrypted"):
        Endpoint("e", f"http://{host}/v1", **named)
    Endpoint("e", f"https://{host}/v1", **named)
    Endpoint("e", f"http://{host}/v1", allow_plain=True, **named)
    Endpoint("e", f"http://{host}/v1")


@pytest.mark.parametrize(
    "named",
    [
        {"base_url": "api.openai.com/v1"},
        {"base_url": "file:///etc/passwd"},
        {"base_url": f"https://me:{KEY}@example.com/v1"},
        {"key": Secret(f"{KEY}\r\nx-evil: 1")},
        {"key": Secret(f"{KEY}ü")},
        {"headers": {"x-key": f"{KEY}\n"}},
        {"headers": {"x key": "1"}},
    ],
)
def test_what_cannot_be_sent_is_refused_without_showing_the_key(named: Any) -> None:
    with pytest.raises(BadEndpoint) as refusal:
        Endpoint("e", **{"base_url": "https://example.com", "key": Secret(KEY), **named})
    assert KEY not in "".join(traceback.format_exception(refusal.value))


def test_a_key_from_a_file_loses_its_line_end() -> None:
    assert Secret(f" {KEY}\n").reveal() == KEY


def test_a_secret_is_shown_only_on_demand() -> None:
    secret = Secret(KEY)
    endpoint = Endpoint("e", f"https://example.com/v1?key={KEY}", key=secret, headers={"x-token": KEY})
    for told in (str(secret), repr(secret), f"{secret}", f"{secret!r:>40}", "%s" % secret, repr([secret, endpoint])):  # noqa: UP031
        assert KEY not in told
    assert KEY not in repr(asdict(endpoint)["key"])
    assert copy.copy(secret) == secret
    assert hash(copy.copy(secret)) == hash(secret)
    assert secret != KEY
    assert Secret("another") != secret


def test_a_failure_loses_every_credential_however_it_was_quoted() -> None:
    headers = {"X-Goog-Api-Key": "goog-secret-1", "Authorization": "Bearer other-secret-2", "X-Token": KEY[:-4]}
    endpoint = Endpoint("e", "https://example.com", key=Secret(KEY), headers=headers, provider="azure")
    why = f"key {KEY}, goog-secret-1, 'Bearer other-secret-2' and other-secret-2; stranger: sk-ant-api03-{'a1B2' * 20}"
    told = cleared(Refused(why=why, status=401, limit=3), endpoint)
    for secret in (KEY, "goog-secret-1", "other-secret-2", "a1B2a1B2", KEY[-4:]):
        assert secret not in told.why
    assert (type(told), told.status, told.limit) == (Refused, 401, 3)


def test_a_key_that_is_no_secret_does_not_blank_the_message() -> None:
    endpoint = Endpoint("local", "http://localhost:8080", key=Secret("none"))
    assert cleared(Refused(why="none of the models is loaded"), endpoint).why == "none of the models is loaded"


@pytest.mark.parametrize("end", ["", "…", "..."])
def test_a_key_that_a_quotation_cut_in_half_is_blanked_too(end: str) -> None:
    endpoint = Endpoint("e", "https://example.com", key=Secret("opaque-credential-without-a-form"))
    for length in range(6, 33):
        told = cleared(Refused(why="you sent " + "opaque-credential-without-a-form"[:length] + end), endpoint).why
        assert told.startswith("you sent [REDACTED]"), told

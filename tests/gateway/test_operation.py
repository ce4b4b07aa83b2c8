"""Keys, limits, refusals, health, metrics; what it does with hostile input; how it ends, kindly and not."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from click.testing import CliRunner

from clew.cli.main import clew
from clew.gateway import keys
from clew.gateway.keys import Key, Keyring, _hashed
from clew.gateway.limits import Limits
from clew.gateway.refusals import Refusal
from clew.gateway.rules import refuse_open_door, rules_of
from clew.runtime.settings import BadSettings, Settings
from clew.store.address import open_store
from clew.store.check import findings
from clew.testing import ProviderSimulator
from tests.gateway.running import Running, raw, wait_for
from tests.gateway.upstreams import LINES, scripted

BODY = {"model": "gpt-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
OPENAI, ANTHROPIC = "/v1/chat/completions", "/v1/messages"


def post(gateway: Running, path: str, body: Any = None, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(BODY if body is None else body).encode()
    with httpx.Client(timeout=20) as client:
        return client.post(f"{gateway.url}{path}", content=content, headers=headers)


def keyed(name: str, **named: Any) -> Key:
    return Key(name, _hashed(f"clew-{name}"), **named)


def test_without_a_key_of_ours_nothing_passes_and_with_one_the_houses_own_goes_up(one: Running) -> None:
    with scripted(lambda body: (200, b"{}")) as url:
        one.lead(url, keyed("ann"))
        for path, kind in ((OPENAI, "invalid_request_error"), (ANTHROPIC, "authentication_error")):
            for headers in ({}, {"authorization": "Bearer wrong"}, {"x-api-key": "wrong"}):
                refused = post(one, path, **headers)
                assert (refused.status_code, refused.json()["error"]["type"]) == (401, kind)
                assert refused.headers["x-should-retry"] == "false"
        before = len(LINES)
        assert post(one, OPENAI, authorization="Bearer clew-ann").status_code == 200
        assert post(one, ANTHROPIC, **{"x-api-key": "clew-ann"}).status_code == 200
    (_, first, _), (_, second, _) = LINES[before:]
    assert (first["authorization"], first.get("x-api-key")) == ("Bearer sk-of-the-house", None)
    assert (second.get("authorization"), second["x-api-key"]) == (None, "sk-ant-of-the-house")
    assert "clew-ann" not in str(LINES[before:])


def test_a_key_reaches_only_its_models_and_its_paths(one: Running) -> None:
    with ProviderSimulator() as sim:
        one.lead(sim.url, keyed("ann", models=("gpt-*",)), keyed("bob", paths=("/v1/chat/*",)))
        ann, bob = {"authorization": "Bearer clew-ann"}, {"authorization": "Bearer clew-bob"}
        assert post(one, OPENAI, **ann).status_code == 200
        assert post(one, OPENAI, {**BODY, "model": "o9"}, **ann).status_code == 403
        assert post(one, OPENAI, b"{", **ann).status_code == 403
        assert post(one, OPENAI, **bob).status_code == 200
        assert post(one, ANTHROPIC, **bob).json()["error"]["type"] == "permission_error"


def test_who_asks_too_often_or_uses_too_much_is_told_when_to_come_back(one: Running) -> None:
    with ProviderSimulator() as sim:
        one.lead(sim.url, keyed("often", requests_per_minute=2), keyed("much", tokens_per_day=5))
        often = [post(one, OPENAI, authorization="Bearer clew-often") for _ in range(3)]
        assert [answer.status_code for answer in often] == [200, 200, 429]
        assert 1 <= int(often[2].headers["retry-after"]) <= 61
        assert often[2].json()["error"]["code"] == "rate_limit_exceeded"
        assert post(one, OPENAI, authorization="Bearer clew-much").status_code == 200
        one.settle()
        refused = post(one, ANTHROPIC, authorization="Bearer clew-much")
        assert (refused.status_code, refused.json()["error"]["type"]) == (429, "rate_limit_error")


def test_a_minute_and_a_day_begin_anew() -> None:
    now = time.mktime((2026, 11, 16, 12, 0, 0, 0, 0, -1))
    limits = Limits(lambda: now)
    key = Key("ann", tokens_per_minute=10, usd_per_day=1.0)
    limits.admit(key)
    limits.charge("ann", 10, 1.5)
    with pytest.raises(Refusal, match="tokens per minute"):
        limits.admit(key)
    now += 61
    with pytest.raises(Refusal, match="dollars per day") as told:
        limits.admit(key)
    assert told.value.retry_after == 12 * 3600 - 61
    now += 12 * 3600
    limits.admit(key)
    limits.restore("ann", 0, 2.0)
    with pytest.raises(Refusal):
        limits.admit(key)


def test_keys_are_kept_as_hashes_in_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "home" / "keys.json"
    shown = keys.add(Key("ann", models=("gpt-*",)), file)
    assert shown not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    found = keys.read(file).find(shown)
    assert found is not None
    assert (found.name, found.models) == ("ann", ("gpt-*",))
    assert keys.read(file).find(shown + "x") is None
    with pytest.raises(BadSettings):
        keys.add(Key("ann"), file)
    assert keys.remove("ann", file)
    assert not keys.remove("ann", file)
    file.write_text('{"keys": [{"name": "x", "hash": "y", "models_": []}]}')
    with pytest.raises(BadSettings):
        keys.read(file)


def test_the_command_makes_lists_and_removes_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))
    run = CliRunner().invoke
    made = json.loads(run(clew, ["serve", "keys", "add", "ann", "--tokens-per-day", "9", "--json"]).output)
    assert made["key"].startswith("clew-")
    listed = run(clew, ["serve", "keys", "list"]).output
    assert "ann" in listed
    assert "tokens_per_day 9" in listed
    assert made["key"] not in listed
    assert run(clew, ["serve", "keys", "remove", "ann"]).exit_code == 0
    assert run(clew, ["serve", "keys", "remove", "ann"]).exit_code == 1
    assert run(clew, ["serve", "--host", "0.0.0.0", "--port", "0"]).exit_code == 1


def test_other_machines_are_let_in_only_with_keys() -> None:
    for host in ("127.0.0.1", "localhost", "::1", "127.9.9.9"):
        refuse_open_door(host, Keyring())
    for host in ("0.0.0.0", "::", "192.168.1.4", "gateway.example.com", ""):
        with pytest.raises(BadSettings):
            refuse_open_door(host, Keyring())
        refuse_open_door(host, Keyring([keyed("ann")]))


@pytest.mark.parametrize("url", ["ftp://x", "https://", "x", "https://user:pw@host/v1", "https://host/v1?key=1"])
def test_an_upstream_that_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(BadSettings):
        rules_of(Settings({}), Keyring(), upstream=url)


def test_each_dialect_may_have_a_provider_of_its_own() -> None:
    settings = Settings({"gateway.upstream_anthropic": "https://a.example/x/v1/", "gateway.upstream": "http://b:1"})
    rules = rules_of(settings, Keyring(), environment={})
    assert (rules.anthropic.base, rules.openai.base) == ("https://a.example/x", "http://b:1")
    plain = rules_of(Settings({}), Keyring(), environment={})
    assert (plain.anthropic.base, plain.openai.base) == ("https://api.anthropic.com", "https://api.openai.com")


HOSTILE = [
    b"", b"{", b"[]", b"null", b'"x"', b'{"messages":', b'{"messages":[1,2,[3]]}', b'{"messages":{}}', b"\xff\xfe\x00",
    b'{"messages":[{"role":"user","content":"a"}]}trailing', b'{"messages":[{"role":1}],"model":[]}',
    b'{"messages":' + b"[" * 100_000, b'{"model":"m","messages":[' + b'{"content":' * 5_000,
    b'{"messages":[{"role":"user","content":"\\ud800"}],"model":"m","n":' + b"9" * 5_000 + b"}",
    b'{"messages":[{"role":"assistant"},{"role":"tool","content":{"a":[1]}}],"messages":[],"stream":"yes"}',
    b'{"messages":["\\u0000", null, true, {"role":"user","content":[{"type":"text"}, 5, {"type":7}]}],"model":null}',
]  # fmt: skip


@pytest.mark.parametrize("path", [OPENAI, ANTHROPIC, "/v1/responses"])
def test_a_body_that_makes_no_sense_goes_to_the_provider_for_them_to_say_so(one: Running, path: str) -> None:
    with scripted(lambda body: (400, b'{"error":"said by the provider"}')) as url:
        one.lead(url)
        for _ in range(2):  # the second time it may be known
            for body in HOSTILE:
                answer = post(one, path, body.replace(b"messages", b"input") if "responses" in path else body)
                assert (answer.status_code, answer.content) == (400, b'{"error":"said by the provider"}'), body[:60]
    one.settle()
    assert findings(one.store) == []
    assert post(one, "/health").status_code == 200


def test_a_body_that_is_too_large_is_refused_in_the_clients_dialect(one: Running) -> None:
    one.lead("http://127.0.0.1:9", most_body=1_000)
    for path, kind in ((OPENAI, "invalid_request_error"), (ANTHROPIC, "request_too_large")):
        answer = post(one, path, b"x" * 1_001)
        assert (answer.status_code, answer.json()["error"]["type"]) == (413, kind)
    chunked = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    heard = raw(one.address, chunked, *(b"190\r\n%b\r\n" % (b"x" * 400) for _ in range(3)), b"0\r\n\r\n")
    assert heard.startswith(b"HTTP/1.1 413 ")


def test_a_body_that_stops_coming_is_not_waited_for(one: Running) -> None:
    one.lead("http://127.0.0.1:9", slowest_body=0.2)
    head = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\nconnection: close\r\n\r\n"
    heard = raw(one.address, head, b'{"half":')
    assert heard.startswith(b"HTTP/1.1 408 ")
    assert b"timeout_error" in heard


def test_a_head_that_is_too_large_is_not_read_to_its_end(gateway: Running) -> None:
    first = b"GET /v1/models HTTP/1.1\r\nhost: x\r\n"
    assert raw(gateway.address, first + b"x-long: " + b"a" * 70_000 + b"\r\n\r\n").startswith(b"HTTP/1.1 431 ")
    many = b"".join(b"x-%d: %b\r\n" % (n, b"b" * 100) for n in range(700))
    assert raw(gateway.address, first + many + b"\r\n").startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "path", ["/v1/../admin", "/v1/%2e%2e/admin", "/v1/%252e%252e/x", "/v1/./models", "/v1/..%5cx", "/..", "/v1/a/../b"]
)
def test_a_path_that_leads_up_goes_nowhere(gateway: Running, path: str) -> None:
    heard = raw(gateway.address, f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
    assert heard.startswith(b"HTTP/1.1 400 ")


def test_it_says_whether_it_is_alive_ready_and_how_it_goes(one: Running, provider: ProviderSimulator) -> None:
    one.lead(provider.url)
    with httpx.Client() as client:
        assert client.get(f"{one.url}/health").json() == {"status": "ok"}
        assert client.get(f"{one.url}/ready").status_code == 200
        post(one, OPENAI)
        one.settle()
        metrics = client.get(f"{one.url}/metrics").text
        assert 'clew_requests_total{dialect="chat",status="200"}' in metrics
        assert "clew_request_seconds_bucket" in metrics
        assert 'clew_tokens_total{kind="input"}' in metrics
        assert "clew_recorder_waiting 0\n" in metrics
        one.lead("http://127.0.0.1:9", keyed("ann"))
        one.gateway._health._seen = (0.0, {})
        assert client.get(f"{one.url}/ready").json()["troubles"].keys() == {"upstream 127.0.0.1"}
        assert client.get(f"{one.url}/metrics").status_code == 401
        assert client.get(f"{one.url}/metrics", headers={"authorization": "Bearer clew-ann"}).status_code == 200


def start(folder: Path, upstream: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-c", "from clew.cli.main import main; main()", "serve", "--port", "0", "--json"]
    environment = {**os.environ, "CLEW_HOME": str(folder), "OPENAI_API_KEY": "sk-x", "PYTHONWARNINGS": ""}
    with (folder / "log").open("a") as log:
        process = subprocess.Popen(
            [*command, "--upstream", upstream],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
            start_new_session=True,
        )
    assert process.stdout
    told = ""
    while "}" not in told:
        line = process.stdout.readline()
        assert line, (folder / "log").read_text()
        told += line
    return process, json.loads(told)["url"]


def test_sighup_reads_the_keys_again_sigterm_lets_a_stream_end_and_the_log_tells_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.testing.simulator import Drip

    with ProviderSimulator(replies=["a b c d e f g h"] * 2, faults={1: Drip(0.05)}) as sim, httpx.Client() as client:
        process, url = start(tmp_path, sim.url)
        try:
            assert client.post(f"{url}{OPENAI}?key=sk-in-the-query", json=BODY).status_code == 200
            monkeypatch.setenv("CLEW_HOME", str(tmp_path))
            shown = keys.add(Key("ann"))
            process.send_signal(signal.SIGHUP)
            wait_for(lambda: client.get(f"{url}/v1/models").status_code == 401)
            headers = {"authorization": f"Bearer {shown}"}
            with client.stream("POST", f"{url}{OPENAI}", json={**BODY, "stream": True}, headers=headers) as stream:
                os.killpg(process.pid, signal.SIGTERM)  # its scribe too, as a terminal or a service manager does
                said = stream.read()
            assert said.endswith(b"data: [DONE]\n\n")
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
            assert process.stdout
            process.stdout.close()
    with open_store(tmp_path / "store.db") as store:
        assert sum(conversation.messages for conversation in store.conversations()) == 4
        assert store.spent()[0].calls == 2
    log = (tmp_path / "log").read_text()
    assert [json.loads(line).get("key") for line in log.splitlines() if '"exchange"' in line] == [None, "ann"]
    for word in ("hello", "a b c", shown, "sk-x", "sk-in-the-query"):
        assert word not in log


def test_killed_in_the_middle_of_everything_it_leaves_a_store_that_is_whole(tmp_path: Path) -> None:
    with ProviderSimulator() as sim:
        process, url = start(tmp_path, sim.url)
        host, _, port = url.removeprefix("http://").partition(":")
        lines = [socket.create_connection((host, int(port))) for _ in range(20)]
        for number in range(8):
            for place, line in enumerate(lines):
                body = json.dumps({**BODY, "messages": [{"role": "user", "content": f"{place} {number}"}]}).encode()
                line.sendall(
                    b"POST %b HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (OPENAI.encode(), len(body))
                )
                line.sendall(body)
            for line in lines:
                heard = b""
                while not heard.endswith(b"}"):
                    heard += line.recv(65536)
                assert heard.startswith(b"HTTP/1.1 200")
        last = {**BODY, "messages": [{"role": "user", "content": "the last words"}]}
        assert httpx.post(f"{url}{OPENAI}", json=last).status_code == 200
        time.sleep(0.03)  # handed over, and not yet written
        for line in lines:
            line.close()
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()
    time.sleep(0.2)
    with open_store(tmp_path / "store.db") as store:
        # The scribe ends with everything written that it was told.
        wait_for(lambda: len(store.conversations()) == 161)
        assert findings(store) == []
        assert all(conversation.messages == 2 for conversation in store.conversations())

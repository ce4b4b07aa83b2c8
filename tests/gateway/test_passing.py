"""What goes up is what came, what comes down is what was said: with the real clients, over real sockets."""

from __future__ import annotations

import json
import socket
import urllib.request
from typing import Any

import anthropic
import httpx2 as httpx
import openai
import pytest

from clew.facts.exchange import Unavailable
from clew.gateway.silence import Patience
from clew.testing import ProviderSimulator
from clew.testing.simulator import BrokenStream, Chunks, Drip, HangUp, KeepAlives, Reset, Stall, Status
from tests.gateway.running import Running, raw, wait_for
from tests.gateway.upstreams import LINES, scripted, stuttering, waiting_server

HI = [{"role": "user", "content": "Hi, 你好 é"}]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}


def openai_at(gateway: Running, **named: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="sk-the-clients-own", max_retries=0, **named)


def anthropic_at(gateway: Running, **named: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=gateway.url, api_key="sk-ant-the-clients-own", max_retries=0, **named)


def post(url: str, body: bytes, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with httpx.Client(timeout=20) as client:
        return client.post(url, content=body, headers={"content-type": "application/json", **named})


def test_openais_client_talks_through_it_whole_and_streamed(gateway: Running) -> None:
    with openai_at(gateway) as client:
        whole = client.chat.completions.create(model="gpt-5", messages=HI)
        assert whole.choices[0].message.content == "You said: " + HI[0]["content"]
        streamed = client.chat.completions.create(model="gpt-5", messages=HI, stream=True)
        chunks = list(streamed)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole.choices[0].message.content
        assert all(chunk.usage is None for chunk in chunks)
        asked = client.chat.completions.create(
            model="gpt-5", messages=HI, stream=True, stream_options={"include_usage": True}
        )
        assert list(asked)[-1].usage.total_tokens > 0
        response = client.responses.create(model="gpt-5", input="hello")
        assert response.output_text == "You said: hello"
        with client.responses.stream(model="gpt-5", input="hello") as stream:
            assert stream.get_final_response().output_text == "You said: hello"


def test_anthropics_client_talks_through_it_whole_and_streamed(gateway: Running) -> None:
    with anthropic_at(gateway) as client:
        whole = client.messages.create(model="claude-of-the-tests", max_tokens=64, messages=HI)
        with client.messages.stream(model="claude-of-the-tests", max_tokens=64, messages=HI) as stream:
            assert stream.get_final_message().content[0].text == whole.content[0].text
        assert client.messages.count_tokens(model="claude-of-the-tests", messages=HI).input_tokens > 0
        assert client.models.list().data[0].id == "simulated"


def test_parallel_tools_and_pictures_go_through_as_they_are(gateway: Running, provider: ProviderSimulator) -> None:
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": "weather", "arguments": f'{{"city": {n}}}'}}
        for n in (1, 2)
    ]
    provider.say({"role": "assistant", "content": None, "tool_calls": calls}, "Both are fine.")
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    asked: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "Here?"}, picture]}]
    with openai_at(gateway) as client:
        stream = client.chat.completions.create(model="gpt-5", messages=asked, tools=[WEATHER], stream=True)
        arguments: dict[int, str] = {}
        for chunk in stream:
            for call in chunk.choices[0].delta.tool_calls or ():
                arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
        assert arguments == {0: '{"city": 1}', 1: '{"city": 2}'}
        asked += [{"role": "assistant", "content": None, "tool_calls": calls}]
        asked += [{"role": "tool", "tool_call_id": f"call_{n}", "content": "sun"} for n in (1, 2)]
        done = client.chat.completions.create(model="gpt-5", messages=asked, tools=[WEATHER])
        assert done.choices[0].message.content == "Both are fine."


BODY = (
    '{ "messages" : [{"role":"user","content":"\\u00e9 é \\ud83d\\ude00","extra":1.0}],\n'
    ' "model":"gpt-5","seed":12345678901234567890123,"temperature":1.0,"none":null,"none":null, "unheard_of":[1e5]}'
).encode()


def test_every_byte_of_a_request_arrives_as_it_was_sent(gateway: Running, provider: ProviderSimulator) -> None:
    answer = post(f"{gateway.url}/v1/chat/completions?beta=true", BODY, anthropic_beta="b, a,c", x_clew_thing="no")
    assert answer.status_code == 200
    (asked,) = provider.requests
    assert asked.raw == BODY
    assert asked.headers["anthropic-beta"] == "b, a,c"
    assert asked.headers["accept-encoding"] == "identity"
    assert not [name for name in asked.headers if name.startswith("x-clew")]


def test_a_stream_is_asked_for_its_usage_with_one_field_more_and_not_another_byte(
    gateway: Running, provider: ProviderSimulator
) -> None:
    body = BODY.replace(b'"none":null, ', b'"stream":true, ')
    plain = post(f"{gateway.url}/v1/chat/completions", body)
    (asked,) = provider.requests
    assert asked.raw == body[:-1] + b',"stream_options":{"include_usage":true}}'
    assert b"usage" not in plain.content
    told = body[:-1] + b',"stream_options":{"include_usage":true}}'
    direct = post(f"{provider.url}/v1/chat/completions", body)
    assert [json.loads(line[6:])["choices"] for line in plain.text.split("\n\n")[:-2]] == [
        json.loads(line[6:])["choices"] for line in direct.text.split("\n\n")[:-2]
    ]
    through = post(f"{gateway.url}/v1/chat/completions", told)
    assert b'"usage": {"prompt_tokens"' in through.content.replace(b'"usage":{', b'"usage": {')


def test_a_provider_that_will_not_be_asked_for_the_usage_gets_the_clients_own_words(one: Running) -> None:
    heard: list[bytes] = []

    def refuse(body: bytes) -> tuple[int, bytes]:
        heard.append(body)
        if b"stream_options" in body:
            return 400, b'{"error":{"message":"Unrecognized request argument supplied: stream_options"}}'
        return 200, b'{"choices":[]}'

    with scripted(refuse) as url:
        one.lead(url)
        body = b'{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true}'
        for _ in range(2):
            assert post(f"{one.url}/v1/chat/completions", body).status_code == 200
    assert [b"stream_options" in asked for asked in heard] == [True, False, False]
    assert heard[1] == heard[2] == body


def test_a_providers_error_comes_down_byte_for_byte_with_its_headers(one: Running) -> None:
    with ProviderSimulator(faults={0: Status(529, retry_after=7), 1: Status(502, html=True)}) as provider:
        one.lead(provider.url)
        body = json.dumps({"model": "m", "max_tokens": 5, "messages": HI}).encode()
        through = [post(f"{one.url}/v1/messages", body) for _ in range(2)]
        provider.reset()
        direct = [post(f"{provider.url}/v1/messages", body) for _ in range(2)]
    for got, said in zip(through, direct, strict=True):
        assert (got.status_code, got.content) == (said.status_code, said.content)
        hop = ("connection", "transfer-encoding", "date", "server")
        kept = [(name, value) for name, value in got.headers.items() if not name.startswith("x-clew-")]
        assert [pair for pair in kept if pair[0] not in hop] == [
            (name, value) for name, value in said.headers.items() if name not in hop
        ]
    assert through[0].headers["retry-after"] == "7"


def test_a_prompt_that_is_too_long_is_told_in_the_providers_own_words(one: Running) -> None:
    with ProviderSimulator(window=8_000) as provider:
        one.lead(provider.url)
        with openai_at(one) as client, pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": "word " * 9_000}])
    assert refused.value.code == "context_length_exceeded"


def test_what_is_no_exchange_is_relayed_untouched(one: Running) -> None:
    heard: list[Any] = []

    def note(body: bytes) -> tuple[int, bytes]:
        heard.append(body)
        return 200, b'{"object":"list"}'

    with scripted(note) as url, httpx.Client() as client:
        one.lead(url)
        for method, path in (
            ("GET", "/v1/responses/resp_1/input_items?limit=2&after=%2Fx"),
            ("POST", "/v1/embeddings"),
            ("DELETE", "/v1/responses/resp_1"),
            ("OPTIONS", "/v1/chat/completions"),
            ("GET", "/v1/models"),
        ):
            answer = client.request(method, f"{one.url}{path}", content=b"[1, 2]" if method == "POST" else None)
            assert (answer.status_code, answer.content) == (200, b'{"object":"list"}'), path
        assert client.head(f"{one.url}/v1/models").status_code == 200
        assert [line for line, _, _ in LINES[-6:]] == [
            "GET /v1/responses/resp_1/input_items?limit=2&after=%2Fx HTTP/1.1",
            "POST /v1/embeddings HTTP/1.1",
            "DELETE /v1/responses/resp_1 HTTP/1.1",
            "OPTIONS /v1/chat/completions HTTP/1.1",
            "GET /v1/models HTTP/1.1",
            "HEAD /v1/models HTTP/1.1",
        ]
    assert b"[1, 2]" in heard


@pytest.mark.parametrize("fault", [Chunks(1), Chunks(7), KeepAlives(), Drip(0.001)], ids=str)
def test_however_a_stream_is_cut_it_arrives_whole_and_is_understood(one: Running, fault: Any) -> None:
    with ProviderSimulator(faults={0: fault}) as provider:
        one.lead(provider.url)
        with openai_at(one) as client:
            stream = client.chat.completions.with_raw_response.create(model="gpt-5", messages=HI, stream=True)
            session = stream.headers["x-clew-session"]
            text = "".join(chunk.choices[0].delta.content or "" for chunk in stream.parse())
    assert text == "You said: " + HI[0]["content"]
    assert one.said(session)[-1] == ("assistant", text)


@pytest.mark.parametrize("dialect", ["chat", "anthropic", "responses"])
@pytest.mark.parametrize("fault", [Reset("middle"), HangUp("middle")], ids=str)
def test_a_stream_that_dies_ends_in_an_error_and_never_as_if_it_were_whole(
    one: Running, dialect: str, fault: Any
) -> None:
    with ProviderSimulator(replies=["word " * 50], faults={0: fault}) as provider:
        one.lead(provider.url)
        if dialect == "anthropic":
            with anthropic_at(one) as client, pytest.raises((anthropic.APIError, httpx.HTTPError)):
                for _ in client.messages.create(model="m", max_tokens=999, messages=HI, stream=True):
                    pass
        else:
            with openai_at(one) as client:
                asked: Any = {"chat": client.chat.completions, "responses": client.responses}[dialect]
                said = {"messages": HI} if dialect == "chat" else {"input": "x"}
                stream = asked.create(model="m", stream=True, **said)
                with pytest.raises((openai.APIError, httpx.HTTPError)):
                    list(stream)
    one.settle()
    assert one.store.spent()[0].failed >= 1


def test_an_error_in_the_stream_itself_reaches_the_client(one: Running) -> None:
    with ProviderSimulator(faults={0: BrokenStream(Unavailable(why="Overloaded"))}) as provider:
        one.lead(provider.url)
        with anthropic_at(one) as client, pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            list(client.messages.create(model="m", max_tokens=99, messages=HI, stream=True))


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("at", ["before the head", "in the middle"])
def test_when_a_client_leaves_the_provider_sees_it_at_once(one: Running, streamed: bool, at: str) -> None:
    with waiting_server(speaks=at == "in the middle", streams=streamed) as server:
        one.lead(f"http://127.0.0.1:{server.port}")
        body = json.dumps({"model": "m", "stream": streamed, "messages": HI}).encode()
        with socket.create_connection(one.address) as line:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
            line.sendall(head.encode() + body)
            wait_for(lambda: server.asked)
            if at == "in the middle":
                assert line.recv(100)
        wait_for(lambda: server.left, 2)
    newest = "SELECT failed FROM call ORDER BY number DESC LIMIT 1"
    wait_for(lambda: one.store.database.glance.all(newest) == [("cancelled",)])


def test_a_large_body_does_not_hide_that_its_client_has_left(one: Running) -> None:
    with waiting_server(speaks=False, streams=False) as server:
        one.lead(f"http://127.0.0.1:{server.port}")
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 600_000}]}).encode()
        with socket.create_connection(one.address) as line:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
            line.sendall(head.encode() + body)
            wait_for(lambda: server.asked)
        wait_for(lambda: server.left, 2)


def test_a_client_that_waits_is_pinged_between_events_and_only_there(one: Running) -> None:
    patience = Patience(ping=0.1)
    for dialect, path, ping in (
        ("anthropic", "messages", 'event: ping\ndata: {"type": "ping"}'),
        ("chat", "chat/completions", ": keepalive"),
    ):
        with ProviderSimulator(faults={0: Stall(0.35)}) as provider:
            one.lead(provider.url, patience=patience)
            body = {"model": "m", "max_tokens": 99, "messages": HI, "stream": True}
            answer = post(f"{one.url}/v1/{path}", json.dumps(body).encode())
            provider.reset()
        events = answer.text.split("\n\n")
        assert events.count(ping) >= 2, dialect
        assert events[-1] == ""


def test_no_ping_ever_stands_inside_an_event(one: Running) -> None:
    halves = [b'event: a\ndata: {"type": ', b'"x"}\n', b"\n", b'event: b\ndata: {"type": "y"}\n\n']
    with stuttering(halves, 0.15) as url:
        one.lead(url, patience=Patience(ping=0.05))
        body = json.dumps({"model": "m", "max_tokens": 9, "messages": HI, "stream": True}).encode()
        answer = post(f"{one.url}/v1/messages", body)
    ping = b'event: ping\ndata: {"type": "ping"}\n\n'
    assert answer.content.count(ping) >= 2
    assert answer.content.replace(ping, b"") == b"".join(halves)
    assert b"".join(halves[:3]) in answer.content


def test_before_the_head_a_ping_commits_to_a_stream_and_an_error_becomes_an_event(one: Running) -> None:
    with ProviderSimulator(faults={0: [Stall(0.3, at="start"), Status(529)]}) as provider:
        one.lead(provider.url, patience=Patience(ping=0.1))
        with anthropic_at(one) as client, pytest.raises(anthropic.APIStatusError) as told:
            list(client.messages.create(model="m", max_tokens=99, messages=HI, stream=True))
    assert told.value.body["error"]["type"] == "overloaded_error"


def test_a_provider_that_is_silent_for_too_long_is_given_up(one: Running) -> None:
    for streamed, speaks in ((False, False), (True, True)):
        with waiting_server(speaks=speaks, streams=streamed) as server:
            one.lead(f"http://127.0.0.1:{server.port}", patience=Patience(ping=0.05, first_byte=0.2, idle=0.2))
            body = json.dumps({"model": "m", "stream": streamed, "messages": HI}).encode()
            if streamed:
                with pytest.raises(httpx.RemoteProtocolError):
                    post(f"{one.url}/v1/chat/completions", body)
            else:
                answer = post(f"{one.url}/v1/chat/completions", body)
                assert (answer.status_code, answer.json()["error"]["type"]) == (504, "server_error")
            wait_for(lambda: server.left, 2)


def test_a_provider_that_is_not_there_is_told_in_the_clients_dialect(one: Running) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    one.lead(f"http://127.0.0.1:{port}")
    with anthropic_at(one) as client, pytest.raises(anthropic.InternalServerError) as refused:
        client.messages.create(model="m", max_tokens=5, messages=HI)
    assert refused.value.body["error"]["type"] == "api_error"
    assert refused.value.request_id.startswith("req_clew_")
    assert str(port) not in str(refused.value)


def test_the_clients_own_credentials_pass_and_cookies_do_not(one: Running) -> None:
    def cookie(body: bytes) -> tuple[int, bytes]:
        return 200, b"{}"

    with scripted(cookie, extra=b"set-cookie: a=b\r\nx-ratelimit-remaining: 7\r\n") as url:
        one.lead(url)
        answer = post(f"{one.url}/v1/chat/completions", BODY, authorization="Bearer mine", x_api_key="also mine")
    assert "set-cookie" not in answer.headers
    assert answer.headers["x-ratelimit-remaining"] == "7"
    headers = LINES[-1][1]
    assert headers["authorization"] == "Bearer mine"
    assert headers["x-api-key"] == "also mine"


def test_a_websocket_is_refused_so_that_clients_fall_back(gateway: Running) -> None:
    asked = b"GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n"
    with socket.create_connection(gateway.address) as line:
        line.sendall(asked)
        assert line.recv(100).startswith(b"HTTP/1.1 426 ")


def test_a_packed_body_is_passed_on_packed_and_read_all_the_same(gateway: Running) -> None:
    import gzip

    heard: list[bytes] = []

    def note(body: bytes) -> tuple[int, bytes]:
        heard.append(body)
        reply = {"id": "x", "choices": [{"message": {"role": "assistant", "content": "Packed."}}], "usage": {}}
        return 200, json.dumps(reply).encode()

    packed = gzip.compress(json.dumps({"model": "m", "messages": HI}).encode())
    with scripted(note) as url:
        gateway.lead(url)
        answer = post(f"{gateway.url}/v1/chat/completions", packed, content_encoding="gzip")
    assert heard == [packed]
    assert gateway.said(answer.headers["x-clew-session"]) == [("user", HI[0]["content"]), ("assistant", "Packed.")]


def test_urllib_which_sends_no_content_type_of_its_own_is_served_too(gateway: Running) -> None:
    with urllib.request.urlopen(f"{gateway.url}/v1/chat/completions", BODY) as answer:
        assert json.load(answer)["choices"]


def test_bytes_that_are_no_http_get_an_answer_and_an_end(gateway: Running) -> None:
    assert raw(gateway.address, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").startswith(b"HTTP/1.1 400 ")

"""Each fault is what it is called, on the wire."""

from __future__ import annotations

import http.client
import json
import socket

import pytest

from clew.facts.exchange import Reply, Unavailable
from clew.testing import ProviderSimulator
from clew.testing.simulator import (
    BrokenStream,
    Chunks,
    ContentType,
    Drip,
    Empty,
    HalfStream,
    HangUp,
    KeepAlives,
    Malformed,
    Reset,
    Stall,
    Status,
)
from clew.wire.dialects import DIALECTS
from tests.testing.asking import NAMES, ask, asking, reply_in

TEXT = "alpha " + "beta gamma delta epsilon zeta eta theta iota kappa lambda " * 10 + "omega"


def raw(sim, *, stream, dialect="chat"):
    """All bytes that come back, and the error in which that ends, if it does."""
    spoken = DIALECTS[dialect]
    body = json.dumps(spoken.encode(asking(stream=stream))).encode()
    host, port = sim.url.removeprefix("http://").split(":")
    received = b""
    with socket.create_connection((host, int(port)), timeout=20) as line:
        head = f"POST /v1{spoken.path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
        line.sendall(head.encode() + body)
        while True:
            try:
                chunk = line.recv(65_536)
            except ConnectionResetError as error:
                return received, error
            if not chunk:
                return received, None
            received += chunk


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("at", ["start", "headers", "middle"])
def test_a_reset_ends_the_connection_with_an_error(at, stream):
    with ProviderSimulator(replies=[TEXT], faults={0: Reset(at)}) as sim:
        received, error = raw(sim, stream=stream)
        assert isinstance(error, ConnectionResetError)
        assert received.startswith(b"HTTP/1.1 200") is (at != "start")
        assert (b"alpha" in received) is (at == "middle")
        assert b"omega" not in received
        assert reply_in(ask(sim, asking())).message.text == TEXT


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("at", ["start", "headers", "middle"])
def test_hanging_up_ends_the_connection_too_soon_but_quietly(at, stream):
    with ProviderSimulator(replies=[TEXT], faults={0: HangUp(at)}) as sim:
        received, error = raw(sim, stream=stream)
        assert error is None
        assert received.startswith(b"HTTP/1.1 200") is (at != "start")
        assert (b"alpha" in received) is (at == "middle")
        assert not received.endswith(b"0\r\n\r\n")
        assert b"omega" not in received


def test_a_client_notices_that_the_rest_is_missing():
    with ProviderSimulator(faults={0: HangUp(), 1: HangUp()}) as sim:
        for stream in (False, True):
            with pytest.raises(http.client.IncompleteRead):
                ask(sim, asking(stream=stream))


@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.parametrize(
    "fault",
    [Stall(0.01, "start"), Stall(0.01, "headers"), Stall(0.01), Drip(0.001), KeepAlives(), Chunks(1), Chunks(10**6)],
    ids=repr,
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_harmless_fault_leaves_the_reply_whole(dialect, fault, stream):
    with ProviderSimulator(replies=[TEXT], faults={0: fault}) as sim:
        reply = reply_in(ask(sim, asking(stream=stream), dialect), dialect)
        assert reply.message.text == TEXT
        assert "no line left" in str(ask(sim, asking(), dialect).json)


def test_chunks_are_of_the_size_that_was_asked_for():
    with ProviderSimulator(replies=[TEXT] * 2, faults={0: Chunks(1), 1: Chunks(10**6)}) as sim:
        tiny, giant = raw(sim, stream=True)[0], raw(sim, stream=True)[0]
    assert tiny.count(b"\r\n1\r\n") > 500
    assert giant.partition(b"\r\n\r\n")[2].count(b"\r\n") == 4  # size, chunk, size of nothing, nothing


def test_keep_alives_stand_between_the_events():
    with ProviderSimulator(replies=[TEXT], faults={0: KeepAlives()}) as sim:
        got = ask(sim, asking(stream=True), "anthropic")
    assert got.body.startswith(b": keepalive\n\n")
    assert got.body.count(b"event: ping") > 5


@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.parametrize("code", [500, 502, 503, 529])
def test_a_status_comes_as_json_or_as_a_page(dialect, code):
    with ProviderSimulator(
        replies=["hello"], faults={0: Status(code, retry_after=3), 1: Status(code, html=True)}
    ) as sim:
        told, page = ask(sim, asking(), dialect), ask(sim, asking(stream=True), dialect)
        assert (told.status, told.headers["retry-after"]) == (code, "3")
        assert told.json["error"]["message"]
        assert (page.status, page.headers["content-type"]) == (code, "text/html")
        assert page.body.startswith(b"<html>")
        assert sim.bill.calls == 0
        assert reply_in(ask(sim, asking(), dialect), dialect).message.text == "hello"


@pytest.mark.parametrize("dialect", NAMES)
def test_malformed_json_cannot_be_read(dialect):
    with ProviderSimulator(faults={0: Malformed(), 1: Malformed()}) as sim:
        with pytest.raises(json.JSONDecodeError):
            _ = ask(sim, asking(), dialect).json
        events = ask(sim, asking(stream=True), dialect).events
    assert sum(not _is_json(event.data) for event in events) == 1 + (dialect == "chat")  # which ends in [DONE]


def _is_json(text):
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


@pytest.mark.parametrize("dialect", NAMES)
def test_half_a_stream_ends_without_its_last_event(dialect):
    with ProviderSimulator(replies=[TEXT] * 2, faults={0: HalfStream()}) as sim:
        half, whole = (ask(sim, asking(stream=True), dialect) for _ in range(2))
    assert half.status == 200
    assert 2 < len(half.events) < len(whole.events)
    assert b"omega" not in half.body
    assert whole.events[-1] not in half.events


@pytest.mark.parametrize("dialect", NAMES)
def test_a_broken_stream_says_so_in_the_middle(dialect):
    with ProviderSimulator(replies=[TEXT], faults={0: BrokenStream(), 1: BrokenStream()}) as sim:
        broken = ask(sim, asking(stream=True), dialect)
        assert (broken.status, b"alpha" in broken.body, b"omega" in broken.body) == (200, True, False)
        assert isinstance(reply_in(broken, dialect), Unavailable)
        assert ask(sim, asking(), dialect).status in (503, 529)
        assert reply_in(ask(sim, asking(), dialect), dialect).message.text == TEXT


def test_an_empty_body_and_a_wrong_name_for_it():
    with ProviderSimulator(faults={0: Empty(), 1: Empty(), 2: ContentType("text/html")}) as sim:
        assert [ask(sim, asking(stream=stream)).body for stream in (False, True)] == [b"", b""]
        named = ask(sim, asking(stream=True))
    assert (named.status, named.headers["content-type"]) == (200, "text/html")
    assert named.body.startswith(b"data: ")


def test_faults_may_stand_in_the_script_and_several_may_meet():
    with ProviderSimulator(replies=[Status(503), "hello", KeepAlives()], faults={1: (KeepAlives(), Chunks(3))}) as sim:
        assert ask(sim, asking()).status == 503
        assert reply_in(ask(sim, asking(stream=True))).message.text == "hello"
        echoed = ask(sim, asking("Who is there?", stream=True))
        assert echoed.body.startswith(b": keepalive")
        assert reply_in(echoed).message.text == "You said: Who is there?"


def test_a_client_that_goes_away_disturbs_nobody():
    with ProviderSimulator(faults={0: Stall(60, "start"), 1: Stall(60)}) as sim:
        host, port = sim.url.removeprefix("http://").split(":")
        for _ in range(2):
            line = http.client.HTTPConnection(host, int(port), timeout=0.2)
            line.request("POST", "/v1/chat/completions", json.dumps(DIALECTS["chat"].encode(asking(stream=True))))
            with pytest.raises(TimeoutError):
                line.getresponse().read()
            line.close()
        assert isinstance(reply_in(ask(sim, asking())), Reply)

"""The seam: whoever manages a request sees what it is and answers it, in the client's dialect, on the record."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic
import httpx2 as httpx
import openai
import pytest

from clew.facts.exchange import PromptTooLong, Reply
from clew.facts.messages import message
from clew.facts.pieces import Begun, Broken, Counted, Ended, Piece, Said
from clew.facts.usage import Usage
from clew.gateway.answering import Answering, Managed, pass_all
from clew.gateway.asked import Asked
from clew.gateway.known import Known
from clew.gateway.passing import Passed
from clew.testing import ProviderSimulator
from tests.gateway.running import Running, wait_for

REPLY = Reply(message("assistant", "Managed."), Usage(input=7, output=2), "stop", "id_1", "m")
HI: Any = [{"role": "user", "content": "manage me"}]


@pytest.fixture
def seen(gateway: Running) -> Iterator[list[tuple[Asked, Known]]]:
    found: list[tuple[Asked, Known]] = []
    yield found
    gateway.gateway._manager = pass_all


def managing(gateway: Running, seen: list[Any], managed: Managed | None) -> None:
    async def manager(asked: Asked, known: Known) -> Managed | None:
        seen.append((asked, known))
        return managed

    gateway.gateway._manager = manager


async def reply(answering: Answering) -> Passed:
    return await answering.reply(REPLY)


async def pieces(answering: Answering) -> Passed:
    async def each() -> AsyncIterator[Piece]:
        for piece in (Begun("id_1", "m"), Said("Man"), Said("aged."), Counted(Usage(input=7, output=2)), Ended("stop")):
            yield piece

    return await answering.pieces(each())


@pytest.mark.parametrize("managed", [reply, pieces])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_reply_of_our_own_is_told_in_every_dialect_and_recorded(
    gateway: Running, seen: list[Any], managed: Managed, streamed: bool
) -> None:
    if managed is pieces and not streamed:
        pytest.skip("pieces are for streams")
    managing(gateway, seen, managed)
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="x", max_retries=0) as client:
        if streamed:
            chunks = list(client.chat.completions.create(model="m", messages=HI, stream=True))
            assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Managed."
            with client.responses.stream(model="m", input="manage me") as stream:
                assert stream.get_final_response().output_text == "Managed."
        else:
            said = client.chat.completions.create(model="m", messages=HI)
            assert said.choices[0].message.content == "Managed."
            assert client.responses.create(model="m", input="manage me").output_text == "Managed."
    with anthropic.Anthropic(base_url=gateway.url, api_key="x", max_retries=0) as client:
        if streamed:
            with client.messages.stream(model="m", max_tokens=9, messages=HI) as stream:
                assert stream.get_final_message().content[0].text == "Managed."
        else:
            assert client.messages.create(model="m", max_tokens=9, messages=HI).content[0].text == "Managed."
    for _, known in seen:
        assert gateway.said(known.session)[-1] == ("assistant", "Managed.")
        assert gateway.store.spent(conversation=known.session)[0].usage.prompt >= 7


def test_a_failure_of_our_own_is_told_as_the_provider_would(gateway: Running, seen: list[Any]) -> None:
    async def fail(answering: Answering) -> Passed:
        async def each() -> AsyncIterator[Piece]:
            yield Broken(PromptTooLong(limit=8_000, used=9_000))

        return await answering.pieces(each())

    managing(gateway, seen, fail)
    told = pytest.raises(anthropic.BadRequestError, match="prompt is too long: 9000 tokens > 8000 maximum")
    with anthropic.Anthropic(base_url=gateway.url, api_key="x", max_retries=0) as client, told:
        client.messages.create(model="m", max_tokens=9, messages=HI, stream=True)


def test_another_body_goes_up_in_place_of_the_clients(
    gateway: Running, provider: ProviderSimulator, seen: list[Any]
) -> None:
    async def relay(answering: Answering) -> Passed:
        return await answering.relay(answering.asked.sent.replace(b"manage me", b"shorter"))

    managing(gateway, seen, relay)
    with httpx.Client() as client:
        answer = client.post(f"{gateway.url}/v1/chat/completions", json={"model": "m", "messages": HI})
    assert answer.json()["choices"][0]["message"]["content"] == "You said: shorter"
    assert b"shorter" in provider.requests[0].raw


def test_who_manages_sees_what_is_new_and_what_was_measured(gateway: Running, seen: list[Any]) -> None:
    managing(gateway, seen, None)
    messages: Any = [{"role": "user", "content": "watch me"}]
    with httpx.Client() as client:
        for _ in range(2):
            answer = client.post(f"{gateway.url}/v1/chat/completions", json={"model": "m", "messages": messages})
            messages += [answer.json()["choices"][0]["message"], {"role": "user", "content": "more"}]
            gateway.settle()
    (_, begun), (second, known) = seen
    assert (begun.word, begun.known_items) == ("new", 0)
    assert (known.word, known.session, known.known_items) == ("continues", begun.session, 1)
    assert [said["role"] for said in known.new_messages()] == ["assistant", "user"]
    assert known.measured().prompt > 0
    assert (second.model, second.streamed, second.prompt.messages[-1].text) == ("m", False, "more")


def test_no_fault_of_who_manages_keeps_a_request_from_its_provider(gateway: Running, seen: list[Any]) -> None:
    async def broken(asked: Asked, known: Known) -> Managed | None:
        raise KeyError("a slip")

    gateway.gateway._manager = broken
    with httpx.Client() as client:
        answer = client.post(f"{gateway.url}/v1/chat/completions", json={"model": "m", "messages": HI})
    assert answer.json()["choices"][0]["message"]["content"] == "You said: manage me"
    assert [line for line in gateway.log if line["event"] == "not managed"]


def test_a_fault_of_our_own_is_told_in_the_clients_dialect(gateway: Running, seen: list[Any]) -> None:
    async def stumble(answering: Answering) -> Passed:
        raise KeyError("a slip")

    managing(gateway, seen, stumble)
    client = anthropic.Anthropic(base_url=gateway.url, api_key="x", max_retries=0)
    with client, pytest.raises(anthropic.InternalServerError) as told:
        client.messages.create(model="m", max_tokens=9, messages=HI)
    assert told.value.body["error"]["type"] == "api_error"
    assert "slip" not in str(told.value)


def test_another_scribe_takes_the_place_of_one_that_was_killed(gateway: Running) -> None:
    recorder = gateway.gateway._recorder
    assert recorder._process
    os.kill(recorder._process.pid, signal.SIGKILL)
    wait_for(lambda: recorder.is_gone)
    with httpx.Client() as client:
        body = {"model": "m", "messages": [{"role": "user", "content": "no one listens"}]}
        assert client.post(f"{gateway.url}/v1/chat/completions", json=body).status_code == 200
        wait_for(lambda: not recorder.is_gone and recorder._ready and recorder._ready.done())
        again = client.post(
            f"{gateway.url}/v1/chat/completions",
            json={"model": "m", "messages": [{"role": "user", "content": "someone does"}]},
        )
    assert len(gateway.said(again.headers["x-clew-session"])) == 2

"""A real server with a real model: what it says, how it counts, how it overflows, and that a conversation goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clew.core.effects import Learn, Sleep, Summarise, Tell
from clew.core.ports import Setup
from clew.core.turn import turn
from clew.engines.compressor import Compressor
from clew.facts.exchange import Prompt, PromptTooLong, Reply
from clew.facts.messages import message
from clew.facts.model import Model, Policy, Window
from clew.facts.pieces import Piece, Said
from clew.runtime import sessions
from clew.runtime.asking import ask_server, plain_get
from clew.runtime.drive import adrive
from clew.runtime.endpoints import Endpoint
from clew.runtime.scales import Scale
from clew.runtime.transport import Transport, hands
from clew.store.address import open_store
from clew.wire.dialects import DIALECTS
from tests.llama import serving

CONTEXT = 8_192
PROMPT = Prompt("", (message("user", "Say hello."),), max_output=4, settings={"temperature": 0})
"""Always the same words: where the first begins with half a character, this server forgets to begin its stream."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving(CONTEXT) as url:
        yield url


def test_it_is_understood_in_every_dialect_whole_and_streamed(server: str) -> None:
    async def all_of_them() -> None:
        async with Transport() as transport:
            for dialect in DIALECTS:
                endpoint = Endpoint("local", server, dialect=dialect)
                prompt = replace(PROMPT, model="local")
                whole = await transport.call(prompt, endpoint)
                pieces: list[Piece] = []
                streamed = await transport.call(prompt, endpoint, on_piece=pieces.append)
                for reply in (whole, streamed):
                    assert isinstance(reply, Reply), reply
                    assert reply.message.text
                    # Of responses this server says "completed", also where it was cut short.
                    assert reply.stop == ("stop" if dialect == "responses" else "length")
                    assert reply.usage is not None
                    assert reply.usage.output == 4
                    assert 20 < reply.usage.prompt < 60
                assert len([piece for piece in pieces if isinstance(piece, Said)]) > 1

    asyncio.run(all_of_them())


def test_its_overflow_tells_its_window_in_every_dialect_whole_and_streamed(server: str) -> None:
    async def all_of_them() -> None:
        long = replace(PROMPT, messages=(message("user", "hello there " * 5_000),))
        async with Transport() as transport:
            for dialect in DIALECTS:
                endpoint = Endpoint("local", server, dialect=dialect)
                for on_piece in (None, lambda piece: None):
                    failure = await transport.call(long, endpoint, on_piece=on_piece)
                    assert isinstance(failure, PromptTooLong), failure
                    assert failure.limit == CONTEXT
                    assert failure.used is not None
                    assert failure.used > 10_000

    asyncio.run(all_of_them())


def test_it_says_what_it_serves(server: str) -> None:
    served = asyncio.run(ask_server(server, "", plain_get))
    assert served is not None
    assert served.window == CONTEXT


def test_a_conversation_too_long_for_it_is_compacted_and_goes_on(server: str, tmp_path: Path) -> None:
    scale, policy = Scale(), Policy(protect_first_n=0, protect_last_n=1, target_ratio=0.05)
    model = Model("local", Window(64_000, reserved_output=4))
    setup = Setup(model, Compressor(policy, scale), scale.message, policy=policy)
    told: list[str] = []
    with open_store(tmp_path / "store.db") as store:
        talk = [message("assistant" if n % 2 else "user", f"{n}: " + "a word " * 150) for n in range(60)]
        session = store.append(store.open_session(), [said.to_dict() for said in talk])

        async def one_turn() -> str:
            endpoint = Endpoint("local", server)
            async with Transport() as transport:
                worked = {
                    **sessions.hands(store, server),
                    **hands(transport, endpoint),
                    Sleep: lambda wish: None,
                    Summarise: lambda wish: None,
                    Tell: lambda wish: told.append(wish.text),
                }
                assert Learn in worked
                begun = sessions.load(store, session, scale.message)
                end = await adrive(turn(begun, (message("user", "Say something."),), setup), worked)
                return end.session.id

        tip = asyncio.run(one_turn())
        assert tip != session
        assert [known.window for known in store.learned_windows()] == [CONTEXT]
        said = [stored.message["content"] for stored in store.history(tip)]
        assert said[:61] == [*(each.text for each in talk), "Say something."]
        assert len(said) == 62
        assert said[-1]

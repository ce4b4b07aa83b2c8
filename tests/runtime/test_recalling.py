"""What a person speaks of after it left the window is brought back for that request, and for no other."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.facts.model import Policy
from clew.runtime.conversation import Conversation
from clew.runtime.endpoints import Endpoint
from clew.runtime.models import bundled
from clew.runtime.providers import Who
from clew.runtime.recalling import Recall
from clew.runtime.transport import Transport
from clew.runtime.works import Works
from clew.store.address import open_store
from clew.store.store import Store
from clew.testing import ProviderSimulator
from tests.runtime.test_conversation import Heard

FACT = "The staging database listens on port 5433 behind the old bastion host."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def told(store: Store, recall: Recall, question: str) -> tuple[list[Any], list[str]]:
    """A fact, much talk, a compaction, then the question twice: the last prompts, and what the window then holds."""

    async def live(simulator: ProviderSimulator) -> list[str]:
        async with Transport() as transport:
            works = Works(
                store, transport, bundled(), policy=Policy(protect_last_n=2, protect_first_n=0), recall=recall
            )
            who = Who("claude-sonnet-4-5", Endpoint("s", simulator.url, "anthropic", provider="anthropic"))
            conversation = Conversation(works, store.open_session(), who, Heard(), context_length=16_000)
            await conversation.say(f"{question} {FACT}")
            for number in range(8):
                await conversation.say(f"Now something else, the {number}. " + "of the garden " * 150)
            await conversation.compress()
            await conversation.say(question)
            await conversation.say("And what about the weather?")
            return [said.text for said in conversation.session.messages]

    with ProviderSimulator(
        replies=lambda prompt: "Yes." if prompt.messages[-1].text[:3] != "You" else "## Goal\nTalk."
    ) as sim:
        window = asyncio.run(live(sim))
        return [asked.prompt for asked in sim.requests[-2:]], window


QUESTION = "Which port has the staging database?"


def test_what_is_meant_stands_behind_the_newest_message_for_that_turn_alone(store: Store) -> None:
    (asked, after), window = told(store, Recall("on"), QUESTION)
    newest = asked.messages[-1].text
    assert newest.startswith(QUESTION)
    assert "<recalled>" in newest
    assert FACT in newest
    assert "<recalled>" not in "".join(said.text for said in after.messages)
    assert "<recalled>" not in "".join(window)


def test_a_suggestion_names_where_it_is(store: Store) -> None:
    (asked, _), _ = told(store, Recall("suggest"), QUESTION)
    newest = asked.messages[-1].text
    assert "search_history" in newest
    assert "[message 0, user]" in newest


def test_off_is_off(store: Store) -> None:
    (asked, _), _ = told(store, Recall(), QUESTION)
    assert asked.messages[-1].text == QUESTION


def test_nothing_is_brought_back_for_words_that_stand_everywhere(store: Store) -> None:
    (asked, _), _ = told(store, Recall("on"), "Yes, please.")
    assert asked.messages[-1].text == "Yes, please."


def test_it_stays_within_its_budget(store: Store) -> None:
    (asked, _), _ = told(store, Recall("on", budget=100), QUESTION)
    assert len(asked.messages[-1].text) < len(QUESTION) + 600

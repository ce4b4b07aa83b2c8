"""The engine that the settings name sits in the chat: a plug-in from a folder, one that fails, one that nobody has."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.facts.messages import read_messages
from clew.runtime.conversation import Conversation
from clew.runtime.endpoints import Endpoint
from clew.runtime.engines import seated
from clew.runtime.models import bundled
from clew.runtime.providers import Who
from clew.runtime.settings import BadSettings, Settings
from clew.runtime.transport import Transport
from clew.runtime.works import Works
from clew.store.address import open_store
from clew.store.store import Store
from clew.testing import ProviderSimulator
from tests.runtime.bringing import folder
from tests.runtime.test_conversation import Heard

ASKS = """
from agent.auxiliary_client import call_llm
from agent.context_engine import ContextEngine


class Asking(ContextEngine):
    @property
    def name(self): return "asking"
    def update_from_response(self, usage): pass
    def should_compress(self, prompt_tokens=None): return (prompt_tokens or 0) > 5000
    def compress(self, messages, current_tokens=None, focus_topic=None):
        answer = call_llm(task="compression", messages=[{"role": "user", "content": "Sum up."}], max_tokens=200)
        return [{"role": "user", "content": answer.choices[0].message.content}, *messages[-2:]]
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def talk(store: Store, name: str, notes: list[str], turns: int = 8) -> tuple[Any, ProviderSimulator]:
    async def live(simulator: ProviderSimulator) -> Any:
        async with Transport() as transport:
            works = Works(store, transport, bundled())
            who = Who("claude-sonnet-4-5", Endpoint("s", simulator.url, "anthropic", provider="anthropic"))
            seat = await seated(Settings({"context.engine": name}), works, [who], cwd=Path.cwd(), note=notes.append)
            conversation = Conversation(works, store.open_session(), who, Heard(), seat=seat, context_length=32_000)
            await seat.begin(conversation.session.id)
            for number in range(turns):
                await conversation.say(f"{number} " + "many words " * 500)
            conversation.close()
            seat.close()
            return conversation.session

    with ProviderSimulator(
        replies=lambda prompt: "SUMMED UP" if "Sum up." in prompt.messages[0].text else "Yes."
    ) as sim:
        return asyncio.run(live(sim)), sim


def test_a_plug_in_written_for_hermes_makes_room_with_the_summariser_of_the_chat(store: Store, home: Path) -> None:
    folder(home, "asking", init=ASKS)
    notes: list[str] = []
    session, simulator = talk(store, "asking", notes)
    assert notes == []
    assert session.compactions >= 1
    assert session.messages[0].text == "SUMMED UP"
    asked = [each for each in simulator.requests if each.prompt.messages[0].text == "Sum up."]
    assert len(asked) == session.compactions
    by = {row.key: row.calls for row in store.spent("purpose")}
    assert by == {"turn": 8, "summary": len(asked)}


def test_one_that_fails_is_named_and_the_conversation_is_compacted_all_the_same(store: Store, home: Path) -> None:
    folder(home, "asking", init=ASKS.replace("answer = call_llm", "raise RuntimeError('broken'); answer = call_llm"))
    session, _ = talk(store, "asking", [], turns=20)
    assert session.compactions >= 1
    assert session.messages[0].text != "SUMMED UP"
    assert len(read_messages([said.to_dict() for said in session.messages])) < 40


def test_one_that_nobody_has_is_refused_with_those_there_are(store: Store, home: Path) -> None:
    with pytest.raises(BadSettings, match=r"compresor.*compressor"):
        talk(store, "compresor", [])


def test_one_that_does_not_load_is_named_with_the_reason_and_clews_own_takes_its_place(
    store: Store, home: Path
) -> None:
    folder(home, "asking", init="import nothing_of_this_name\n")
    notes: list[str] = []
    session, _ = talk(store, "asking", notes, turns=20)
    assert session.compactions >= 1
    assert len(notes) == 1
    assert "asking" in notes[0]
    assert "nothing_of_this_name" in notes[0]
    assert "takes its place" in notes[0]

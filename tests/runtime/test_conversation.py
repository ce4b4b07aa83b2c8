"""A live conversation with a simulated provider: tools, compactions, faults, the books, and taking it up again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from clew.core.state import ContextExhausted
from clew.facts.messages import Message, ToolCall, tool_result
from clew.facts.model import Policy
from clew.facts.pieces import Piece, Said
from clew.runtime.conversation import Conversation
from clew.runtime.endpoints import Endpoint
from clew.runtime.models import bundled
from clew.runtime.providers import Who
from clew.runtime.transport import Transport
from clew.runtime.works import Works
from clew.store.address import open_store
from clew.store.store import Store
from clew.testing import ProviderSimulator
from clew.testing.simulator.faults import Status

TOOL = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}


class Heard:
    """Everything that whoever looks on was shown."""

    def __init__(self) -> None:
        self.text = ""
        self.calls: list[str] = []
        self.notes: list[str] = []

    def piece(self, piece: Piece) -> None:
        if isinstance(piece, Said):
            self.text += piece.text

    def calling(self, call: ToolCall) -> None:
        self.calls.append(call.name)

    def called(self, call: ToolCall, result: Message, seconds: float) -> None:
        assert result.call_id == call.id
        assert seconds >= 0

    def told(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


async def look(call: ToolCall) -> Message:
    return tool_result(call, f"{call.id}: " + "a line of output\n" * 60)


def talk(simulator: ProviderSimulator, store: Store, session: str, said: list[str], **more: Any) -> tuple[Heard, str]:
    """Say these things one after another in a process's lifetime; what was heard, and the session it ended in."""
    heard = Heard()

    async def live() -> str:
        async with Transport() as transport:
            works = Works(store, transport, bundled(), policy=Policy(protect_last_n=4))
            who = Who("claude-sonnet-4-5", Endpoint("simulated", simulator.url, "anthropic", provider="anthropic"))
            tools: dict[str, Any] = {"tools": [TOOL], "run_tool": look}
            conversation = Conversation(works, session, who, heard, **{**tools, **more})
            for words in said:
                await conversation.say(words)
            return conversation.session.id

    return heard, asyncio.run(live())


def test_tools_run_and_everything_is_written_down_as_it_happens(store: Store) -> None:
    script = [{"calls": [{"name": "look", "arguments": {}}, {"name": "look", "arguments": {}}]}, "Seen."]
    with ProviderSimulator(replies=script) as simulator:
        heard, session = talk(simulator, store, store.open_session(system="Be brief."), ["Look twice."])
        assert heard.text == "Seen."
        assert heard.calls == ["look", "look"]
        roles = [said.role for said in store.messages(session)]
        assert roles == ["user", "assistant", "tool", "tool", "assistant"]


def test_the_books_are_the_providers_own_to_the_token(store: Store) -> None:
    script = [{"calls": [{"name": "look", "arguments": {}}]}, "Seen.", "Bye."]
    with ProviderSimulator(replies=script, faults={1: Status(503, retry_after=0.01)}) as simulator:
        _, session = talk(simulator, store, store.open_session(system="Rules. " * 900), ["Look.", "Thanks."])
        (spent,) = store.spent()
        assert (spent.calls, spent.failed) == (4, 1)
        wanted = [asked.usage for asked in simulator.requests if asked.usage]
        for bucket in ("input", "output", "cache_read", "cache_write"):
            assert getattr(spent.usage, bucket) == sum(getattr(usage, bucket) for usage in wanted), bucket
        assert spent.usage.cache_read > 0
        assert spent.unpriced == 1, "the one that failed"
        assert spent.cost > 0
        assert session


def test_each_request_extends_the_one_before_but_for_compactions(store: Store) -> None:
    def say(prompt: Any) -> Any:
        if not prompt.tools:
            return "## Active Task\nGo on.\n## Goal\nLook at everything."
        newest = prompt.messages[-1]
        return (
            "Enough."
            if newest.is_result and "c9" in newest.text
            else {"calls": [{"name": "look", "arguments": {}}] * 4}
        )

    rounds = iter(range(400))

    async def numbered(call: ToolCall) -> Message:
        return tool_result(call, f"c{next(rounds) // 12}: " + "a line of output\n" * 60)

    with ProviderSimulator(replies=say) as simulator:
        heard, session = talk(
            simulator, store, store.open_session(), ["Look at all."], run_tool=numbered, context_length=20_000
        )
        assert heard.text.endswith("Enough.")
        compactions = store.session(session).number
        assert compactions >= 2
        asked = [each.prompt for each in simulator.requests if each.prompt.tools]
        broken = 0
        for before, after in pairwise(asked):
            texts = [(said.role, said.text, said.call_id) for said in after.messages]
            broken += texts[: len(before.messages)] != [(s.role, s.text, s.call_id) for s in before.messages]
        assert broken == compactions
        assert {row.key: row.calls for row in store.spent("purpose")} == {
            "turn": len(asked),
            "summary": len(simulator.requests) - len(asked),
        }


def test_it_is_taken_up_where_it_stood_by_another_process(store: Store) -> None:
    with ProviderSimulator(replies=["One.", "Two."]) as simulator:
        _, session = talk(simulator, store, store.open_session(), ["First."])
        _, session = talk(simulator, store, session, ["Second."])
        assert [said.text for said in simulator.requests[1].prompt.messages] == ["First.", "One.", "Second."]
        assert [said.message["content"] for said in store.messages(session)] == ["First.", "One.", "Second.", "Two."]


def test_when_nothing_helps_what_was_said_is_kept_and_the_next_turn_works(store: Store) -> None:
    with ProviderSimulator(key="sk-right") as simulator:
        session = store.open_session()
        with pytest.raises(ContextExhausted, match="refused"):
            talk(simulator, store, session, ["Hello."])
        assert [said.message["content"] for said in store.messages(session)] == ["Hello."]
        (spent,) = store.spent()
        assert (spent.calls, spent.failed) == (1, 1)


def test_a_person_can_ask_for_room_with_a_focus(store: Store) -> None:
    def say(prompt: Any) -> str:
        return "word " * 300 if prompt.tools else "## Active Task\nThe parser.\n## Goal\nA parser."

    with ProviderSimulator(replies=say) as simulator:
        _, session = talk(simulator, store, store.open_session(), [f"Say more about {n}." for n in range(12)])

        async def compress() -> str:
            async with Transport() as transport:
                works = Works(store, transport, bundled(), policy=Policy(protect_last_n=2))
                who = Who("claude-sonnet-4-5", Endpoint("s", simulator.url, "anthropic", provider="anthropic"))
                conversation = Conversation(works, session, who, Heard(), tools=[TOOL], context_length=16_000)
                await conversation.compress("the parser")
                return conversation.session.id

        child = asyncio.run(compress())
        assert child != session
        assert "the parser" in simulator.requests[-1].prompt.messages[0].text
        assert len(store.messages(child)) < len(store.messages(session))


def test_a_call_that_was_interrupted_is_not_run_again_and_the_conversation_goes_on(store: Store) -> None:
    ran: list[str] = []

    async def hangs(call: ToolCall) -> Message:
        ran.append(call.id)
        raise asyncio.CancelledError

    script = [{"calls": [{"name": "look", "arguments": {}}] * 2}, "I see it was stopped."]
    with ProviderSimulator(replies=script) as simulator:
        session = store.open_session()
        with pytest.raises(asyncio.CancelledError):
            talk(simulator, store, session, ["Look."], run_tool=hangs)
        heard, session = talk(simulator, store, session, ["Well?"])
        assert heard.calls == []
        assert heard.text == "I see it was stopped."
        assert len(ran) == 1
        told = simulator.requests[-1].prompt.messages
        assert [said.role for said in told] == ["user", "assistant", "tool", "tool", "user"]
        assert "not known" in told[2].text


def test_of_several_calls_those_that_had_ended_keep_their_results_when_the_turn_is_stopped(store: Store) -> None:
    ran: list[str] = []

    async def second_hangs(call: ToolCall) -> Message:
        ran.append(call.id)
        if len(ran) == 2:
            raise asyncio.CancelledError
        return tool_result(call, "the first was done")

    script = [{"calls": [{"name": "look", "arguments": {}}] * 2}, "I see."]
    with ProviderSimulator(replies=script) as simulator:
        session = store.open_session()
        with pytest.raises(asyncio.CancelledError):
            talk(simulator, store, session, ["Look twice."], run_tool=second_hangs)
        talk(simulator, store, session, ["Well?"])
        results = [said.text for said in simulator.requests[-1].prompt.messages if said.is_result]
        assert results[0] == "the first was done"
        assert "not known" in results[1]
        assert len(results) == 2

"""What an engine hears over start, turns, compaction, /new, /resume and exit; what a helper does; what is renewed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from clew import ContextEngine
from clew.agent.chat import Chat, Terms
from clew.agent.memory import Memory
from clew.agent.renewing import renewed
from clew.agent.watching import Plain
from clew.engines.compressor import Compressor
from clew.engines.handoff import SYSTEM_NOTE
from clew.engines.hosted import Hosted
from clew.facts.messages import Message, ToolCall, read_message, tool_result
from clew.facts.model import Policy
from clew.facts.session import Session
from clew.runtime.endpoints import Endpoint
from clew.runtime.models import bundled
from clew.runtime.providers import Who
from clew.runtime.scales import Scale
from clew.runtime.seat import Seat
from clew.runtime.transport import Transport
from clew.runtime.works import Works
from clew.store.address import open_store
from clew.store.store import Store
from clew.testing import ProviderSimulator
from tests.agent.sent import unmarked
from tests.runtime.bringing import brought

LOOK = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}


class Recorder(ContextEngine):
    """Compacts to the newest messages, and writes down all that it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[Any, ...]] = [("made",)]

    @property
    def name(self) -> str:
        return "recorder"

    def update_from_response(self, usage: dict[str, Any]) -> None:
        self.heard.append(("response", usage["prompt_tokens"]))

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        due = (prompt_tokens or 0) >= self.threshold_tokens
        self.heard.append(("should_compress", due))
        return due

    def compress(self, messages: Any, current_tokens: Any = None, focus_topic: Any = None) -> Any:
        self.heard.append(("compress", focus_topic))
        return messages[-3:]

    def on_session_start(self, session_id: str, **facts: Any) -> None:
        self.heard.append(("start", session_id, facts.get("boundary_reason"), facts.get("old_session_id")))

    def on_session_end(self, session_id: str, messages: Any) -> None:
        self.heard.append(("end", session_id))

    def on_session_reset(self) -> None:
        self.heard.append(("reset",))

    def update_model(self, model: str, context_length: int, **more: Any) -> None:
        super().update_model(model, context_length)
        self.heard.append(("model", model, context_length))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def chatting(
    store: Store,
    simulator: ProviderSimulator,
    story: Callable[[Chat], Awaitable[Any]],
    *,
    plugin: ContextEngine | None = None,
    notes: list[str] | None = None,
    context_length: int = 16_000,
) -> Any:
    def look(call: ToolCall) -> Message:
        return tool_result(call, "a line of output\n" * 100)

    async def live() -> Any:
        async with Transport() as transport:
            policy = Policy(protect_last_n=2)
            works = Works(store, transport, bundled(), policy=policy)
            who = Who("claude-sonnet-4-5", Endpoint("s", simulator.url, "anthropic", provider="anthropic"))
            own = Compressor(policy, Scale(), has_summariser=True)
            seat = Seat(Hosted(plugin.name, plugin, Scale(), own), plugin=brought(plugin)) if plugin else Seat(own)
            system = "Be brief."
            terms = Terms(
                works,
                who,
                who,
                seat,
                lambda: system,
                [LOOK],
                look,
                Memory(Path("/nowhere")),
                context_length=context_length,
            )
            chat = Chat(terms, Plain(lambda text: None, [].append if notes is None else notes.append))
            await chat.open(None)
            try:
                return await story(chat)
            finally:
                await chat.close()

    return asyncio.run(live())


def test_an_engine_hears_the_whole_life_of_a_chat_in_its_order(store: Store) -> None:
    plugin = Recorder()

    async def story(chat: Chat) -> tuple[str, str, str]:
        first = chat.conversation.session.id
        for number in range(5):
            await chat.obey(f"{number} " + "many words " * 900)
        second = chat.conversation.session.id
        await chat.obey("/new")
        fresh = chat.conversation.session.id
        await chat.obey("Hello.")
        await chat.obey(f"/resume {first}")
        return first, second, fresh

    with ProviderSimulator(replies=lambda prompt: "Yes.") as simulator:
        first, second, fresh = chatting(store, simulator, story, plugin=plugin)
        reported = [asked.usage.prompt for asked in simulator.requests if asked.usage]

    turns = ["should_compress", "response"]
    assert [what for what, *_ in plugin.heard] == [
        *["made", "model", "start"],
        *turns * 4,
        *["should_compress", "compress", "start", "response"],
        *["end", "reset", "start"],
        *turns,
        *["end", "start"],
        "end",
    ]
    assert [heard[1] for heard in plugin.heard if heard[0] == "response"] == reported
    starts = [heard[1:] for heard in plugin.heard if heard[0] == "start"]
    assert starts == [
        (first, None, None),
        (second, "compression", first),
        (fresh, None, second),
        (second, None, fresh),
    ]
    assert [heard[1] for heard in plugin.heard if heard[0] == "end"] == [second, fresh, second]
    assert first != second


def test_the_model_is_told_again_when_it_is_another(store: Store) -> None:
    plugin = Recorder()
    with ProviderSimulator(replies=lambda prompt: "Yes.") as simulator:
        chatting(store, simulator, lambda chat: chat.obey("/model claude-haiku-4-5"), plugin=plugin)
    assert [heard for heard in plugin.heard if heard[0] == "model"] == [
        ("model", "claude-sonnet-4-5", 16_000),
        ("model", "claude-haiku-4-5", 16_000),
    ]
    assert [heard[0] for heard in plugin.heard].count("start") == 1


def test_every_request_extends_the_one_before_unless_a_compaction_stands_between(store: Store) -> None:
    async def story(chat: Chat) -> None:
        for number in range(12):
            await chat.obey(f"{number} " + "many words " * 500)

    with ProviderSimulator(replies=lambda prompt: "Yes." if prompt.tools else "## Goal\nTalk.") as simulator:
        chatting(store, simulator, story)
        asked = [each for each in simulator.requests if each.prompt.tools]
    sent = [unmarked(json.loads(each.raw)) for each in asked]
    bodies = [json.dumps(each["messages"])[:-1] for each in sent]
    broken = sum(not after.startswith(before) for before, after in pairwise(bodies))
    tip = store.conversations()[0].tip
    assert broken == store.session(tip).number >= 1
    assert len({json.dumps(each["tools"]) for each in sent}) == 1


def test_a_helper_works_in_a_conversation_of_its_own_and_its_cost_counts_into_this_one(store: Store) -> None:
    def say(prompt: Any) -> Any:
        newest = prompt.messages[-1]
        names = {tool["function"]["name"] for tool in prompt.tools}
        if "delegate" not in names:
            return "It says 42." if newest.is_result else {"calls": [{"name": "look", "arguments": {}}]}
        if newest.is_result:
            return f"The helper found: {newest.text}"
        return {"calls": [{"name": "delegate", "arguments": {"task": "Read all of it and tell the number."}}]}

    notes: list[str] = []

    async def story(chat: Chat) -> tuple[list[str], str]:
        await chat.obey("What is the number?")
        return [said.text for said in chat.conversation.session.messages], await chat.obey("/usage")

    with ProviderSimulator(replies=say) as simulator:
        said, usage = chatting(store, simulator, story, notes=notes)
        total = sum(asked.usage.prompt for asked in simulator.requests if asked.usage)
    assert said[-1] == "The helper found: It says 42."
    assert said[2] == "It says 42."
    assert len(said) == 4, "its reading is not in this window"
    assert any("↳ look" in note for note in notes)
    child = next(row for row in store.conversations() if row.origin == "delegate")
    assert child.title.startswith("Read all of it")
    assert f"{total:,}" in usage
    alone = store.spent(conversation=child.id)[0]
    assert 0 < alone.usage.prompt < total


def test_a_helper_without_a_task_is_refused_with_what_to_do(store: Store) -> None:
    script = [{"calls": [{"name": "delegate", "arguments": {}}]}, "I see."]

    async def story(chat: Chat) -> str:
        await chat.obey("Delegate.")
        return chat.conversation.session.messages[2].text

    with ProviderSimulator(replies=script) as simulator:
        assert "needs a task" in chatting(store, simulator, story)
    assert len(store.conversations()) == 1


def test_pins_are_listed_bounded_and_let_go(store: Store) -> None:
    async def story(chat: Chat) -> list[str]:
        commands = [
            "/pin",
            "Say it.",
            "/pin",
            "/pin port 5433",
            "/pins",
            f"/pin {'x ' * 3_000}",
            "/unpin 9",
            "/unpin 1",
            "/pins",
        ]
        return [await chat.obey(command) for command in commands]

    with ProviderSimulator(replies=["The key is under the mat."]) as simulator:
        told = chatting(store, simulator, story)
    assert "nothing to pin" in told[0]
    assert "pinned" in told[2]
    assert told[4].splitlines() == ["1. The key is under the mat.", "2. port 5433"]
    assert "tokens" in told[5]
    assert "1 to 2" in told[6]
    assert "The key" in told[7]
    assert told[8] == "1. port 5433"


def test_a_preview_says_what_would_leave_and_what_it_saves_and_does_nothing(store: Store) -> None:
    async def story(chat: Chat) -> tuple[str, str, str, int]:
        nothing = await chat.obey("/compress --preview")
        for number in range(6):
            await chat.obey(f"{number} " + "many words " * 250)
        before = chat.conversation.session
        told = await chat.obey("/compress --preview")
        assert chat.conversation.session == before
        await chat.obey("/compress")
        return nothing, told, before.messages[1].text, chat.conversation.session.counted

    with ProviderSimulator(replies=lambda prompt: "Yes.") as simulator:
        nothing, told, _, after = chatting(store, simulator, story)
    assert "nothing would leave" in nothing
    assert "messages would leave" in told
    assert "→ at most" in told
    promised = int(told.split("at most ")[1].split(" tokens")[0].replace(",", ""))
    assert after <= promised + 300


def skill(name: str) -> Message:
    call = {"id": name, "type": "function", "function": {"name": "skill", "arguments": json.dumps({"name": name})}}
    return read_message({"role": "assistant", "content": None, "tool_calls": [call]})


def test_skills_that_were_read_are_named_again_after_each_compaction_and_the_note_stays_once() -> None:
    first = Session("a", system="Rules.\n").add(skill("deploy"), 1).add(skill("deploy"), 1)
    once = renewed(first, "Fresh rules.\n") + SYSTEM_NOTE
    assert once.startswith("Fresh rules.\n")
    assert once.count("deploy") == 1
    again = renewed(Session("b", system=once).add(skill("release"), 1), "Fresher rules.\n")
    assert again.startswith("Fresher rules.\n")
    assert "deploy, release." in again
    assert again.count(SYSTEM_NOTE) == 1
    assert renewed(Session("c", system="Rules.\n"), "Fresh.\n") == "Fresh.\n"


def test_what_was_not_answered_is_asked_again_without_saying_it_twice(store: Store) -> None:
    from clew.testing.simulator.faults import Status

    async def story(chat: Chat) -> tuple[str, str, list[str]]:
        failed = await chat.obey("Hello?")
        await chat.obey("/retry")
        again = await chat.obey("/retry")
        return failed, again, [said.text for said in chat.conversation.session.messages]

    with ProviderSimulator(replies=["Here I am."], faults={0: Status(400)}) as simulator:
        failed, again, said = chatting(store, simulator, story)
    assert failed
    assert "last word" in again
    assert said == ["Hello?", "Here I am."]


def test_usage_and_insights_tell_the_providers_own_figures(store: Store) -> None:
    async def story(chat: Chat) -> list[str]:
        for number in range(9):
            await chat.obey(f"{number} " + "many words " * 500)
        return [await chat.obey("/usage"), await chat.obey("/insights 1")]

    with ProviderSimulator(replies=lambda prompt: "Yes." if prompt.tools else "## Goal\nTalk.") as simulator:
        told = chatting(store, simulator, story)
        used = [asked.usage for asked in simulator.requests if asked.usage]
    assert store.session(store.conversations()[0].tip).number >= 1, "with a summary among the calls"
    for bucket in ("input", "output", "cache_read", "cache_write"):
        total = f"{sum(getattr(usage, bucket) for usage in used):,}"
        assert [total in text for text in told] == [True, True], bucket
    assert all(f"{len(used):,}" in text for text in told)

"""The commands of a chat, against a real store and a simulated provider."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.agent.chat import Chat, Terms
from clew.agent.commands import BY_NAME, COMMANDS, Quit
from clew.agent.memory import Memory
from clew.agent.watching import Plain
from clew.engines.compressor import Compressor
from clew.facts.messages import Message, ToolCall, tool_result
from clew.facts.model import Policy
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

TOOL = {
    "type": "function",
    "function": {"name": "look", "description": "Look.\nAt it.", "parameters": {"type": "object"}},
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def run(
    store: Store,
    talk: Callable[[Chat], Awaitable[Any]],
    replies: Any = None,
    *,
    memory: Path | None = None,
    notes: list[str] | None = None,
    **more: Any,
) -> Any:
    """A chat with a model that says these things; what came of talking."""

    def look(call: ToolCall) -> Message:
        return tool_result(call, "seen")

    async def live(simulator: ProviderSimulator) -> Any:
        async with Transport() as transport:
            works = Works(store, transport, bundled(), policy=Policy(protect_last_n=2))
            who = Who("claude-sonnet-4-5", Endpoint("s", simulator.url, "anthropic", provider="anthropic"))
            seat = Seat(Compressor(works.policy, Scale()))
            terms = Terms(works, who, who, seat, lambda: "Be brief.", [TOOL], look, Memory(memory), **more)
            chat = Chat(terms, Plain(lambda text: None, [].append if notes is None else notes.append))
            await chat.open(None)
            try:
                return await talk(chat)
            finally:
                await chat.close()

    with ProviderSimulator(replies=replies) as simulator:
        return asyncio.run(live(simulator))


def test_every_command_says_what_it_does_and_help_lists_them_all(store: Store) -> None:
    told = run(store, lambda chat: chat.obey("/help"))
    listed = [line.split()[0] for line in told.splitlines() if line.startswith("  /")]
    assert listed == [f"/{command.name}" for command in COMMANDS]
    topics = [line for line in told.splitlines() if not line.startswith(" ")]
    assert topics == [*dict.fromkeys(command.topic for command in COMMANDS), "keys"]
    assert all(command.told for command in COMMANDS)
    wanted = (
        "new reset compress usage insights resume sessions branch undo model tools help quit context search cost cache"
    )
    assert set(wanted.split()) <= BY_NAME.keys()


def test_a_path_at_the_beginning_is_no_command(store: Store) -> None:
    async def talk(chat: Chat) -> list[str]:
        await chat.obey("/etc/hosts is what?")
        return [said.text for said in chat.conversation.session.messages]

    assert run(store, talk, ["A file."]) == ["/etc/hosts is what?", "A file."]


def test_an_unknown_command_is_not_said_to_the_model(store: Store) -> None:
    assert "there is no /nonsense" in run(store, lambda chat: chat.obey("/nonsense"))
    assert store.spent()[0].calls == 0


def test_new_branch_and_resume_move_between_conversations(store: Store) -> None:
    async def talk(chat: Chat) -> list[str]:
        await chat.obey("First.")
        first = chat.conversation.session.id
        await chat.obey("/branch another way")
        branch = chat.conversation.session.id
        await chat.obey("In the branch.")
        await chat.obey("/new")
        assert len(chat.conversation.session.entries) == 0
        told = await chat.obey(f"/resume {first.split('.')[0]}")
        assert "2 messages" in told
        assert chat.conversation.session.id == first
        assert branch != first
        listed = (await chat.obey("/sessions")).splitlines()
        at = next(place for place, line in enumerate(listed) if first.split(".")[0] in line)
        assert "this one" in listed[at + 1]
        return [line for line in listed if line.strip().startswith("20")]

    assert len(run(store, talk)) == 3


def test_undo_takes_the_last_turn_back_and_the_store_keeps_it(store: Store) -> None:
    async def talk(chat: Chat) -> list[str]:
        await chat.obey("One.")
        await chat.obey("Two.")
        assert "took back 2 messages" in await chat.obey("/undo")
        return [said.text for said in chat.conversation.session.messages]

    assert run(store, talk, ["1", "2"]) == ["One.", "1"]
    assert "not 9. Nothing was changed" in run(store, lambda chat: chat.obey("/undo 9"))


def test_the_window_is_shown_by_kind_and_says_how_it_is_known(store: Store) -> None:
    async def talk(chat: Chat) -> tuple[str, str]:
        before = await chat.obey("/context")
        await chat.obey("Look at this. " * 50)
        return before, await chat.obey("/context")

    before, after = run(store, talk)
    assert "estimated" in before
    assert "observed" in after
    assert "you" in after
    assert "tools" in after
    total, _, *rows, marks = after.splitlines()
    parts = [line.split()[:3] for line in rows]
    assert sum(int(tokens.replace(",", "")) for _, tokens, _ in parts) == int(total.split()[0].replace(",", ""))
    assert sum(int(share.removesuffix("%")) for *_, share in parts) == 100
    assert "soft mark 80,000 · │ trigger 100,000 · ┃ hard mark 163,200" in marks


def test_what_was_spent_and_cached_is_told(store: Store) -> None:
    async def talk(chat: Chat) -> tuple[str, str, str]:
        assert await chat.obey("/usage") == "nothing yet"
        for words in ("One. " * 2_000, "Two."):
            await chat.obey(words)
        return await chat.obey("/usage"), await chat.obey("/cache"), await chat.obey("/insights 7")

    usage, cache, insights = run(store, talk, ["1", "2"])
    (spent,) = store.spent()
    assert f"= prompt {spent.usage.prompt:,}" in " ".join(usage.split())
    assert f"{spent.usage.cache_read:,} of {spent.usage.prompt:,}" in cache
    assert "warm for" in cache
    assert spent.usage.cache_read > 0
    assert "claude-sonnet-4-5" in insights
    assert "last 7 days" in insights


def test_another_model_with_a_smaller_window_makes_room_before_its_first_call(store: Store) -> None:
    async def talk(chat: Chat) -> tuple[int, str]:
        for n in range(12):
            await chat.obey(f"{n}: " + "a word " * 700)
        before = chat.conversation.session.compactions
        told = await chat.obey("/model gpt-3.5-turbo")
        await chat.obey("Go on.")
        return chat.conversation.session.compactions - before, told

    compactions, told = run(store, talk)
    assert "16,385" in told
    assert compactions == 1


def test_compress_tells_what_it_freed_and_search_finds_what_left(store: Store) -> None:
    async def talk(chat: Chat) -> tuple[str, str]:
        for n in range(14):
            await chat.obey(f"marker{n} " + "a word " * 300)
        return await chat.obey("/compress the marker"), await chat.obey("/search marker3")

    notes: list[str] = []
    told, found = run(store, talk, context_length=16_000, notes=notes)
    assert told == ""
    assert any("compacted" in note and "→" in note for note in notes)
    assert "marker3" in found


def test_quit_ends_it(store: Store) -> None:
    with pytest.raises(Quit):
        run(store, lambda chat: chat.obey("/quit"))


def test_a_turn_that_is_stopped_keeps_what_was_said_and_the_next_one_works(store: Store) -> None:
    from clew.testing.simulator.faults import Stall

    async def talk(chat: Chat) -> list[str]:
        saying = asyncio.ensure_future(chat.obey("Wait for it."))
        await asyncio.sleep(0.3)
        assert chat.interrupt()
        assert "stopped" in await saying
        assert not chat.interrupt()
        await chat.obey("Again.")
        return [said.text for said in chat.conversation.session.messages]

    heard = run(store, talk, [Stall(20.0), "late", "Now."])
    assert heard == ["Wait for it.", "You said: Wait\n[stopped here by the user]", "Again.", "late"]

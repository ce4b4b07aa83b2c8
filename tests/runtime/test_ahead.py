"""A summary prepared beside the conversation: nobody waits below the hard mark, and nothing said meanwhile is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew import validate_messages
from clew.facts.exchange import RateLimited, Refused, Reply, Unavailable
from clew.facts.messages import message
from clew.facts.model import Policy
from clew.facts.session import Session
from clew.runtime.conversation import Conversation
from clew.runtime.endpoints import Endpoint
from clew.runtime.models import bundled
from clew.runtime.providers import Who
from clew.runtime.summarising import LONG_REST, SHORT_REST, Summariser
from clew.runtime.transport import Transport
from clew.runtime.works import Works
from clew.store.address import open_store
from clew.store.store import Store
from clew.testing import ProviderSimulator
from clew.testing.simulator.faults import Stall, Status
from tests.runtime.test_conversation import Heard

SUMMARY = "## Active Task\nGo on.\n\n## Goal\nCount to the end."
WINDOW = 32_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def who(simulator: ProviderSimulator) -> Who:
    return Who("claude-sonnet-4-5", Endpoint("simulated", simulator.url, "anthropic", provider="anthropic"))


def words(number: int, tokens: int = 1_000) -> str:
    return f"Number {number}. " + "and so on " * (tokens // 3)


def live(store: Store, main: ProviderSimulator, writer: ProviderSimulator, story: Any, **more: Any) -> Any:
    async def run() -> Any:
        async with Transport() as transport:
            works = Works(store, transport, bundled(), policy=Policy(protect_last_n=4))
            conversation = Conversation(
                works,
                store.open_session(system="Count."),
                who(main),
                Heard(),
                summariser=who(writer),
                context_length=WINDOW,
                **more,
            )
            try:
                return await story(conversation)
            finally:
                conversation.close()

    return asyncio.run(run())


def test_while_a_slow_summariser_works_turns_go_on_and_everything_said_is_there_afterwards_in_order(
    store: Store,
) -> None:
    slow = ProviderSimulator(replies=lambda prompt: SUMMARY, faults={0: Stall(1.5, "start")})
    with ProviderSimulator(replies=lambda prompt: "Fine.") as main, slow as writer:

        async def story(conversation: Conversation) -> tuple[int, int, list[str]]:
            first, during = conversation.session.id, 0
            said: list[str] = []
            for number in range(40):
                said.append(words(number, 1_000))
                await conversation.say(said[-1])
                under_way = bool(writer.requests) and conversation.session.id == first
                during += under_way and conversation.session.measured is not None
                if under_way:
                    await asyncio.sleep(0.1)
                if conversation.session.id != first:
                    break
            return during, conversation.session.compactions, said

        during, compactions, said = live(store, main, writer, story)
        assert compactions == 1
        assert during >= 3, "turns were answered while the summary was written"
        history = [each.message["content"] for each in store.history(store.conversations()[0].id) if each.standing]
        assert [text for text in history if text.startswith("Number")] == said
        (tip,) = {row.tip for row in store.conversations()}
        window = [each.message for each in store.messages(tip)]
        kept = [each["content"] for each in window if str(each["content"]).startswith("Number")]
        assert kept == [said[0], *said[1 - len(kept) :]], "the head, and then all of the newest"
        assert len(kept) > during, "those of the tail, and those said meanwhile"
        assert validate_messages(window, "anthropic") == []


def test_past_the_hard_mark_the_turn_waits_and_the_prompt_that_goes_out_fits(store: Store) -> None:
    slow = ProviderSimulator(replies=lambda prompt: SUMMARY, faults={0: Stall(0.5, "start")})
    with ProviderSimulator(replies=lambda prompt: "Fine.", window=WINDOW) as main, slow as writer:

        async def story(conversation: Conversation) -> int:
            for number in range(8):
                await conversation.say(words(number, 6_000))
            return conversation.session.compactions

        assert live(store, main, writer, story) >= 1
        assert max(asked.usage.prompt for asked in main.requests if asked.usage) < WINDOW * 3 // 4
        assert not [asked for asked in main.requests if asked.status != 200]


def test_a_person_who_asks_gets_one_made_now_and_the_one_under_way_is_dropped(store: Store) -> None:
    slow = ProviderSimulator(replies=lambda prompt: SUMMARY, faults={0: Stall(30.0, "start")})
    with ProviderSimulator(replies=lambda prompt: "Fine.") as main, slow as writer:

        async def story(conversation: Conversation) -> tuple[int, str]:
            while not writer.requests:
                await conversation.say(words(len(conversation.session.entries)))
                await asyncio.sleep(0.05)
            await conversation.compress("the numbers")
            return conversation.session.compactions, writer.requests[-1].prompt.messages[0].text

        compactions, asked = live(store, main, writer, story)
        assert compactions == 1
        assert "the numbers" in asked


def test_what_is_pinned_is_still_there_for_the_next_process(store: Store) -> None:
    with ProviderSimulator(replies=lambda prompt: "Fine.") as main:

        async def story(conversation: Conversation) -> str:
            await conversation.say("Begin.")
            conversation.pin("port 5433")
            for number in range(16):
                await conversation.say(words(number, 1_500))
            await conversation.compress()
            return conversation.session.id

        tip = live(store, main, main, story)
        from clew.runtime import sessions
        from clew.runtime.scales import Scale

        assert sessions.load(store, tip, Scale().message).pins == ("port 5433",)
        assert any("port 5433" in str(each.message["content"]) for each in store.messages(tip))


def test_the_system_prompt_is_renewed_when_a_compaction_opens_the_next_session(store: Store) -> None:
    with ProviderSimulator(replies=lambda prompt: "Fine.") as main:

        def renew(session: Session) -> str:
            return f"{session.system} Memory: port 5433."

        async def story(conversation: Conversation) -> str:
            for number in range(16):
                await conversation.say(words(number, 1_500))
            await conversation.compress()
            await conversation.say("And now?")
            return conversation.session.id

        tip = live(store, main, main, story, renew=renew)
        assert store.session(tip).system.startswith("Count. Memory: port 5433.")
        assert main.requests[-1].prompt.system == store.session(tip).system


def test_the_words_of_an_answer_that_is_stopped_are_kept_with_what_they_took(store: Store) -> None:
    with ProviderSimulator(replies=["It begins well. " * 200], faults={0: Stall(20.0)}) as main:

        async def story(conversation: Conversation) -> list[str]:
            saying = asyncio.ensure_future(conversation.say("Tell."))
            while not (main.requests and conversation._heard.text):
                await asyncio.sleep(0.02)
            saying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await saying
            return [said.text for said in conversation.session.messages]

        said = live(store, main, main, story)
        assert said[0] == "Tell."
        assert said[1].startswith("It begins well.")
        assert said[1].endswith("[stopped here by the user]")
        (spent,) = store.spent()
        assert (spent.calls, spent.failed) == (1, 1)
        assert spent.usage.prompt > 0, "the provider had told it by then"


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_whoever_failed_is_left_alone_for_a_while_longer_when_he_refused_and_not_when_a_person_asks() -> None:
    clock, seen = Clock(), []
    with (
        ProviderSimulator(replies=lambda prompt: "written", key="sk-right") as refuses,
        ProviderSimulator(
            replies=lambda prompt: "written", faults={n: Status(503, retry_after=0.001) for n in range(4)}
        ) as busy,
    ):

        async def through() -> list[str | None]:
            async with Transport() as transport:
                record = lambda one, answer: seen.append((one.endpoint.base_url, type(answer)))  # noqa: E731
                writer = Summariser(transport, [who(refuses), who(busy), who(busy)], record, clock=clock)
                answers = [await writer.write("Sum up.", 100), await writer.write("Sum up.", 100)]
                clock.now += SHORT_REST
                answers.append(await writer.write("Sum up.", 100))
                clock.now += LONG_REST
                answers.append(await writer.write("Sum up.", 100))
                return answers

        assert asyncio.run(through()) == [None, None, None, "written"]
        kinds = [kind for _, kind in seen]
        assert kinds == [Refused, Unavailable, Unavailable, Refused, Reply]
        assert RateLimited not in kinds


def test_a_person_who_asks_wakes_everyone() -> None:
    with ProviderSimulator(replies=lambda prompt: "written", faults={0: Status(500), 1: Status(500)}) as broken:

        async def through() -> list[str | None]:
            async with Transport() as transport:
                writer = Summariser(transport, [who(broken)], lambda one, answer: None)
                answers = [await writer.write("Sum up.", 100), await writer.write("Sum up.", 100)]
                writer.wake()
                return [*answers, await writer.write("Sum up.", 100)]

        assert asyncio.run(through()) == [None, None, "written"]


def test_a_message_with_a_picture_is_said_as_it_is(store: Store) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    with ProviderSimulator(replies=["A picture."]) as main:

        async def story(conversation: Conversation) -> Any:
            said = message("user", "What is this?")
            await conversation.say(
                said._replace(raw={**said.raw, "content": [{"type": "text", "text": "What is this?"}, picture]})
            )
            return conversation.session.messages[0].raw["content"][1]

        assert live(store, main, main, story) == picture

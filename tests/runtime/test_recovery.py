"""Every kind of failure, in every dialect, streamed or not, from a real server: the right remedy, and no loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from clew.core.effects import CallModel, Learn, Sleep, Summarise, Tell
from clew.core.pictures import pictures_in
from clew.core.ports import Setup
from clew.core.state import ContextExhausted, Turn
from clew.core.turn import turn
from clew.engines.compressor import Compressor
from clew.facts.exchange import PayloadTooLarge, PromptTooLong, Refused
from clew.facts.messages import Message, message, read_message
from clew.facts.model import Model, Policy, Window
from clew.facts.session import Session
from clew.runtime import sessions
from clew.runtime.drive import adrive
from clew.runtime.endpoints import Endpoint
from clew.runtime.scales import Scale
from clew.runtime.transport import Transport, hands
from clew.runtime.windows import window_of
from clew.store.address import open_store
from clew.store.check import findings
from clew.store.store import Store
from clew.testing import ProviderSimulator
from clew.testing.simulator.faults import BrokenStream, Empty, HalfStream, HangUp, Malformed, Reset, Status
from clew.wire.catalog import Catalog
from clew.wire.legal import validate_messages

SCALE, POLICY = Scale(), Policy(protect_last_n=2)
DIALECTS = {"anthropic": "anthropic", "chat": "openai", "responses": "responses"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 20_000}}


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


@dataclass
class World:
    """One conversation with a simulated provider: a real connection, a real store, and what was asked of both."""

    simulator: ProviderSimulator
    store: Store
    dialect: str
    streamed: bool
    slept: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    learned: list[int] = field(default_factory=list)
    calls: int = 0
    session: str = ""

    def turn(self, said: list[Message], setup: Setup, *, history: list[Message] = []) -> Turn:  # noqa: B006
        self.session = self.session or self.store.open_session(system="Be brief.")
        if history:
            self.store.append(self.session, [each.to_dict() for each in history])
        session = sessions.load(self.store, self.session, SCALE.message)
        end = asyncio.run(self._driven(session, said, setup))
        self.session = end.session.id
        return end

    async def _driven(self, session: Session, said: list[Message], setup: Setup) -> Turn:
        endpoint = Endpoint("simulated", self.simulator.url, dialect=self.dialect)
        async with Transport() as transport:
            on_piece = (lambda piece: None) if self.streamed else None
            talking = hands(transport, endpoint, on_piece=on_piece)
            writing = sessions.hands(self.store, endpoint.base_url)
            mine = {
                CallModel: self._counted(talking[CallModel]),
                Sleep: self._sleep,
                Learn: self._learn(writing[Learn]),
                Tell: lambda wish: self.told.append(wish.text),
                Summarise: lambda wish: None,
            }
            return await adrive(turn(session, said, setup), {**writing, **talking, **mine})

    def _counted(self, call: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def counted(wish: CallModel) -> Any:
            self.calls += 1
            return call(wish)

        return counted

    def _sleep(self, wish: Sleep) -> None:
        self.slept.append(wish.seconds)
        self.simulator.pass_time(wish.seconds)

    def _learn(self, learn: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def learned(wish: Learn) -> Any:
            self.learned.append(wish.window)
            return learn(wish)

        return learned


def setup(window: int = 64_000, output: int = 1_000) -> Setup:
    model = Model("some-model", Window(window, output))
    return Setup(model, Compressor(POLICY, SCALE), SCALE.message, policy=POLICY)


def talk(count: int) -> list[Message]:
    """So many messages of about 400 tokens each."""
    return [
        message("assistant" if n % 2 else "user", f"{n}: " + "the parser in src/app/parse.py stays small. " * 40)
        for n in range(count)
    ]


SAID = [message("user", "Now finish it.")]


def intact(world: World, said: list[Message]) -> None:
    """Everything that was ever said is in the log, in order, and every request that left was legal."""
    kept = [stored.message for stored in world.store.history(world.session)]
    assert kept[: len(said)] == [each.to_dict() for each in said]
    assert findings(world.store) == []
    for asked in world.simulator.requests:
        messages = json.loads(asked.raw)["input" if world.dialect == "responses" else "messages"]
        assert validate_messages(messages, DIALECTS[world.dialect]) == []


def test_a_prompt_too_long_is_compacted_for_the_window_that_was_stated_and_learned(
    store: Store, dialect: str, streamed: bool
) -> None:
    with ProviderSimulator(window=12_000, max_output=4_000, replies=["Done.", "Again."]) as simulator:
        world = World(simulator, store, dialect, streamed)
        history = talk(60)
        end = world.turn(SAID, setup(), history=history)
        assert end.session.messages[-1].text == "Done."
        assert world.calls == 2
        assert end.session.compactions == 1
        intact(world, history + SAID)
        if dialect == "responses":  # which states no number: a guess is for this call, and never written down
            assert world.learned == []
            return
        assert world.learned == [12_000]
        window = window_of("some-model", simulator.url, store=store, catalog=Catalog(()))
        assert window.size == 12_000
        world.turn([message("user", "And again.")], setup(window.size))
        assert world.calls == 3


def test_an_output_too_large_is_lowered_for_this_call_and_every_message_stays(
    store: Store, dialect: str, streamed: bool
) -> None:
    with ProviderSimulator(window=32_000, max_output=4_000, replies=["Done."]) as simulator:
        world = World(simulator, store, dialect, streamed)
        history = talk(10)
        end = world.turn(SAID, setup(output=30_000), history=history)
        assert end.session.messages[-1].text == "Done."
        assert world.calls == 2
        assert world.learned == []
        assert end.session.compactions == 0
        assert [len(asked.prompt.messages) for asked in simulator.requests] == [11, 11]
        assert simulator.requests[-1].prompt.max_output == 4_000
        intact(world, history + SAID)


def test_a_body_too_large_loses_its_pictures_and_the_log_keeps_them(store: Store, dialect: str, streamed: bool) -> None:
    with ProviderSimulator(body_bytes=120_000, replies=["Done."]) as simulator:
        world = World(simulator, store, dialect, streamed)
        shown = [read_message({"role": "user", "content": [{"type": "text", "text": "Look."}, PICTURE]})] * 2
        end = world.turn(shown, setup())
        assert end.session.messages[-1].text == "Done."
        assert world.calls == 2
        assert pictures_in(simulator.requests[-1].prompt.messages) == 1
        assert end.session.compactions == 0
        intact(world, shown)


def test_a_body_too_large_without_pictures_is_compacted(store: Store, dialect: str, streamed: bool) -> None:
    with ProviderSimulator(body_bytes=90_000, replies=["Done."]) as simulator:
        world = World(simulator, store, dialect, streamed)
        history = talk(60)
        end = world.turn(SAID, setup(200_000), history=history)
        assert end.session.messages[-1].text == "Done."
        assert end.session.compactions == 1
        assert world.learned == []
        intact(world, history + SAID)


def test_a_rate_limit_is_waited_for_and_nothing_is_learned_from_its_numbers(
    store: Store, dialect: str, streamed: bool
) -> None:
    with ProviderSimulator(tokens_per_minute=9_000, replies=["First.", "Second."]) as simulator:
        world = World(simulator, store, dialect, streamed)
        history = talk(12)
        world.turn(SAID, setup(), history=history)
        end = world.turn([message("user", "More.")], setup())
        assert end.session.messages[-1].text == "Second."
        assert world.slept
        assert all(seconds <= 60 for seconds in world.slept)
        assert world.learned == []
        assert end.session.compactions == 0
        intact(world, history + SAID)


@pytest.mark.parametrize(
    "fault",
    [Status(503), Status(502, html=True), Status(529), Reset("start"), Reset("middle"), HangUp("middle"), Malformed(),
     HalfStream(), BrokenStream(), Empty()],
    ids=lambda fault: str(fault).split("(failure")[0],
)  # fmt: skip
def test_a_passing_fault_is_tried_again_and_the_reply_is_written_once(
    store: Store, dialect: str, streamed: bool, fault: Any
) -> None:
    with ProviderSimulator(replies=["Done."], faults={0: fault}) as simulator:
        world = World(simulator, store, dialect, streamed)
        end = world.turn(SAID, setup())
        assert [said.text for said in end.session.messages] == ["Now finish it.", "Done."]
        assert world.calls <= 2
        assert world.learned == []
        intact(world, [*SAID, end.session.messages[-1]])


@pytest.mark.parametrize("retry_after", [None, 7.0])
def test_an_overloaded_provider_is_given_the_time_it_asks_for(
    store: Store, dialect: str, streamed: bool, retry_after: float | None
) -> None:
    faults = dict.fromkeys((0, 1), Status(529, retry_after=retry_after))
    with ProviderSimulator(replies=["Done."], faults=faults) as simulator:
        world = World(simulator, store, dialect, streamed)
        world.turn(SAID, setup())
        assert world.slept == ([7.0, 7.0] if retry_after else [1.0, 2.0])


def test_a_refusal_is_told_once_and_changes_nothing(store: Store, dialect: str, streamed: bool) -> None:
    with ProviderSimulator(key="sk-the-right-one") as simulator:
        world = World(simulator, store, dialect, streamed)
        with pytest.raises(ContextExhausted, match="refused the request"):
            world.turn(SAID, setup(), history=talk(40))
        assert (world.calls, world.slept, world.learned) == (1, [], [])
        assert store.session(world.session).id == world.session


@pytest.mark.parametrize(
    ("line", "most"),
    [
        (PromptTooLong(limit=12_000, used=60_000), 4),
        (PromptTooLong(), 4),
        (PayloadTooLarge(), 4),
        (Refused(why="no such tool", status=400), 1),
        (Status(503), 6),
        (Status(429), 6),
    ],
    ids=lambda line: getattr(line, "kind", str(line)),
)
def test_a_failure_that_stays_ends_with_advice_within_its_budget_and_the_session_works_on(
    store: Store, dialect: str, streamed: bool, line: Any, most: int
) -> None:
    failing = True

    def say(prompt: Any) -> Any:
        return line if failing else "Done."

    with ProviderSimulator(window=1_000_000, replies=say) as simulator:
        world = World(simulator, store, dialect, streamed)
        history = talk(60)
        with pytest.raises(ContextExhausted, match=r"/new.*/compress"):
            world.turn(SAID, setup(), history=history)
        assert world.calls <= most
        failing = False
        world.session = store.get_compression_tip(world.session)
        end = world.turn([message("user", "Once more.")], setup())
        assert end.session.messages[-1].text == "Done."
        intact(world, history + SAID)


def test_a_refusal_without_a_word_of_a_prompt_that_nearly_fills_the_window_is_taken_for_too_long(
    store: Store, dialect: str, streamed: bool
) -> None:
    with ProviderSimulator(replies=iter([Refused(why="Error", status=400), "Done."])) as simulator:
        world = World(simulator, store, dialect, streamed)
        history = talk(60)
        end = world.turn(SAID, full_setup(), history=history)
        assert end.session.messages[-1].text == "Done."
        assert end.session.compactions == 1
        assert world.learned == []
        intact(world, history + SAID)


def test_a_refusal_without_a_word_of_a_light_prompt_is_a_refusal(store: Store, dialect: str, streamed: bool) -> None:
    with ProviderSimulator(replies=iter([Refused(why="Error", status=400), "Done."])) as simulator:
        world = World(simulator, store, dialect, streamed)
        with pytest.raises(ContextExhausted, match="refused the request"):
            world.turn(SAID, setup(), history=talk(4))
        assert world.calls == 1


def full_setup() -> Setup:
    """One that lets the window fill up to its last tenth."""
    policy = replace(POLICY, threshold=0.95)
    model = Model("some-model", Window(33_000))
    return Setup(model, Compressor(policy, SCALE), SCALE.message, policy=policy)

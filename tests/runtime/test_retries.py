"""A busy provider is waited for, and how long."""

from __future__ import annotations

from clew.facts.exchange import RateLimited, Refused, Reply, Unavailable
from clew.facts.pieces import Broken, Piece, Said
from clew.runtime.retries import call_patiently, wait_before
from tests.runtime.servers import Visit, serving
from tests.runtime.tiny import HELLO, asynchronous, at, event, say_ok, transport


class Slept:
    """A clock that sleeping moves on."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


@asynchronous
async def test_a_patient_call_waits_as_long_as_the_provider_asks() -> None:
    async def script(visit: Visit) -> None:
        match len(server.visits):
            case 1:
                await visit.answer(429, {"error": {"message": "slow down"}}, retry_after="40")
            case 2:
                await visit.answer(503, b"busy")
            case _:
                await say_ok(visit)

    time_ = Slept()
    async with serving(script) as server, transport(clock=time_.clock) as sending:
        reply = await call_patiently(
            sending, HELLO, at(server), deadline=1_000.0, clock=time_.clock, sleep=time_.sleep, chance=lambda: 0.5
        )
    assert isinstance(reply, Reply)
    assert time_.waits == [40.5, 1.0]


@asynchronous
async def test_a_patient_call_gives_up_at_once_where_the_wait_would_pass_the_deadline() -> None:
    async def script(visit: Visit) -> None:
        await visit.answer(429, {"error": {"message": "slow down"}}, retry_after="40")

    time_ = Slept()
    async with serving(script) as server, transport(clock=time_.clock) as sending:
        failure = await call_patiently(sending, HELLO, at(server), deadline=130.0, clock=time_.clock, sleep=time_.sleep)
    assert isinstance(failure, RateLimited)
    assert not time_.waits
    assert len(server.visits) == 1


@asynchronous
async def test_a_patient_call_ends_after_its_attempts_and_never_repeats_a_refusal() -> None:
    async def busy(visit: Visit) -> None:
        await visit.answer(503, b"busy")

    async def refuse(visit: Visit) -> None:
        await visit.answer(401, {"error": {"message": "no such key"}})

    for script, kind, times in ((busy, Unavailable, 3), (refuse, Refused, 1)):
        time_ = Slept()
        async with serving(script) as server, transport(clock=time_.clock) as sending:
            failure = await call_patiently(
                sending, HELLO, at(server), deadline=1e9, attempts=3, clock=time_.clock, sleep=time_.sleep
            )
        assert type(failure) is kind
        assert len(server.visits) == times


@asynchronous
async def test_a_patient_call_begins_a_stream_again_only_before_its_first_piece() -> None:
    async def script(visit: Visit) -> None:
        await visit.stream()
        if len(server.visits) > 1:
            await visit.chunk(event(text="Hel"))
        visit.hang_up()

    time_ = Slept()
    pieces: list[Piece] = []
    async with serving(script) as server, transport(clock=time_.clock) as sending:
        failure = await call_patiently(
            sending, HELLO, at(server), deadline=1e9, on_piece=pieces.append, clock=time_.clock, sleep=time_.sleep
        )
    assert isinstance(failure, Unavailable)
    assert len(server.visits) == 2
    assert [type(piece) for piece in pieces] == [Broken, Said, Broken]


def test_the_random_part_of_a_wait_doubles_up_to_a_bound() -> None:
    assert [wait_before(n, None, 1.0) for n in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    assert wait_before(3, None, 0.0) == 0.0
    assert wait_before(0, 90.0, 1.0) == 91.0

"""Each failure has its remedy, each remedy its own budget, and a guess is known as one."""

from __future__ import annotations

import pytest

from clew.core.recover import AskForLess, GiveUp, MakeRoom, Tried, Wait, next_tier, remedy
from clew.facts.exchange import OutputTooLarge, PayloadTooLarge, PromptTooLong, RateLimited, Refused, Unavailable


def cure(failure, tried=None, *, window=200_000, weight=150_000):
    return remedy(failure, tried or Tried(), window=window, weight=weight, max_compactions=3)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (PromptTooLong(limit=131_072), MakeRoom(131_072, stated=True)),
        (PromptTooLong(), MakeRoom(128_000, stated=False)),
        (PromptTooLong(limit=3), MakeRoom(200_000, stated=False)),
        (PromptTooLong(limit=300_000), MakeRoom(200_000, stated=False)),
        (OutputTooLarge(room=900), AskForLess(900)),
        (OutputTooLarge(), AskForLess(25_000)),
        (PayloadTooLarge(), MakeRoom(200_000, stated=False)),
        (RateLimited(retry_after=3), Wait(3)),
        (RateLimited(), Wait(1)),
        (Unavailable(why="reset"), Wait(1)),
    ],
)
def test_every_failure_has_its_remedy(failure, expected):
    assert cure(failure) == expected


def test_an_output_cap_never_uses_up_the_budget_for_compactions():
    assert cure(OutputTooLarge(room=10), Tried(compactions=3)) == AskForLess(10)
    assert cure(PromptTooLong(limit=100_000), Tried(smaller_outputs=2)) == MakeRoom(100_000, stated=True)


@pytest.mark.parametrize(
    ("failure", "tried"),
    [
        (PromptTooLong(limit=100_000), Tried(compactions=3)),
        (PayloadTooLarge(), Tried(compactions=3)),
        (OutputTooLarge(), Tried(smaller_outputs=2)),
        (RateLimited(), Tried(waits=5)),
        (Unavailable(why="down"), Tried(waits=5)),
        (Refused(why="no"), Tried()),
    ],
)
def test_when_its_budget_is_used_up_it_says_why(failure, tried):
    answer = cure(failure, tried)
    assert isinstance(answer, GiveUp)
    assert answer.why


def test_too_long_without_a_number_at_a_light_weight_is_not_believed():
    assert isinstance(cure(PromptTooLong(), weight=20_000), GiveUp)


def test_waits_grow():
    assert [cure(RateLimited(), Tried(waits=n)).seconds for n in range(5)] == [1, 2, 4, 8, 16]


def test_tiers_go_down_and_end():
    assert [next_tier(n) for n in (1_000_000, 256_000, 100_000, 8_000, 5_000)] == [
        256_000,
        128_000,
        64_000,
        8_000,
        8_000,
    ]

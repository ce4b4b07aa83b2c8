"""Each failure has its remedy, each remedy its own budget, and a guess is known as one."""

from __future__ import annotations

import pytest

from clew.core.recover import (
    AskForLess,
    GiveUp,
    GoLarger,
    LeavePictures,
    MakeRoom,
    Standing,
    Tried,
    Wait,
    next_tier,
    remedy,
)
from clew.facts.exchange import OutputTooLarge, PayloadTooLarge, PromptTooLong, RateLimited, Refused, Unavailable
from clew.facts.model import Model, Window

LARGER = Model("larger", Window(1_000_000))


def cure(failure, tried=None, *, window=200_000, weight=150_000, **more):
    return remedy(failure, tried or Tried(), Standing(window, weight, **more))


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (PromptTooLong(limit=131_072), MakeRoom(131_072, stated=True)),
        (PromptTooLong(), MakeRoom(128_000, stated=False)),
        (PromptTooLong(limit=3), MakeRoom(128_000, stated=False)),
        (PromptTooLong(limit=300_000), MakeRoom(200_000, stated=False)),
        (OutputTooLarge(room=900), AskForLess(900)),
        (OutputTooLarge(), AskForLess(25_000)),
        (OutputTooLarge(requested_output=64_000), AskForLess(32_000)),
        (OutputTooLarge(room=100), MakeRoom(200_000, stated=False)),
        (PayloadTooLarge(), MakeRoom(200_000, stated=False)),
        (RateLimited(retry_after=3), Wait(3)),
        (RateLimited(), Wait(1)),
        (Unavailable(why="reset"), Wait(1)),
    ],
)
def test_every_failure_has_its_remedy(failure, expected):
    assert cure(failure) == expected


def test_an_output_cap_never_uses_up_the_budget_for_compactions():
    assert cure(OutputTooLarge(room=300), Tried(compactions=3)) == AskForLess(300)
    assert cure(PromptTooLong(limit=100_000), Tried(smaller_outputs=2)) == MakeRoom(100_000, stated=True)


@pytest.mark.parametrize(
    ("failure", "tried"),
    [
        (PromptTooLong(limit=100_000), Tried(compactions=3)),
        (PayloadTooLarge(), Tried(compactions=3)),
        (OutputTooLarge(), Tried(smaller_outputs=3)),
        (RateLimited(), Tried(waits=5)),
        (Unavailable(why="down"), Tried(retries=5)),
        (Refused(why="no"), Tried()),
    ],
)
def test_when_its_budget_is_used_up_it_says_why(failure, tried):
    answer = cure(failure, tried)
    assert isinstance(answer, GiveUp)
    assert answer.why


def test_too_long_without_a_number_at_a_light_weight_is_not_believed():
    assert isinstance(cure(PromptTooLong(), weight=20_000), GiveUp)


def test_too_long_by_the_providers_own_count_is_believed():
    assert cure(PromptTooLong(limit=100_000, used=120_000), weight=20_000) == MakeRoom(100_000, stated=True)


def test_a_limit_far_above_the_prompt_is_no_overflow():
    assert isinstance(cure(PromptTooLong(limit=190_000), weight=20_000), GiveUp)


def test_a_server_too_small_for_any_conversation_says_so_at_once():
    answer = cure(PromptTooLong(limit=2_048, used=3_030), window=32_000, weight=3_000)
    assert isinstance(answer, GiveUp)
    assert "2,048" in answer.why


def test_pictures_leave_before_words_do_when_bytes_are_the_trouble():
    assert cure(PayloadTooLarge(), pictures=2) == LeavePictures()
    assert cure(PayloadTooLarge()) == MakeRoom(200_000, stated=False)


def test_a_larger_window_is_the_last_route():
    failure, worn = PromptTooLong(limit=100_000), Tried(compactions=3)
    assert cure(failure, larger=LARGER) == MakeRoom(100_000, stated=True)
    assert cure(failure, worn, larger=LARGER) == GoLarger(LARGER)
    assert isinstance(cure(failure, worn, larger=Model("smaller", Window(32_000))), GiveUp)


def test_switched_off_it_stays_off_also_at_an_overflow():
    answer = cure(PromptTooLong(limit=100_000), may_compact=False)
    assert isinstance(answer, GiveUp)
    assert "switched off" in answer.why
    assert cure(PromptTooLong(limit=100_000), may_compact=False, larger=LARGER) == GoLarger(LARGER)


def test_one_request_above_a_minutes_quota_is_not_waited_for():
    quota = RateLimited(limit=6_000, used=12_000, retry_after=3.0)
    assert isinstance(cure(quota, weight=11_000), GiveUp)
    assert cure(quota, weight=4_000, max_output=8_000) == AskForLess(2_000)
    assert cure(RateLimited(limit=6_000, used=5_034, retry_after=3.0)) == Wait(3.0)


def test_a_quota_and_a_fault_have_budgets_of_their_own():
    assert cure(RateLimited(), Tried(retries=5)) == Wait(1)
    assert cure(Unavailable(), Tried(waits=5)) == Wait(1)


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

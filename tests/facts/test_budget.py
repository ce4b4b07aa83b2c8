"""One function shares out a window, and every window from 8,000 tokens up can be lived in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.facts.budget import SAFE_SHARE, share_out
from clew.facts.model import Policy, Unsatisfiable, Window

sizes = st.integers(8_000, 2_000_000)


def test_the_numbers_of_a_200_000_token_window_are_those_people_know():
    budget = share_out(Window(200_000), Policy())
    assert (budget.trigger, budget.tail, budget.summary) == (100_000, 20_000, 10_000)


@given(sizes, st.floats(0.05, 0.95), st.floats(0.05, 0.80), st.integers(0, 60_000))
def test_trigger_and_tail_can_always_be_met(size, threshold, ratio, reserved):
    try:
        budget = share_out(Window(size, reserved), Policy(threshold=threshold, target_ratio=ratio))
    except Unsatisfiable:
        return
    assert budget.trigger <= SAFE_SHARE * (size - reserved)
    assert budget.tail <= budget.tail_ceiling < budget.trigger
    assert budget.head + budget.summary + budget.tail < budget.target < budget.trigger


@given(sizes)
def test_defaults_are_satisfiable_for_every_window(size):
    share_out(Window(size), Policy())


@given(sizes)
def test_there_is_no_cliff_between_neighbouring_windows(size):
    here, next_door = (share_out(Window(n), Policy()) for n in (size, size + 1))
    for part in ("trigger", "tail", "summary", "target"):
        assert 0 <= getattr(next_door, part) - getattr(here, part) <= 1


def test_a_summary_gets_a_fifth_of_what_it_stands_for_within_bounds():
    budget = share_out(Window(200_000), Policy())
    assert [budget.summary_for(n) for n in (100, 10_000, 30_000, 1_000_000)] == [2_000, 2_000, 6_000, 10_000]
    assert budget.summary_for(10_000, previous=5_000) == 7_000


@pytest.mark.parametrize(
    ("window", "policy", "system", "tools", "says"),
    [
        (Window(7_999), Policy(), 0, 0, "context_length is 7999"),
        (Window(8_000, 7_000), Policy(), 0, 0, "reserved output"),
        (Window(64_000), Policy(), 2_000, 30_500, "use fewer tools"),
    ],
)
def test_settings_that_cannot_be_met_are_refused_with_the_reason(window, policy, system, tools, says):
    with pytest.raises(Unsatisfiable, match=says):
        share_out(window, policy, system=system, tools=tools)


@pytest.mark.parametrize("bad", [{"threshold": 0}, {"threshold": 1.2}, {"target_ratio": 0.9}, {"protect_last_n": -1}])
def test_a_policy_out_of_range_is_refused_with_its_range(bad):
    with pytest.raises(Unsatisfiable, match="has to lie between"):
        Policy(**bad)


def test_system_and_tools_shrink_the_conversation_not_the_trigger():
    bare = share_out(Window(64_000), Policy())
    loaded = share_out(Window(64_000), Policy(), system=3_000, tools=20_000)
    assert loaded.trigger == bare.trigger
    assert loaded.tail < bare.tail
    assert loaded.target < bare.target

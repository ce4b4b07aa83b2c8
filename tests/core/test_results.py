"""Tool output within its limits: one result, then the turn; what leaves can be found again."""

from __future__ import annotations

from clew.core.effects import Spill
from clew.core.results import cap_turn, is_stored, readable_size
from clew.facts.messages import read_message
from clew.facts.model import ResultLimits, Window
from clew.runtime.drive import drive

LIMITS = ResultLimits(result=10_000, turn=20_000, preview=500)


def results(*sizes, name="terminal"):
    return [
        read_message({"role": "tool", "tool_call_id": f"c{n}", "name": name, "content": "x" * size})
        for n, size in enumerate(sizes)
    ]


def capped(*messages, limits=LIMITS):
    spilled = []
    made = drive(cap_turn(messages, limits), {Spill: lambda wish: spilled.append(wish) or f"blob {len(spilled)}"})
    return made, spilled


def test_what_fits_stays_as_it_is():
    before = results(9_000, 9_000)
    assert capped(*before) == (tuple(before), [])


def test_one_result_over_its_limit_leaves_a_pointer_with_size_place_and_preview():
    made, spilled = capped(*results(12_000))
    assert [len(wish.text) for wish in spilled] == [12_000]
    for part in (
        "<persisted-output>",
        "12,000 characters",
        "blob 1",
        "offset and limit",
        "x" * 500,
        "</persisted-output>",
    ):
        assert part in made[0].text
    assert len(made[0].text) < 1_000


def test_a_turn_over_its_budget_gives_up_the_largest_first():
    made, spilled = capped(*results(9_000, 4_000, 9_500, 5_000))
    assert [wish.call_id for wish in spilled] == ["c2"]
    assert [is_stored(result) for result in made] == [False, False, True, False]
    assert sum(len(result.text) for result in made) <= LIMITS.turn


def test_reading_a_stored_result_back_is_not_stored_again():
    _, spilled = capped(*results(15_000, name="read_file"))
    assert spilled == []


def test_budgets_shrink_with_the_window():
    small = ResultLimits().within(Window(16_000))
    assert small.turn < ResultLimits().turn
    assert small.result * 2 <= small.turn
    assert ResultLimits().within(Window(1_000_000)) == ResultLimits()


def test_sizes_are_written_for_people():
    assert [readable_size(n) for n in (12, 2_340, 5_000_000)] == ["12 bytes", "2.3 KB", "5.0 MB"]

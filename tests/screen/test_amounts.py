"""How counts, sizes and money are told."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Usage
from clew.screen.amounts import bar, cost, count, decimals, money, percents, shares, shares_of, size
from clew.store.ledger import Spent


def spent(calls, unpriced, usd):
    return Spent("", calls, 0, Usage(), Decimal(usd), unpriced)


@pytest.mark.parametrize(
    ("usd", "told"),
    [("0", "$0.00"), ("1.2", "$1.20"), ("1234.567", "$1,234.57"), ("0.012", "$0.012"), ("0.0004", "$0.0004"),
     ("0.000123456", "$0.00012"), ("0.0000000001", "$0.00000000")],
)  # fmt: skip
def test_money_has_the_decimals_it_takes_to_see_it(usd, told):
    assert money(Decimal(usd)) == told


@pytest.mark.parametrize(
    ("known", "told"),
    [(None, "–"), (spent(0, 0, 0), "–"), (spent(2, 0, "1.5"), "$1.50"), (spent(2, 1, "1.5"), "≥ $1.50"),
     (spent(2, 2, 0), "?"), (spent(1, 0, 0), "$0.00")],
)  # fmt: skip
def test_a_cost_says_what_is_not_known(known, told):
    assert cost(known) == told


@given(st.lists(st.decimals(0, 1_000, places=9), min_size=1, max_size=30))
def test_shown_parts_add_up_to_the_shown_sum(parts):
    places = decimals(parts)
    shown = [Decimal(part.removeprefix("$").replace(",", "")) for part in shares(parts, places)]
    assert sum(shown) == sum(parts).quantize(Decimal(1).scaleb(-places))
    assert all(abs(part - told) < Decimal(1).scaleb(-places) for part, told in zip(parts, shown, strict=True))


@pytest.mark.parametrize(
    ("number", "told"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1.0 KB"), (9_949, "9.9 KB"), (9_950, "10 KB"), (999_499, "999 KB"),
     (999_500, "1.0 MB"), (53_182_464, "53 MB"), (2_500_000_000, "2.5 GB"), (12_000_000_000_000, "12.0 TB")],
)  # fmt: skip
def test_a_size_is_told_in_the_unit_people_think_in(number, told):
    assert size(number) == told


def test_one_is_not_several():
    assert (count(1, "message"), count(0, "message"), count(2_000, "match", "matches")) == (
        "1 message",
        "0 messages",
        "2,000 matches",
    )


def test_a_bar_is_as_long_as_its_share():
    assert (bar(10, 10, 4), bar(5, 10, 4), bar(0, 10, 4), bar(1, 32, 4), bar(3, 0, 4)) == ("████", "██", "", "▏", "")


@given(st.integers(0, 10**9), st.lists(st.integers(0, 10**9), min_size=1, max_size=9))
def test_a_whole_is_shared_out_to_the_last_one_in_proportion(whole: int, parts: list[int]) -> None:
    given_out = shares_of(whole, parts)
    assert sum(given_out) == (whole if any(parts) else 0)
    assert all(abs(share - whole * part / (sum(parts) or 1)) <= 1 for share, part in zip(given_out, parts, strict=True))


def test_percents_add_up_and_nothing_has_none() -> None:
    assert percents([1, 1, 1]) == ["34%", "33%", "33%"]
    assert percents([0, 0]) == ["–", "–"]

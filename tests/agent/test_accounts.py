"""What a conversation took: parts that add up to what the ledger says, whatever was called and delegated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.agent import accounts, cached
from clew.agent.accounts import account_of
from clew.agent.cached import Warmth, bars, saved
from clew.facts.usage import Cost, Usage
from clew.runtime.models import bundled
from clew.screen.layout import drawn
from clew.screen.spending import added
from clew.store.address import open_store
from clew.store.calls import calls_of, last_call, turns_of
from clew.store.ledger import Call
from clew.store.store import Store

tokens = st.integers(0, 1_000_000)
usages = st.builds(Usage, tokens, tokens, tokens, tokens)
costs = st.none() | st.decimals(0, 10, places=9).map(lambda usd: Cost(usd, "2026-11-16"))
calls = st.builds(
    Call,
    usages,
    st.sampled_from(["one", "two"]),
    purpose=st.sampled_from(["turn", "summary"]),
    failed=st.sampled_from(["", "unavailable"]),
    cost=costs,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("accounts") / "store.db") as opened:
        yield opened


@given(st.lists(calls, max_size=6), st.lists(st.lists(calls, max_size=3), max_size=3))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_split_adds_up_to_the_ledger(store: Store, own: list[Call], helpers: list[list[Call]]) -> None:
    session = store.open_session()
    parent = session
    for call in own:
        store.record(session, call)
    for made in helpers:
        parent = store.delegate(parent)  # a helper of a helper counts too
        for call in made:
            store.record(parent, call)
    account = account_of(store, session)
    (ledger,) = store.spent(conversation=session.split(".")[0], family=True)
    assert account.total == ledger
    everything = [*own, *(call for made in helpers for call in made)]
    assert ledger.usage == sum((call.usage for call in everything), Usage())
    for name, rows in account.splits:
        assert replace(added("", rows), priced=ledger.priced) == ledger, name
    made = calls_of(store, session.split(".")[0])
    assert sum((one.usage for one in made), Usage()) == ledger.usage
    assert sum((one.cost for one in made if one.cost is not None), Decimal(0)) == ledger.cost


def told(store: Store, session: str) -> str:
    return " ".join(drawn(lambda page: accounts.show(page, account_of(store, session))).split())


def test_an_unknown_cost_is_called_unknown_and_a_known_one_has_the_day_of_its_prices(store: Store) -> None:
    session = store.open_session()
    assert told(store, session) == "nothing yet"
    store.record(session, Call(Usage(input=100, output=7, reasoning=3), "nobody-knows-it"))
    assert "cost unknown no price for 1 call" in told(store, session)
    assert "$0" not in told(store, session)
    assert "3 of it reasoning" in told(store, session)
    store.record(session, Call(Usage(input=100), "known", cost=Cost(Decimal("0.25"), "2026-09-22")))
    assert "cost ≥ $0.25 prices of 2026-09-22; no price for 1 call" in told(store, session)
    assert accounts.spent_so_far(store, session) == "≥ $0.25"


def test_models_and_helpers_are_told_apart_where_there_are_several(store: Store) -> None:
    session = store.open_session()
    store.record(session, Call(Usage(input=10), "one"))
    assert "model" not in told(store, session)
    store.record(store.delegate(session), Call(Usage(input=5), "two"))
    assert "two 1 5" in told(store, session)
    assert "itself 1 10" in told(store, session)
    assert "1 delegate 1 5" in told(store, session)


def test_the_last_words_tell_turns_messages_tokens_and_how_to_go_on(store: Store) -> None:
    session = store.open_session(title="Parser")
    store.append(session, [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}])
    store.record(session, Call(Usage(input=1_234, output=5), "one"))
    account = account_of(store, session)
    page = drawn(lambda page: accounts.show_end(page, store, account, 2))
    assert page.startswith("Parser  1 turn · 2 messages · 2 compactions")
    assert "1,234" in page
    assert f"clew chat --resume {account.about.id}" in page
    assert turns_of(store, account.about.id) == 1


def test_what_the_cache_saved_is_the_bill_without_it_less_the_bill(store: Store) -> None:
    facts = bundled().find("claude-sonnet-4-5", "anthropic")
    assert facts
    session = store.open_session()
    used = Usage(input=1_000, output=100, cache_read=100_000, cache_write=2_000)
    price = facts.prices.of(used)
    assert price is not None
    store.record(session, Call(used, "claude-sonnet-4-5", "anthropic", cost=Cost(price, facts.priced)))
    store.record(session, Call(used, "nobody-knows-it"))
    without = facts.prices.of(Usage(input=103_000, output=100))
    assert without is not None
    assert saved(calls_of(store, session.split(".")[0]), bundled()) == (without - price, 1)
    assert without > price


def test_only_a_turn_that_came_back_warms_the_cache(store: Store) -> None:
    session = store.open_session()
    name = session.split(".")[0]
    assert last_call(store, name) is None
    store.record(session, Call(Usage(cache_write=7), "one", at=1_000.0))
    store.record(session, Call(Usage(input=5), "one", purpose="summary", at=1_100.0))
    store.record(session, Call(Usage(input=5), "one", failed="unavailable", at=1_200.0))
    assert last_call(store, name) == (1_000.0, Usage(cache_write=7))


@pytest.mark.parametrize(
    ("kept", "now", "told"),
    [
        (300, 1_100.0, "warm for 3 min"),
        (300, 1_270.0, "warm for 30 s"),
        (300, 1_300.0, "cold"),
        (None, 1.0, "automatic"),
    ],
)
def test_warmth_runs_out(kept: int | None, now: float, told: str) -> None:
    assert Warmth(1_000.0, kept).told(now) == told


def test_a_bar_shows_what_was_read_written_and_neither() -> None:
    drawn = bars([Usage(cache_read=12, cache_write=6, input=6), Usage(input=12), Usage(input=0, cache_read=1)], "abc")
    assert [line.split()[-1] for line in drawn] == ["█" * 12 + "▓" * 6 + "░" * 6, "░" * 12, "█"]
    assert cached.BAR == 24


def test_nothing_here_writes_colours_where_nobody_sees_them(store: Store, tmp_path: Path) -> None:
    session = store.open_session()
    store.record(session, Call(Usage(input=5), "one"))
    assert "\x1b" not in drawn(lambda page: accounts.show(page, account_of(store, session)))

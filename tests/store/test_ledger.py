"""What calls came to, added up every way, never guessing a price."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.facts.usage import Cost, Usage
from clew.store.address import open_store
from clew.store.ledger import By, Call, Spent
from clew.store.store import Store
from clew.store.trouble import NotFound

HOUR = 3_600.0
counts = st.integers(0, 10**9)
costs = st.none() | st.builds(
    Cost,
    st.integers(0, 10**15).map(lambda pico: Decimal(pico) / 10**12),
    st.sampled_from(["2026-01-01", "2025-06-30", "2026-11-16"]),
)
calls = st.builds(
    Call,
    usage=st.builds(Usage, counts, counts, counts, counts, counts),
    model=st.sampled_from(["big", "small"]),
    provider=st.sampled_from(["", "p"]),
    purpose=st.sampled_from(["turn", "summary"]),
    failed=st.sampled_from(["", "overloaded"]),
    cost=costs,
    tools=st.lists(st.sampled_from(["shell", "read"]), max_size=2, unique=True).map(tuple),
    at=st.integers(0, 100).map(lambda hours: 1_790_000_000 // HOUR * HOUR + hours * HOUR),
)


def added_up(key: str, group: list[Call]) -> Spent:
    usage = Usage(*(sum(getattr(call.usage, name) for call in group) for name in BUCKETS))
    priced = [call.cost for call in group if call.cost is not None]
    return Spent(
        key,
        calls=len(group),
        failed=sum(bool(call.failed) for call in group),
        usage=usage,
        cost=sum((cost.usd for cost in priced), Decimal(0)),
        unpriced=len(group) - len(priced),
        priced=min((cost.priced for cost in priced), default=""),
    )


BUCKETS = ("input", "output", "cache_read", "cache_write", "reasoning")


def keys(by: By, session: str, call: Call) -> tuple[str, ...]:
    match by:
        case By.SESSION:
            return (session,)
        case By.CONVERSATION:
            return (session.split(".")[0],)
        case By.DAY:
            assert call.at is not None
            return (datetime.fromtimestamp(call.at).date().isoformat(),)
        case By.TOOL:
            return call.tools or ("(none)",)
        case By.ALL:
            return ("",)
    return (str(getattr(call, by.value)),)


@given(st.lists(st.tuples(st.integers(0, 2), calls), max_size=15), st.integers(0, 100), st.integers(0, 100))
@settings(max_examples=25)
def test_every_way_of_adding_up_comes_to_what_a_loop_would(made: list[tuple[int, Call]], first: int, last: int) -> None:
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
        check_sums(store, made, first, last)


def test_it_is_so_on_both_databases(store: Store) -> None:
    check_sums(store, [(n % 3, some_call(n)) for n in range(40)], 5, 30)


def some_call(n: int) -> Call:
    return Call(
        Usage(n, 2 * n, 3, 4, 5),
        f"m{n % 2}",
        failed="" if n % 4 else "overloaded",
        tools=("a", "b")[: n % 3],
        cost=Cost((Decimal(n) / 7).quantize(Decimal("1e-12")), f"2026-01-0{n % 9 + 1}") if n % 5 else None,
        at=1_790_000_000 // HOUR * HOUR + n * HOUR,
    )


def check_sums(store: Store, made: list[tuple[int, Call]], first: int, last: int) -> None:
    one, two = store.open_session(id="one"), store.open_session(id="two")
    sessions = (one, store.continue_session(one, [], upto=0), two)
    for where, call in made:
        store.record(sessions[where], call)
    after, before = 1_790_000_000 + first * HOUR, 1_790_000_000 + last * HOUR
    for by in By:
        for only in (None, "one"):
            groups: dict[str, list[Call]] = defaultdict(list)
            if by is By.ALL:
                groups[""] = []
            for where, call in made:
                assert call.at is not None
                if after <= call.at < before and (only is None or sessions[where].startswith(only)):
                    for key in keys(by, sessions[where], call):
                        groups[key].append(call)
            found = store.spent(by, conversation=only, after=after, before=before)
            assert {row.key: row for row in found} == {key: added_up(key, group) for key, group in groups.items()}
            assert len({row.key for row in found}) == len(found)
    for session in sessions:
        (row,) = store.spent(session=session)
        assert row.calls == sum(sessions[where] == session for where, _ in made)


def test_a_tenth_of_a_cent_ten_million_times_is_exact(store: Store) -> None:
    session = store.open_session()
    for _ in range(3):
        store.record(session, Call(Usage(1), "m", cost=Cost(Decimal("0.1"), "2026-01-01")))
    assert store.spent()[0].cost == Decimal("0.3")
    store.record(session, Call(Usage(1), "m", cost=Cost(Decimal("0.000000000001"), "2026-01-01")))
    assert store.spent()[0].cost == Decimal("0.300000000001")


def test_free_is_a_price_and_unknown_is_none(store: Store) -> None:
    session = store.open_session()
    store.record(session, Call(Usage(5), "local", cost=Cost(Decimal(0), "2026-01-01")))
    store.record(session, Call(Usage(5), "new"))
    by_model = {row.key: (row.cost, row.unpriced, row.priced) for row in store.spent("model")}
    assert by_model == {"local": (Decimal(0), 0, "2026-01-01"), "new": (Decimal(0), 1, "")}


def test_a_call_counts_for_the_session_it_was_made_in(store: Store) -> None:
    session = store.open_session(id="work")
    child = store.continue_session(session, [], upto=0)
    store.record(session, Call(Usage(1), "m"))
    store.record("work", Call(Usage(10), "m"))
    assert {row.key: row.usage.input for row in store.spent("session")} == {session: 1, child: 10}


def test_a_call_is_now_unless_it_says_when(store: Store) -> None:
    session = store.open_session()
    store.record(session, Call(Usage(1), "m"))
    store.record(session, Call(Usage(1), "m", at=1_000.0))
    assert store.spent(after=time.time() - 600)[0].calls == 1
    assert store.spent(before=1_000.0)[0].calls == 0
    assert store.spent(before=1_000.1)[0].calls == 1


def test_a_family_has_no_double_and_no_stranger(store: Store) -> None:
    top = store.open_session()
    child = store.delegate(top)
    grandchildren = [store.delegate(child) for _ in range(2)]
    other = store.delegate(store.open_session())
    for session in (top, child, *grandchildren, other):
        store.record(session, Call(Usage(1), "m", failed="lost"))
    (family,) = store.spent(conversation=top, family=True)
    assert (family.calls, family.failed) == (4, 4)
    assert len(store.spent("conversation", conversation=top, family=True)) == 4


def test_what_cannot_be_added_up_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="colour"):
        store.spent("colour")
    with pytest.raises(NotFound):
        store.spent(conversation="nowhere")
    with pytest.raises(NotFound):
        store.record("nowhere", Call(Usage(), "m"))
    assert store.spent()[0].calls == 0

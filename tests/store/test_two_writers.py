"""Several writers of one conversation: nothing lost, nothing twice, everyone's own words in their order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import groupby

import pytest

from clew.store.address import open_store
from clew.store.check import findings
from clew.store.leases import Purpose
from clew.store.store import Store
from clew.store.trouble import SessionBusy
from tests.store.workers import all_done, heard, name_and_number, numbered, started, told


@pytest.mark.parametrize("writers", [2, 4])
def test_processes_that_write_to_one_session_lose_nothing(store: Store, store_url: str, writers: int) -> None:
    session = store.open_session()
    with started(*(("append", store_url, f"w{n}", 120) for n in range(writers))) as workers:
        done = all_done(workers, session)
    assert done == [{"written": 120, "busy": 0}] * writers  # no lease, so no one is turned away
    assert said_by_each(store, session) == {f"w{n}": list(range(120)) for n in range(writers)}
    assert findings(store) == []


def test_what_is_said_during_compactions_is_there_and_follows_the_summary(store: Store, store_url: str) -> None:
    session = store.open_session()
    store.append(session, [numbered("first", n) for n in range(10)])
    writers = [("append", store_url, f"w{n}", 90) for n in range(3)]
    with started(("compact", store_url, "c", 8), *writers) as workers:
        done = all_done(workers, session)
    assert done == [{"done": 8}, *[{"written": 90, "busy": 0}] * 3]
    assert said_by_each(store, session) == {"first": list(range(10)), **{f"w{n}": list(range(90)) for n in range(3)}}
    assert [record.end_reason for record in store.sessions(session)] == ["compression"] * 8 + [None]
    seen = store.messages(store.get_compression_tip(session))
    assert seen[0].derived
    line = [said.seq for said in store.history(session)]
    kept = [said.seq for said in seen[1:]]
    assert kept == line[-len(kept) :]  # nothing between the summary and now is missing
    assert findings(store) == []


def test_only_one_of_two_compactions_of_a_session_happens_and_the_other_hears_busy(
    store: Store, store_url: str
) -> None:
    children = []
    with started(("compact_once", store_url, "a"), ("compact_once", store_url, "b")) as workers:
        for n in range(20):
            session = store.open_session(id=f"talk{n}")
            store.append(session, [numbered("x", place) for place in range(30)])
            answers = all_done(workers, session)
            children.append([answer["child"] for answer in answers if "child" in answer])
            (busy,) = (answer["busy"] for answer in answers if "busy" in answer)
            assert "compacted by someone else" in busy
            assert [record.id for record in store.sessions(session)] == [f"talk{n}.0", f"talk{n}.1"]
    assert children == [[f"talk{n}.1"] for n in range(20)]
    assert findings(store) == []


def test_only_one_of_those_who_open_the_same_id_does_and_the_others_hear_busy(store: Store, store_url: str) -> None:
    with started(*(("open_same", store_url, name) for name in "abc")) as workers:
        for n in range(20):
            answers = all_done(workers, f"talk{n}")
            assert [answer["opened"] for answer in answers if "opened" in answer] == [f"talk{n}.0"]
            assert sum("there is a conversation" in answer.get("busy", "") for answer in answers) == 2


@pytest.mark.parametrize("writers", [2, 4])
def test_what_is_written_under_a_lease_stands_together(store: Store, store_url: str, writers: int) -> None:
    session = store.open_session()
    with started(*(("write_alone", store_url, f"w{n}", 30) for n in range(writers))) as workers:
        done = all_done(workers, session)
    assert [answer["written"] for answer in done] == [30] * writers
    assert said_by_each(store, session) == {f"w{n}": list(range(30)) for n in range(writers)}
    names = [name_and_number(said.message)[0] for said in store.history(session)]
    assert all(len(list(run)) % 3 == 0 for _, run in groupby(names))  # no one comes between the three of a block
    assert findings(store) == []


def test_whoever_does_not_hold_the_lease_is_told_who_does_and_goes_on_when_it_is_free(
    store: Store, store_url: str
) -> None:
    session = store.open_session()
    with started(("hold", store_url)) as (holder,):
        told(holder, session)
        assert heard(holder) == "holding"
        for write in writes(store, session):
            with pytest.raises(SessionBusy, match=rf"another process \({holder.pid} on .+\) is writing to") as busy:
                write()
            assert "Nothing was changed; try again" in str(busy.value)
        assert store.messages(session) == []
        told(holder, "done")
        assert heard(holder) == {"held": session}
    store.append(session, [numbered("me", 0)])
    assert said_by_each(store, session) == {"me": [0]}


def test_the_lease_of_a_process_that_died_is_free_at_once(store: Store, store_url: str) -> None:
    session = store.open_session()
    with started(("hold", store_url)) as (holder,):
        told(holder, session)
        assert heard(holder) == "holding"
        holder.kill()
        holder.wait()
        with store.hold(session, Purpose.WRITE):
            store.append(session, [numbered("me", 0)])
    assert said_by_each(store, session) == {"me": [0]}


def test_a_lease_to_compact_stops_other_compactions_and_no_words(store: Store, store_url: str) -> None:
    session = store.open_session()
    with open_store(store_url) as other, other.hold(session, Purpose.COMPACT):
        store.append(session, [numbered("me", 0)])
        with pytest.raises(SessionBusy, match="is compacting this session"):
            store.continue_session(session, [numbered("summary", 0)], upto=1)
        other.continue_session(session, [numbered("summary", 0)], upto=1)
    assert said_by_each(store, session) == {"me": [0]}


def test_threads_that_share_one_store_lose_nothing(store: Store) -> None:
    session = store.open_session()
    start = threading.Barrier(6)
    read: list[int] = []

    def write(name: str) -> None:
        start.wait()
        for n in range(0, 60, 2):
            store.append(session, [numbered(name, n), numbered(name, n + 1)])

    def look() -> None:
        start.wait()
        for _ in range(20):
            read.append(len(store.messages(session)))

    in_threads(*(lambda name=f"t{n}": write(name) for n in range(5)), look)
    assert said_by_each(store, session) == {f"t{n}": list(range(60)) for n in range(5)}
    assert read == sorted(read)
    assert all(count % 2 == 0 for count in read)  # a batch is seen whole or not at all
    assert findings(store) == []


def test_writers_that_come_by_an_old_and_a_new_session_do_not_wait_for_each_other_for_ever(store_url: str) -> None:
    with ExitStack() as stack:
        stores = [stack.enter_context(open_store(store_url)) for _ in range(3)]
        session = stores[0].open_session()
        stores[0].append(session, [numbered("first", 0)])
        child = stores[0].continue_session(session, [numbered("summary", 0)], upto=1)

        def note(store: Store, by: str) -> None:
            for n in range(60):
                store.note(by, {"n": n})

        in_threads(*(lambda s=s, by=by: note(s, by) for s, by in zip(stores, (session, child, session), strict=True)))
        assert stores[0].session(child).state == {"n": 59}


def in_threads(*works: Callable[[], None]) -> None:
    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result()


def writes(store: Store, session: str) -> Iterator[Callable[[], object]]:
    """Everything that the lease to write is asked for."""
    yield lambda: store.append(session, [numbered("me", 0)])
    yield lambda: store.align(session, [numbered("me", 0)])
    yield lambda: store.continue_session(session, [numbered("me", 0)], upto=0)
    yield lambda: store.undo(session)
    yield lambda: store.hold(session, Purpose.WRITE).__enter__()


def said_by_each(store: Store, session: str) -> dict[str, list[int]]:
    """The numbers of everyone's messages, in the order in which they stand."""
    found: dict[str, list[int]] = {}
    for said in store.history(session):
        name, number = name_and_number(said.message)
        found.setdefault(name, []).append(number)
    return found

"""Who may write: leases keep others out, run out, and are taken over from the dead."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from clew.store.address import open_store
from clew.store.leases import Purpose
from clew.store.store import Store
from clew.store.trouble import SessionBusy

HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture
def other(store_url: str, store: Store) -> Iterator[Store]:
    """Someone else with the same store open."""
    with open_store(store_url) as opened:
        yield opened


def test_two_who_open_a_store_are_two(store: Store, other: Store) -> None:
    assert store.owner != other.owner


def test_the_holder_writes_through_every_id_of_the_conversation(store: Store, other: Store) -> None:
    session = store.open_session(id="work")
    child = store.continue_session(session, [], upto=0)
    with store.hold("work"):
        for id_ in ("work", session, child):
            store.append(id_, HELLO)
            with pytest.raises(SessionBusy):
                other.append(id_, HELLO)
    assert len(store.messages(child)) == 3


def test_a_refusal_says_who_and_how_long(store: Store, other: Store) -> None:
    session = store.open_session()
    with (
        store.hold(session, seconds=90),
        pytest.raises(SessionBusy, match=r"writing to this session for up to \d+ more"),
    ):
        other.append(session, HELLO)
    with store.hold(session, Purpose.COMPACT), pytest.raises(SessionBusy, match="compacting this session"):
        other.undo_compaction(session)


def test_a_lease_is_given_back_when_the_block_fails(store: Store, other: Store) -> None:
    session = store.open_session()
    with pytest.raises(KeyError), store.hold(session):
        raise KeyError
    other.append(session, HELLO)


def test_a_lease_to_write_and_one_to_compact_can_be_held_by_two(store: Store, other: Store) -> None:
    session = store.open_session()
    with store.hold(session, Purpose.COMPACT), other.hold(session, Purpose.WRITE):
        other.append(session, HELLO)
        with pytest.raises(SessionBusy):
            store.continue_session(session, HELLO, upto=1)
        with pytest.raises(SessionBusy):
            other.continue_session(session, HELLO, upto=1)
    store.continue_session(session, HELLO, upto=1)


def test_reading_and_the_ledger_wait_for_no_lease(store: Store, other: Store) -> None:
    session = store.open_session()
    with store.hold(session), store.hold(session, Purpose.COMPACT):
        assert other.messages(session) == []
        other.note(session, {"seen": 1})
        other.describe(session, title="T")
        assert other.branch(session)
    assert store.session(session).state == {"seen": 1}


def test_renewing_in_time_keeps_others_out_past_the_first_end(store: Store, other: Store) -> None:
    session = store.open_session()
    with store.hold(session, seconds=0.05) as lease:
        lease._seconds = 60.0
        lease.renew()
        time.sleep(0.1)
        with pytest.raises(SessionBusy):
            other.append(session, HELLO)


def test_giving_back_a_lost_lease_leaves_the_new_holders_alone(store: Store, other: Store) -> None:
    session = store.open_session()
    late = store.hold(session, seconds=0.01)
    late.__enter__()
    time.sleep(0.05)
    with other.hold(session):
        late.__exit__(None, None, None)
        with pytest.raises(SessionBusy):
            store.append(session, HELLO)


def test_a_lease_from_another_machine_is_only_over_when_it_runs_out(store: Store, other: Store) -> None:
    session = store.open_session()
    theirs = "elsewhere/4026531836/999999999/abcdef00"  # that we have no such process says nothing about theirs
    with store.hold(session, seconds=60):
        with store.database.write() as work:
            work.run("UPDATE lease SET owner = ?", (theirs,))
        with pytest.raises(SessionBusy, match="999999999 on elsewhere"):
            other.append(session, HELLO)
        with store.database.write() as work:
            work.run("UPDATE lease SET until = 1")
        other.append(session, HELLO)


def test_the_lease_of_a_process_that_died_is_taken_over_at_once(store_url: str, store: Store) -> None:
    session = store.open_session()
    dies = (
        "import os, sys; from clew.store.address import open_store; store = open_store(sys.argv[1]);"
        "held = store.hold(sys.argv[2], seconds=3600); held.__enter__(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", dies, store_url, session], check=False).returncode == 9
    with store.hold(session):
        store.append(session, HELLO)
    assert len(store.messages(session)) == 1

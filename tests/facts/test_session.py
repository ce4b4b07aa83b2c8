"""A thread grows without copying, and no version sees what another one added."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.facts.messages import message
from clew.facts.session import Session, Thread


@given(st.lists(st.tuples(st.integers(0, 30), st.integers())))
def test_a_thread_behaves_like_a_tuple_whichever_version_is_extended(steps):
    versions: list[tuple[Thread[int], tuple[int, ...]]] = [(Thread(), ())]
    for which, item in steps:
        thread, twin = versions[which % len(versions)]
        versions.append((thread.add(item), (*twin, item)))
    for thread, twin in versions:
        assert tuple(thread) == twin
        assert len(thread) == len(twin)
        assert thread[:2] == twin[:2]
        assert thread[-3:] == twin[-3:]


def test_adding_to_the_newest_version_copies_nothing():
    thread = Thread(range(1_000))
    assert thread.add(1)._items is thread._items


def test_a_session_knows_its_weight_since_any_entry():
    session = Session("s")
    for tokens in (5, 7, 11):
        session = session.add(message("user", "x"), tokens)
    assert (session.counted, session.counted_since(0), session.counted_since(1), session.counted_since(3)) == (
        23,
        23,
        18,
        0,
    )

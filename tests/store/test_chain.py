"""A conversation goes on from session to session, branches, delegates, and can go back."""

from __future__ import annotations

from typing import Any

import pytest

from clew.facts.session import Origin
from clew.store.store import Store
from clew.store.trouble import NotFound, SessionBusy

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def talk(count: int) -> list[Message]:
    return [assistant(f"{n}") if n % 2 else user(f"{n}") for n in range(count)]


SUMMARY = user("[summary]")


def view(store: Store, session: str) -> list[Message]:
    return [said.message for said in store.messages(session)]


def line(store: Store, session: str) -> list[Message]:
    return [said.message for said in store.history(session)]


def test_the_ids_of_sessions_count_within_their_conversation(store: Store) -> None:
    session = store.open_session(id="work")
    assert session == "work.0"
    store.append(session, talk(4))
    assert store.continue_session(session, [SUMMARY], upto=4) == "work.1"
    assert store.undo_compaction("work") == "work.0"
    assert store.continue_session("work.0", [SUMMARY], upto=4) == "work.2", "an id is never used twice"
    assert [record.id for record in store.sessions("work")] == ["work.0", "work.1", "work.2"]
    assert [record.number for record in store.sessions("work.1")] == [0, 1, 2]


def test_a_conversation_goes_by_the_id_of_any_of_its_sessions(store: Store) -> None:
    first = store.open_session(id="work", title="T")
    child = store.continue_session(first, [], upto=0)
    for id_ in ("work", first, child):
        assert store.conversation(id_).id == "work"
        assert store.get_compression_tip(id_) == child
        assert store.append(id_, [user(id_)]) == child
    assert store.session("work").id == child
    assert store.session(first).id == first
    assert view(store, "work") == view(store, child) == [user("work"), user(first), user(child)]
    assert view(store, first) == []


def test_an_id_that_is_taken_is_refused(store: Store) -> None:
    session = store.open_session(id="work")
    with pytest.raises(SessionBusy):
        store.open_session(id="work")
    with pytest.raises(SessionBusy):
        store.open_session(id=session)
    assert len(store.conversations()) == 1


def test_what_belongs_to_a_conversation_can_be_changed_from_any_session(store: Store) -> None:
    session = store.open_session(title="a", cwd="/a", model="m", tags=("x",), source="cli")
    store.continue_session(session, [], upto=0)
    store.describe(session, title="b", tags=["y", "z"])
    about = store.conversation(session)
    assert (about.title, about.cwd, about.model, about.tags, about.source) == ("b", "/a", "m", ("y", "z"), "cli")
    with pytest.raises(TypeError, match="colour"):
        store.describe(session, colour="red")


def test_conversations_are_listed_by_when_something_was_last_said(store: Store) -> None:
    one, two, three = (store.open_session(id=name) for name in ("one", "two", "three"))
    store.append(two, [user("x")])
    store.append(one, [user("y")])
    assert [found.id for found in store.conversations(limit=2)] == ["one", "two"]
    assert {found.id for found in store.conversations()} == {"one", "two", "three"}
    assert store.find("t") == ["three", "two"]
    assert store.find("%") == []
    assert three == "three.0"


def test_ending_a_session_loses_nothing_that_is_said_after_it(store: Store) -> None:
    session = store.open_session()
    store.end(session, "user left")
    assert store.session(session).end_reason == "user left"
    store.append(session, [user("still here")])
    assert view(store, session) == [user("still here")]


def test_the_system_prompt_goes_on_unless_a_new_one_is_given(store: Store) -> None:
    session = store.open_session(system="S\0\ud800")
    child = store.continue_session(session, [], upto=0)
    assert store.session(child).system == "S\0\ud800"
    assert store.session(store.continue_session(child, [], upto=0, system="")).system == ""


def test_a_compaction_of_a_part_keeps_the_rest_of_the_opening(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(6))
    child = store.continue_session(session, [SUMMARY, *talk(6)[3:]], upto=6)
    store.append(child, [user("new")])
    grandchild = store.continue_session(child, [user("[second]")], upto=2)
    assert view(store, grandchild) == [user("[second]"), *talk(6)[4:], user("new")]
    assert view(store, child) == [SUMMARY, *talk(6)[3:]], "what was said behind the part belongs to the next session"


def test_a_compaction_may_put_messages_in_another_order(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(4))
    turned = [talk(4)[3], talk(4)[0], SUMMARY]
    child = store.continue_session(session, turned, upto=4)
    assert view(store, child) == turned
    assert line(store, child) == talk(4)


def test_undoing_a_compaction_after_an_edit_shows_the_edit(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(8))
    child = store.continue_session(session, [talk(8)[0], SUMMARY, *talk(8)[6:]], upto=8)
    grandchild = store.continue_session(child, [talk(8)[0], user("[second]")], upto=4)
    store.align(grandchild, [user("edited"), user("[second]"), assistant("on")])
    back = store.undo_compaction(grandchild)
    assert back == child
    assert view(store, child) == [user("edited"), SUMMARY, *talk(8)[6:], assistant("on")]
    assert line(store, child) == [user("edited"), *talk(8)[1:], assistant("on")]


def test_undo_across_three_compactions_ends_each_of_them(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(6))
    tip = session
    for n in range(3):
        tip = store.continue_session(tip, [user(f"[summary {n}]")], upto=len(view(store, tip)))
    live, taken = store.undo(tip, turns=2)
    assert live == session
    assert [said.message for said in taken] == talk(6)[2:]
    assert [record.end_reason for record in store.sessions(session)] == [None, "undo", "undo", "undo"]


def test_a_turn_said_since_the_compaction_is_taken_back_without_undoing_it(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(6))
    child = store.continue_session(session, [SUMMARY], upto=6)
    store.append(child, [user("a"), assistant("b"), user("c"), assistant("d")])
    assert store.undo(child)[0] == child
    assert view(store, child) == [SUMMARY, user("a"), assistant("b")]


def test_a_summary_in_the_persons_role_is_no_turn_of_theirs(store: Store) -> None:
    session = store.open_session()
    child = store.continue_session(session, [SUMMARY], upto=0)
    with pytest.raises(NotFound, match="0 turns"):
        store.undo(child)
    assert store.get_compression_tip(session) == child, "nothing was changed"
    with pytest.raises(ValueError, match="at least 1"):
        store.undo(child, turns=0)


def test_a_branch_of_a_branch_begins_with_both(store: Store) -> None:
    session = store.open_session(title="T")
    store.append(session, talk(4))
    branch = store.branch(session, upto=3)
    store.append(branch, [user("b")])
    twig = store.branch(branch)
    store.append(twig, [user("c")])
    assert view(store, twig) == [*talk(4)[:3], user("b"), user("c")]
    assert line(store, twig) == [user("c")]
    assert store.conversation(twig).title == "T"
    assert [child.id for child in store.children(branch)] == [store.session(twig).conversation]


def test_a_branch_of_a_compacted_session_points_to_its_summary(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(4))
    child = store.continue_session(session, [SUMMARY, talk(4)[3]], upto=4)
    branch = store.branch(session)
    assert view(store, branch) == [SUMMARY, talk(4)[3]]
    assert store.session(branch).parent == child
    store.append(branch, [user("b"), assistant("c")])
    assert store.recognise([SUMMARY, talk(4)[3], user("b")]) == (branch, 3)


def test_a_branch_can_take_back_what_it_began_with(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(4))
    branch = store.branch(session)
    store.append(branch, [user("b")])
    live, taken = store.undo(branch, turns=2)
    assert (live, [said.message for said in taken]) == (branch, [*talk(4)[2:], user("b")])
    assert view(store, branch) == talk(4)[:2]
    assert view(store, session) == talk(4), "its parent keeps it"
    store.append(branch, [user("instead")])
    assert store.recognise([*talk(4)[:2], user("instead")]) == (branch, 3)


def test_sessions_know_how_they_came_to_be(store: Store) -> None:
    session = store.open_session()
    origins = [session, store.continue_session(session, [], upto=0), store.branch(session), store.delegate(session)]
    assert [store.session(id_).origin for id_ in origins] == [
        Origin.NEW, Origin.COMPRESSION, Origin.BRANCH, Origin.DELEGATE,
    ]  # fmt: skip
    assert {child.origin for child in store.children(session)} == {Origin.BRANCH, Origin.DELEGATE}

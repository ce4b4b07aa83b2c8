"""Nodes cover every message up to their frontier exactly once, whatever fails, is edited, taken back or moved away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew.facts.node import Draft, Node, Row, made_from
from clew.store import care
from clew.store.address import open_store
from clew.store.check import Kind, findings
from clew.store.database import Database, Values, Work
from clew.store.memory import memory_store
from clew.store.portable import export, restore
from clew.store.publishing import NotPublished
from clew.store.store import Store

Message = dict[str, Any]


def said(text: str, role: str = "user") -> Message:
    return {"role": role, "content": text}


def talk(count: int) -> list[Message]:
    return [said(f"message {n}", "user" if n % 2 == 0 else "assistant") for n in range(count)]


def leaf(rows: Sequence[Row], text: str = "a summary", **more: Any) -> Draft:
    prints = made_from(row.hash for row in rows)
    return Draft(rows[0].place, rows[-1].place, len(rows), text, 10, prints=prints, **more)


def over(nodes: Sequence[Node], text: str = "fewer words", **more: Any) -> Draft:
    ids = tuple(node.id for node in nodes)
    count = sum(node.rows for node in nodes)
    return Draft(nodes[0].first, nodes[-1].last, count, text, 10, sources=ids, **more)


def covered(store: Store, session: str, *ends: int) -> list[Node]:
    """Leaves that end at these places, one after the other."""
    made, start = [], 0
    for end in ends:
        rows = store.nodes.rows(session, start, end)
        made.append(store.nodes.publish(session, leaf(rows, f"up to {end}")))
        start = end + 1
    return made


def texts(rows: Sequence[Row]) -> list[str]:
    return [row.message.text for row in rows]


def test_leaves_stand_one_behind_the_other_and_give_their_messages_back(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(10))
    one, two = covered(store, session, 3, 7)
    assert [(node.first, node.last, node.rows, node.depth) for node in (one, two)] == [(0, 3, 4, 0), (4, 7, 4, 0)]
    assert store.nodes.standing(session) == [one, two]
    assert texts(store.nodes.rows(session, two.first, two.last)) == [f"message {n}" for n in range(4, 8)]
    assert store.nodes.over(session, 5) == two
    assert store.nodes.over(session, 8) is None
    assert store.nodes.flaws(session) == []
    assert findings(store) == []


def test_a_node_over_nodes_takes_their_place_and_they_stay(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(12))
    leaves = covered(store, session, 3, 7, 9)
    above = store.nodes.publish(session, over(leaves[:2]))
    assert (above.first, above.last, above.rows, above.depth) == (0, 7, 8, 1)
    assert store.nodes.standing(session) == [above, leaves[2]]
    assert [node.id for node in store.nodes.sources(session, above.id)] == [node.id for node in leaves[:2]]
    top = store.nodes.publish(session, over([above, leaves[2]]))
    assert top.depth == 2
    assert store.nodes.standing(session) == [top]
    assert findings(store) == []


def test_a_better_text_replaces_a_node_and_the_old_one_stays_archived(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(8))
    leaves = covered(store, session, 3, 7)
    above = store.nodes.publish(session, over(leaves))
    rows = store.nodes.rows(session, 0, 3)
    better = store.nodes.publish(session, leaf(rows, "a better text", replaces=leaves[0].id))
    assert [node.text for node in store.nodes.sources(session, above.id)] == ["a better text", "up to 7"]
    old = store.nodes.find(session, leaves[0].id)
    assert old is not None
    assert (old.text, old.replaced_by, old.archived is not None) == ("up to 3", better.id, True)
    higher = store.nodes.publish(session, over([better, leaves[1]], "better above", replaces=above.id))
    assert store.nodes.standing(session) == [higher]
    assert len(store.nodes.sources(session, higher.id)) == 2
    assert findings(store) == []


def test_a_leaf_that_leaves_one_out_or_covers_one_twice_is_refused_with_the_reason(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(10))
    covered(store, session, 3)
    rows = store.nodes.rows(session, 0, 9)
    for wrong in (rows[5:8], rows[3:6], rows[0:4]):
        with pytest.raises(NotPublished, match=r"does not go on where the nodes end, at 3"):
            store.nodes.publish(session, leaf(wrong))
    with pytest.raises(NotPublished, match="no longer those this text was made from"):
        store.nodes.publish(session, replace(leaf(rows[4:8]), prints=b"x"))
    with pytest.raises(NotPublished, match="no longer those this text was made from"):
        store.nodes.publish(session, replace(leaf(rows[4:8]), rows=3))
    assert len(store.nodes.standing(session)) == 1


def test_nothing_is_published_on_nodes_that_leave_a_message_out(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(12))
    first, second = covered(store, session, 3, 7)
    with store.database.write() as work:
        work.run("DELETE FROM node WHERE id = ?", (first.id,))
    with pytest.raises(
        NotPublished, match=rf"node {second.id} covers messages from 4 on; 0 is the one that comes next"
    ):
        store.nodes.publish(session, leaf(store.nodes.rows(session, 8, 11)))
    assert store.nodes.standing(session) == [second]


def test_nodes_that_do_not_stand_side_by_side_are_not_put_under_one(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(12))
    one, two, three = covered(store, session, 3, 7, 9)
    for group in ([one, three], [two, one], [one], [replace(one, id="n00000000"), two]):
        with pytest.raises(NotPublished, match="side by side"):
            store.nodes.publish(session, over(group))
    assert store.nodes.standing(session) == [one, two, three]


def test_a_text_made_from_messages_that_were_edited_meanwhile_is_refused(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(8))
    covered(store, session, 3)
    ready = leaf(store.nodes.rows(session, 4, 7))
    store.align(session, [*talk(5), said("something else", "assistant"), *talk(8)[6:]])
    with pytest.raises(NotPublished, match="no longer those"):
        store.nodes.publish(session, ready)
    store.align(session, [said("not what it was"), *(row.message.to_dict() for row in store.nodes.rows(session, 1, 7))])
    with pytest.raises(NotPublished, match="edited meanwhile"):
        store.nodes.publish(session, leaf(store.nodes.rows(session, 4, 7)))


class Fails(Work):
    """A transaction whose n-th statement fails."""

    def __init__(self, work: Work, left: list[int]) -> None:
        self._work, self._left = work, left

    def all(self, sql: str, values: Values = ()) -> Any:
        self._count()
        return self._work.all(sql, values)

    def run(self, sql: str, values: Values = ()) -> int:
        self._count()
        return self._work.run(sql, values)

    def many(self, sql: str, rows: Any) -> None:
        self._count()
        self._work.many(sql, rows)

    def _count(self) -> None:
        self._left[0] -= 1
        if self._left[0] == 0:
            raise InterruptedError("the disk is gone")


@contextmanager
def failing_at(database: Database, statement: int) -> Iterator[list[int]]:
    """While the block runs, the n-th statement inside a writing transaction fails; how many are left to it."""
    left, write = [statement], database.write

    @contextmanager
    def failing() -> Iterator[Work]:
        with write() as work:
            yield Fails(work, left)

    database.write = failing  # type: ignore[method-assign]
    try:
        yield left
    finally:
        del database.write  # type: ignore[method-assign]


@pytest.mark.parametrize("kind", ["leaf", "over nodes", "better leaf", "better above"])
def test_a_publication_that_fails_at_any_statement_never_happened(store: Store, kind: str) -> None:
    session = store.open_session()
    store.append(session, talk(16))
    leaves = covered(store, session, 3, 7, 11)
    above = store.nodes.publish(session, over(leaves[:2]))
    draft = {
        "leaf": leaf(store.nodes.rows(session, 12, 15)),
        "over nodes": over([above, leaves[2]]),
        "better leaf": leaf(store.nodes.rows(session, 0, 3), "better", replaces=leaves[0].id),
        "better above": over(leaves[:2], "better", replaces=above.id),
    }[kind]
    before = (store.nodes.standing(session), store.nodes.leaves(session))
    tried = 0
    for statement in range(1, 1_000):
        with failing_at(store.database, statement) as left:
            try:
                store.nodes.publish(session, draft)
            except InterruptedError:
                tried += 1
                assert (store.nodes.standing(session), store.nodes.leaves(session)) == before
                assert store.nodes.flaws(session) == []
                continue
        assert left[0] > 0
        break
    assert tried >= 5
    assert (store.nodes.standing(session), store.nodes.leaves(session)) != before
    assert store.nodes.flaws(session) == []
    assert findings(store) == []


def test_after_an_edit_the_nodes_still_cover_everything_and_know_they_are_stale(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(12))
    leaves = covered(store, session, 3, 7, 9)
    above = store.nodes.publish(session, over(leaves[:2]))
    assert not store.nodes.settle(session)
    now = talk(12)
    now[5] = said("edited", "assistant")
    assert store.align(session, now).revised == 1
    assert findings(store) == []  # not fitted yet is not damaged
    assert store.nodes.settle(session)
    assert store.nodes.flaws(session) == []
    ailing = {node.id: node.stale for node in store.nodes.ailing(session, 9, degraded=False)}
    assert ailing == {leaves[1].id: True, above.id: True}
    assert texts(store.nodes.rows(session, 4, 7))[1] == "edited"
    assert not store.nodes.settle(session)


def test_a_message_put_in_between_belongs_to_the_leaf_behind_it(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(10))
    covered(store, session, 3, 7)
    now = talk(10)
    store.align(session, [*now[:4], said("put in"), *now[4:]])
    assert store.nodes.settle(session)
    assert [(node.first, node.last, node.rows, node.stale) for node in store.nodes.standing(session)] == [
        (0, 3, 4, False), (4, 8, 5, True),
    ]  # fmt: skip
    assert store.nodes.flaws(session) == []


def test_turns_that_were_taken_back_leave_the_nodes(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(12))
    covered(store, session, 3, 7, 11)
    store.undo(session, turns=3)  # messages 6 to 11
    assert store.nodes.settle(session)
    assert [(node.first, node.last, node.rows, node.stale) for node in store.nodes.standing(session)] == [
        (0, 3, 4, False), (4, 5, 2, True),
    ]  # fmt: skip
    store.append(session, [said("anew")])
    assert store.nodes.flaws(session) == []
    rows = store.nodes.rows(session, 6, 99)
    assert texts(rows) == ["anew"]
    store.nodes.publish(session, leaf(rows))
    assert findings(store) == []


def test_a_branch_has_nodes_of_its_own_over_what_it_shares(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(8))
    covered(store, session, 3)
    branch = store.branch(session, upto=6)
    store.append(branch, [said("another way"), said("indeed", "assistant")])
    assert store.nodes.standing(branch) == []
    assert texts(store.nodes.rows(branch, 4, 6)) == ["message 4", "message 5", "another way"]
    covered(store, branch, 4, 6)
    assert store.nodes.flaws(branch) == []
    assert findings(store) == []
    care.forget(store, session, reason="asked")
    assert store.nodes.standing(branch) == []
    assert findings(store) == []


def test_an_export_takes_the_nodes_along_under_the_same_ids(store: Store, tmp_path: Path) -> None:
    session = store.open_session(id="carried")
    store.append(session, talk(12))
    leaves = covered(store, session, 3, 7, 9)
    above = store.nodes.publish(session, over(leaves[:2]))
    store.nodes.publish(session, leaf(store.nodes.rows(session, 0, 3), "better", replaces=leaves[0].id))
    lines = list(export(store, session))
    with open_store(tmp_path / "other.db") as other:
        assert restore(other, lines) == ("carried", True)
        assert other.nodes.standing("carried") == store.nodes.standing(session)
        assert other.nodes.sources("carried", above.id) == store.nodes.sources(session, above.id)
        assert other.nodes.find("carried", leaves[0].id) == store.nodes.find(session, leaves[0].id)
        assert other.nodes.flaws("carried") == []
        assert findings(other) == []


def test_a_forgotten_conversation_takes_its_nodes_and_names_with_it(store: Store) -> None:
    session = store.open_session()
    store.append(session, talk(8))
    [node] = covered(store, session, 7)
    store.nodes.host("elsewhere-1", session)
    assert store.nodes.hosted("elsewhere-1") == store.conversation(session).id
    care.forget(store, session, reason="asked")
    assert store.nodes.by_any(node.id) is None
    assert store.nodes.hosted("elsewhere-1") is None
    with store.database.read() as work:
        assert work.all("SELECT COUNT(*) FROM node") == [(0,)]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("UPDATE node SET prints = last_row WHERE id = '{}'", "was not made from messages 0 to 3"),
        ("DELETE FROM node WHERE id = '{}'", "is in 0 leaves"),
        ("UPDATE node SET parent = 999 WHERE id = '{}'", "below a node that are not there"),
        ("UPDATE node SET last_row = last_row + 1 WHERE id = '{}'", "message 4 is in 2 leaves"),
    ],
)
def test_nodes_that_do_not_fit_are_found_and_removed_by_mending(tmp_path: Path, damage: str, says: str) -> None:
    with open_store(tmp_path / "my.db") as store:
        session = store.open_session()
        store.append(session, talk(8))
        first, _ = covered(store, session, 3, 7)
        with store.database.write() as work:
            work.run(damage.format(first.id))
        wrong = findings(store)
        assert {finding.kind for finding in wrong} == {Kind.POINTER}
        assert any(says in finding.what for finding in wrong)
        assert any("summaries that did not fit" in done for done in care.mend(store))
        assert findings(store) == []
        assert len(list(store.history(session))) == 8


def test_a_store_in_memory_does_what_one_on_a_disk_does() -> None:
    store = memory_store()
    session = store.open_session()
    store.append(session, [*talk(5), said("long " * 20_000)])
    covered(store, session, 3)
    assert store.nodes.flaws(session) == []
    assert findings(store) == []
    with pytest.raises(InterruptedError), failing_at(store.database, 3):
        care.mend(store)
    assert len(store.nodes.standing(session)) == 1
    store.close()

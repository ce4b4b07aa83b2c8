"""A store is proven whole, mended where something is derived, and forgets for good."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from clew.facts.usage import Usage
from clew.store import care
from clew.store.address import open_store
from clew.store.blobs import Files
from clew.store.check import Kind, findings
from clew.store.ledger import Call
from clew.store.store import Store
from clew.store.trouble import NotFound


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def filled(store: Store) -> str:
    """A conversation with long and short messages, big output, a pointer, an edit and two compactions."""
    session = store.open_session(title="filled", system="be brief")
    pointer = store.spill("first line\nthe needle\n" * 10)
    store.append(session, [user("one"), user("long " * 3000), user("huge\n" * 20_000), user(f"see {pointer}")])
    store.align(session, [user("one, edited"), *(said.message for said in store.messages(session)[1:])])
    for n in range(2):
        seen = [said.message for said in store.messages(session)]
        session = store.continue_session(session, [user(f"summary {n}"), seen[-1]], upto=len(seen))
        store.append(session, [user(f"after {n}")])
    store.record(session, Call(Usage(input=10, output=2), model="m"))
    return session


def test_a_store_in_use_is_whole(store: Store) -> None:
    filled(store)
    heard: list[int] = []
    assert findings(store, heard.append) == []
    assert heard
    assert heard[-1] == store.behind((0, 0))


def test_a_running_hash_that_does_not_fit_is_found_and_made_again(store: Store) -> None:
    session = filled(store)
    with store.database.write() as work:
        work.run("UPDATE message SET chain = ? WHERE place = 1 AND standing = 1", (b"x" * 16,))
    assert [(wrong.kind, "from message 1 on" in wrong.what) for wrong in findings(store)] == [(Kind.CHAIN, True)]
    assert len(care.mend(store)) == 1
    assert findings(store) == []
    assert store.recognise([said.message for said in store.history(session)]) is not None


@pytest.mark.parametrize("place", [0, 1])
def test_a_message_changed_behind_our_back_is_named(store: Store, place: int) -> None:
    filled(store)
    with store.database.write() as work:
        work.run(
            "UPDATE message SET body = ?, content = NULL WHERE place = ? AND standing = 1",
            (b'{"role":"user","content":"forged"}', place),
        )
    wrong = [finding for finding in findings(store) if finding.kind is Kind.TEXT]
    assert [f"message {place} was changed" in finding.what for finding in wrong] == [True]


def test_a_text_that_is_gone_is_named_and_after_mending_a_note_stands_there(store: Store) -> None:
    session = filled(store)
    with store.database.write() as work:
        work.run("DELETE FROM content")
    assert any("message 1 cannot be read" in wrong.what for wrong in findings(store))
    care.mend(store)
    assert findings(store) == []
    assert "was lost" in list(store.history(session))[1].message["content"]


def test_texts_whose_message_was_lost_are_kept_in_a_conversation_of_their_own(store: Store) -> None:
    session = store.open_session()
    store.append(session, [user("short"), user("long " * 3000)])
    with store.database.write() as work:
        work.run("DELETE FROM message WHERE place = 1")
    assert [wrong.kind for wrong in findings(store)] == [Kind.LEFTOVER]
    care.mend(store)
    assert findings(store) == []
    kept = [said.message for one in store.conversations() for said in store.history(one.id)]
    assert user("long " * 3000) in kept


def test_a_tip_that_is_not_there_is_found_and_set_to_the_newest_session(store: Store) -> None:
    session = filled(store)
    with store.database.write() as work:
        work.run("UPDATE conversation SET tip = 'nowhere'")
    assert [wrong.kind for wrong in findings(store)] == [Kind.POINTER]
    care.mend(store)
    assert findings(store) == []
    assert store.get_compression_tip(session) == session


def test_a_compaction_that_opened_nothing_is_found(store: Store) -> None:
    session = store.open_session()
    store.append(session, [user("one")])
    with store.database.write() as work:
        work.run("UPDATE session SET ended = 1, end_reason = 'compression'")
    assert [wrong.kind for wrong in findings(store)] == [Kind.POINTER]


def test_a_blob_with_other_bytes_or_none_is_found(store: Store) -> None:
    session = store.open_session()
    pointer = store.spill("the whole output")
    store.append(session, [user(pointer)])
    name = pointer.removeprefix("blob:")
    if isinstance(store.shelf, Files):
        path = store.shelf.folder / name[:2] / name
        path.write_bytes(b"THE whole output")
    else:
        with store.database.write() as work:
            work.run("UPDATE blob_data SET data = ?", (b"THE whole output",))
    assert [wrong.where for wrong in findings(store)] == [f"blob {name}"]
    store.shelf.remove(name)
    assert ["there is no blob" in wrong.what for wrong in findings(store)] == [True]


def test_forgetting_takes_everything_but_the_cost_and_leaves_a_tombstone(store: Store) -> None:
    session = filled(store)
    other = store.open_session(title="other")
    store.append(other, [user("long " * 3000), user("stays")])
    delegated = store.delegate(session)
    store.append(delegated, [user("for the helper")])
    branch = store.branch(session)
    store.append(branch, [user("in the branch")])

    gone = care.forget(store, session, reason="asked by the person")

    assert set(gone.conversations) == {session.rsplit(".", 1)[0], delegated.rsplit(".", 1)[0]}
    assert gone.blobs == 2
    assert findings(store) == []
    for forgotten in (session, delegated):
        with pytest.raises(NotFound, match=r"was forgotten on .*asked by the person"):
            store.messages(forgotten)
    assert [said.message for said in store.messages(other)] == [user("long " * 3000), user("stays")]
    assert [said.message for said in store.messages(branch)] == [user("in the branch")]
    assert list(store.shelf.names()) == []
    total = store.spent()[0]
    assert (total.calls, total.usage.input) == (1, 10)
    assert [spent.key for spent in store.spent("conversation")] == ["(forgotten)"]


def test_no_byte_of_what_was_forgotten_stays_in_the_files(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        session = store.open_session(title="xylophone title")
        words = [user("xylophone short"), user("xylophone " * 600), user("xylophone\n" * 20_000)]
        store.append(session, [*words, user(store.spill("xylophone spilled"))])
        assert any(b"xylophone" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        care.forget(store, session, reason="asked")
        left = [path for path in tmp_path.rglob("*") if path.is_file() and b"xylophone" in path.read_bytes()]
    assert left == []


def test_retention_takes_what_has_been_quiet_for_long_enough(store: Store) -> None:
    old, new = store.open_session(source="automation"), store.open_session()
    helper = store.delegate(old)
    for session in (old, new, helper):
        store.append(session, [user("hello")])
    later = time.time() + 40 * care.DAY
    store.append(new, [user("again")])
    with store.database.write() as work:
        work.run("UPDATE message SET at = at + ? WHERE seq = (SELECT MAX(seq) FROM message)", (39 * care.DAY,))
    quiet = [one.id for one in care.inactive(store, days=30, now=later)]
    assert quiet == [old.rsplit(".", 1)[0]]  # the helper's goes with the conversation it worked for
    assert care.inactive(store, days=30, source="chat", now=later) == []


def test_only_blobs_that_nothing_points_to_and_no_one_wanted_lately_are_collected(store: Store) -> None:
    session = store.open_session()
    used, loose = store.spill("used"), store.spill("loose")
    stray = store.shelf.put(b"put, then the process died")
    store.append(session, [user(used)])
    assert care.collect(store) == []
    found = sorted([loose.removeprefix("blob:"), stray])
    assert care.collect(store, older_than=-60, dry_run=True) == found
    assert store.read_blob(loose) == b"loose"
    assert care.collect(store, older_than=-60) == found
    assert [name for name, _ in store.shelf.names()] == [used.removeprefix("blob:")]
    with pytest.raises(NotFound):
        store.read_blob(loose)
    assert findings(store) == []


def test_a_big_text_forgotten_while_someone_waits_to_say_it_again_is_kept_anew(store: Store) -> None:
    big = user("the same big text\n" * 4_000)
    first, second = store.open_session(), store.open_session()
    store.append(first, [big])
    put, forgotten = store.shelf.put, []

    def put_then_forgotten(data: bytes) -> str:
        name = put(data)
        if not forgotten:
            forgotten.append(care.forget(store, first, reason="asked"))
        return name

    store.shelf.put = put_then_forgotten  # type: ignore[method-assign]
    store.append(second, [big])
    assert forgotten[0].blobs == 1
    assert [said.message for said in store.messages(second)] == [big]
    assert findings(store) == []

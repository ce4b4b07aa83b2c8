"""The lossless engine through restarts, replays, edits and the sessions of its hosts: no row added, none lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clew import LosslessEngine, estimate_tokens, open_store
from clew.core.effects import Consult
from clew.engines.compressor import Compressor
from clew.engines.hosted import Hosted, spelled
from clew.engines.lossless.blocks import node_of
from clew.facts.budget import share_out
from clew.facts.messages import read_message, read_messages
from clew.facts.model import Policy, Window
from clew.runtime import sessions
from clew.runtime.drive import drive
from clew.runtime.lossless_footing import Footing
from clew.runtime.scales import Scale
from clew.store.check import findings
from clew.store.store import Store
from tests.runtime.lossless_histories import (
    FILLER,
    SMALL,
    blocks,
    call,
    count_rows,
    grown,
    problems,
    proof,
    rows_of,
    summary,
    turns,
)

# Restart, replay, edits


def test_a_new_engine_over_the_same_store_goes_on(tmp_path: Path) -> None:
    said = turns(120)
    with open_store(tmp_path / "my.db") as store:
        first = LosslessEngine(SMALL, store)
        first.on_session_start("host-1")
        live = grown(first, said[:240])
        first.remember(live)
        rows, nodes = count_rows(first), store.nodes.standing(first.session or "")
    with open_store(tmp_path / "my.db") as store:
        second = LosslessEngine(SMALL, store)
        second.on_session_start("host-1")
        second.remember(live)
        assert count_rows(second) == rows == 240
        assert store.nodes.standing(second.session or "") == nodes
        live = second.compress([*live, *said[240:]])
        assert rows_of(second) == said
        assert proof(second) == []


@pytest.mark.parametrize("handed", ["the view", "everything"])
def test_without_an_id_a_list_is_known_by_its_summaries_or_its_beginning(tmp_path: Path, handed: str) -> None:
    said = turns(60)
    with open_store(tmp_path / "my.db") as store:
        live = grown(LosslessEngine(SMALL, store), said)
        again = LosslessEngine(SMALL, store)
        again.remember(live)
        other = LosslessEngine(SMALL, store)
        other.compress(live if handed == "the view" else said)
        assert count_rows(other) == len(said)
        assert len(store.conversations()) == 1


def test_another_conversation_that_begins_alike_is_another(tmp_path: Path) -> None:
    with open_store(tmp_path / "my.db") as store:
        one, two = LosslessEngine(SMALL, store), LosslessEngine(SMALL, store)
        one.compress([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello!"}])
        two.compress([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Good day!"}])
        assert one.session != two.session


def test_a_list_sent_again_adds_nothing(tmp_path: Path) -> None:
    said = turns(80)
    with open_store(tmp_path / "my.db") as store:
        engine = LosslessEngine(SMALL, store)
        engine.on_session_start("s")
        live = grown(engine, said)
        for handed in (live, said, live[:-3], said[:40], live, said):
            engine.remember(handed)
            assert count_rows(engine) == len(said)
        made = engine.compress(said)
        assert blocks(made)
        assert estimate_tokens(made) < engine.threshold_tokens
        assert count_rows(engine) == len(said)
        assert proof(engine) == []


def test_a_host_that_clears_old_output_makes_revisions_and_its_summaries_are_written_again(tmp_path: Path) -> None:
    said = turns(80)
    with open_store(tmp_path / "my.db") as store:
        first = LosslessEngine(SMALL, store)
        first.on_session_start("s")
        grown(first, said)
        first.remember(said)
        cleared = [
            {**one, "content": "[cleared]"} if one["role"] == "tool" and n < 200 else one for n, one in enumerate(said)
        ]
        engine = LosslessEngine(SMALL, store)  # restarted
        engine.on_session_start("s")
        made = engine.compress(cleared)
        assert problems(made) == []
        assert rows_of(engine) == cleared
        assert count_rows(engine) == len(said) + 50  # the old readings stay beside the new ones
        assert proof(engine) == []
        for _ in range(20):
            engine.compress(cleared)
            if not store.nodes.ailing(engine.session or "", 1, degraded=False):
                break
        assert store.nodes.ailing(engine.session or "", 9, degraded=False) == []
        leaf = next(node for node in store.nodes.leaves(engine.session or ""))
        assert "E0Error" not in leaf.text
        assert count_rows(engine) == len(said) + 50


def test_identical_messages_and_reused_call_ids_are_all_kept(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = []
    for _ in range(120):
        said += [
            {"role": "user", "content": "again " + FILLER * 3},
            {"role": "assistant", "content": None, "tool_calls": [call(1, "terminal", command="make")]},
            {"role": "tool", "tool_call_id": "call_1", "name": "terminal", "content": "ok " + FILLER * 3},
            {"role": "assistant", "content": "done"},
        ]
    with open_store(tmp_path / "my.db") as store:
        engine = LosslessEngine(SMALL, store)
        live = grown(engine, said)
        engine.remember(live)
        assert rows_of(engine) == said
        assert proof(engine) == []
        engine.compress(said)
        assert count_rows(engine) == len(said)


def test_a_host_that_does_not_take_a_compaction_loses_and_doubles_nothing() -> None:
    said = turns(160)
    engine = LosslessEngine(SMALL)
    live = grown(engine, said[:480])
    kept = [*live, *said[480:520]]
    engine.compress(kept)
    engine.compress(kept)  # the first one was not taken
    live = engine.compress([*kept, *said[520:]])
    assert rows_of(engine) == said
    assert count_rows(engine) == len(said)
    assert proof(engine) == []


def test_nodes_of_a_pass_that_was_never_shown_are_used_by_the_next(tmp_path: Path) -> None:
    asked: list[str] = []
    said = turns(60, 150)

    def summarise(prompt: str) -> str:
        asked.append(prompt)
        return summary(prompt)

    with open_store(tmp_path / "my.db") as store:
        engine = LosslessEngine(SMALL, store, summarise)
        engine.on_session_start("s")
        engine._at.go_on = lambda messages: (_ for _ in ()).throw(KeyboardInterrupt)  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt):
            engine.compress(said)
        times, nodes = len(asked), store.nodes.standing(engine.session or "")
        assert times
        again = LosslessEngine(SMALL, store, summarise)
        again.on_session_start("s")
        made = again.compress(said)
        assert len(asked) == times
        assert [node_of(read_message(one)) for one in made if node_of(read_message(one))] == [node.id for node in nodes]
        assert rows_of(again) == said


# Sessions of a host


def test_one_conversation_goes_on_over_the_sessions_of_a_foreign_host(tmp_path: Path) -> None:
    said = turns(160)
    with open_store(tmp_path / "my.db") as store:
        engine = LosslessEngine(SMALL, store)
        engine.on_session_start("a", platform="cli")
        live: list[dict[str, Any]] = []
        ids = ["a"]
        for start in range(0, len(said), 4):
            live += said[start : start + 4]
            if engine.should_compress_preflight(live):
                live = engine.compress(live)
                ids.append(f"{ids[-1]}+")
                engine.on_session_start(ids[-1], boundary_reason="compression", old_session_id=ids[-2])
        assert len(ids) > 3
        assert len(store.conversations()) == 1
        later = LosslessEngine(SMALL, store)
        later.on_session_start(ids[-1])
        later.remember(live)
        assert rows_of(later) == said
        after = LosslessEngine(SMALL, store)  # restarted at the very moment of a compaction
        after.on_session_start("renamed", boundary_reason="compression", old_session_id=ids[-1])
        after.remember(live)
        assert after.session == later.session
        later.on_session_reset()
        later.on_session_start("b", old_session_id=ids[-1])
        later.remember(turns(2))
        assert len(store.conversations()) == 2
        assert rows_of(later) == turns(2)


def test_a_foreign_host_that_branches_leaves_the_other_line_as_it_was(tmp_path: Path) -> None:
    said = turns(60)
    with open_store(tmp_path / "my.db") as store:
        engine = LosslessEngine(SMALL, store)
        engine.on_session_start("a")
        live = grown(engine, said)
        engine.remember(live)
        before = rows_of(engine)
        engine.on_session_start("b", old_session_id="a", boundary_reason="branch")
        other = [*live, *turns(40, start=500)]
        made = engine.compress(other)
        assert problems(made) == []
        assert proof(engine) == []
        assert len(store.conversations()) == 2
        assert rows_of(engine) == turns(40, start=500)
        for word in ("main_2.py", "main_510.py"):
            assert json.loads(engine.handle_tool_call("lcm_grep", {"query": word}))["total"] == 1
        engine.on_session_start("a")
        engine.remember([*live, *turns(1, start=900)])
        assert rows_of(engine) == [*before, *turns(1, start=900)]
        assert json.loads(engine.handle_tool_call("lcm_grep", {"query": "main_510.py"}))["total"] == 0
        assert findings(store) == []


def test_where_the_host_keeps_the_conversation_in_the_same_store_the_engine_adds_only_nodes(store: Store) -> None:
    said = turns(120)
    engine = LosslessEngine(SMALL, store)
    session = store.open_session(source="chat", system="Be brief.")
    engine.on_session_start(session)
    scale, budget = Scale(), share_out(Window(SMALL), Policy())
    host = Hosted("lossless", engine, scale, Compressor(Policy(), scale))
    for start in range(0, len(said), 4):
        store.append(session, said[start : start + 4])
        live = sessions.load(store, session, scale.message)
        if live.counted >= budget.trigger:
            asking = host.make_room(live.messages, budget, pinned=("The port is 8443.",))
            done = drive(asking, {Consult: lambda wish: wish.question()})
            assert done.progress
            assert done.notes == ()
            made = [one.to_dict() for one in done.messages]
            assert problems(made) == []
            assert "The port is 8443." in str(made)
            child = store.continue_session(session, made, upto=len(live.entries))
            engine.on_session_start(child, boundary_reason="compression", old_session_id=session)
            session = child
    assert engine.compression_count > 3
    assert [one.message for one in store.history(session)] == said
    assert count_rows(engine) == len(said)
    assert proof(engine) == []
    assert findings(store) == []
    assert len(store.conversations()) == 1


def test_a_branch_goes_on_with_what_it_shares(store: Store) -> None:
    engine = LosslessEngine(SMALL, store)
    session = store.open_session()
    engine.on_session_start(session)
    said = turns(40, 100)
    store.append(session, said)
    made = engine.compress([one.message for one in store.messages(session)])
    session = store.continue_session(session, made, upto=len(said))
    branch = store.branch(session)
    store.append(branch, turns(40, 100, start=40))
    engine.on_session_start(branch, boundary_reason="branch", old_session_id=session)
    made = engine.compress([one.message for one in store.messages(branch)])
    assert problems(made) == []
    assert estimate_tokens(made) < engine.threshold_tokens
    assert store.nodes.flaws(branch) == []
    for n in (3, 39, 79):  # compacted before the branch, shared with it, said in it
        found = json.loads(engine.handle_tool_call("lcm_grep", {"query": f"main_{n}.py"}))
        assert found["total"] == 1
        hit = found["groups"][0]["hits"][0]["id"]
        assert f"main_{n}.py" in json.loads(engine.handle_tool_call("lcm_expand", {"id": hit}))["text"]


def test_what_a_host_hangs_on_messages_does_not_hide_their_places(store: Store) -> None:
    session = store.open_session()
    store.append(session, turns(5))
    footing = Footing(store)
    footing.start(session, goes_on=False, old=None)
    handed = spelled(read_messages(one.message for one in store.messages(session)))
    assert handed != turns(5)
    seen = footing.stand(handed[:17])  # more was said meanwhile
    assert [one.place for one in seen.shown] == list(range(17))
    assert all(one.id for one in seen.shown)
    assert [one.message for one in store.history(session)] == turns(5)

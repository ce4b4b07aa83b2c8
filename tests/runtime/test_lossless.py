"""The lossless engine: nothing is lost, and what stands in the window is legal, small and mostly what it was."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import LosslessEngine, estimate_tokens, open_store
from clew.core.speaker import HANDOFF_READ
from clew.store.check import findings
from clew.testing import check_engine
from tests.histories import legal_histories, odd_histories
from tests.runtime.lossless_histories import (
    FILLER,
    SMALL,
    big,
    blocks,
    call,
    count_rows,
    grown,
    problems,
    proof,
    result,
    rows_of,
    summary,
    turn,
    turns,
)


@pytest.mark.parametrize("window", [8_000, 32_000])
def test_the_lossless_engine_keeps_the_contract(window: int) -> None:
    check_engine(lambda: LosslessEngine(window, summarise=summary))


def test_it_needs_no_arguments_and_a_copy_shares_its_store(tmp_path: Path) -> None:
    check_engine(LosslessEngine)
    with open_store(tmp_path / "my.db") as store:
        check_engine(LosslessEngine(32_000, store))


def test_every_message_is_in_the_log_once_and_in_one_leaf(tmp_path: Path) -> None:
    said = turns(150)
    with open_store(tmp_path / "my.db") as store:
        engine = LosslessEngine(SMALL, store)
        live = grown(engine, said)
        engine.remember(live)
        assert engine.compression_count > 5
        assert rows_of(engine) == said
        assert proof(engine) == []
        assert findings(store) == []
        session = engine.session or ""
        assert max(node.depth for node in store.nodes.standing(session)) >= 1
        firsts = [said[leaf.first] for leaf in store.nodes.leaves(session)]
        assert all(one["role"] != "tool" for one in firsts)  # no leaf begins with the result of another's call


def test_summaries_stand_in_the_order_of_time_and_the_newest_turn_word_for_word() -> None:
    engine, said = LosslessEngine(SMALL), turns(60)
    live = grown(engine, said)
    shown = engine.compress([*live, *turn(99), {"role": "user", "content": "And now, the last thing."}])
    spans = [text.partition("messages ")[2].partition(" ")[0].split("-") for text in blocks(shown)]
    places = [int(end) for span in spans for end in span]
    assert places == sorted(places)
    assert places[0] == 0
    assert shown[-1] == {"role": "user", "content": "And now, the last thing."}


def test_blocks_are_written_once_and_a_new_one_comes_behind_them() -> None:
    engine = LosslessEngine(64_000)
    live = grown(engine, turns(120, 200), by=40)
    before = blocks(live)
    after = blocks(engine.compress([*live, *turns(40, 200, start=120)]))
    assert len(after) > len(before) > 1
    assert after[: len(before)] == before


def test_a_conversation_in_alternating_roles_stays_one() -> None:
    talk = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} " + FILLER * 20} for n in range(120)]
    live = grown(LosslessEngine(SMALL), talk)
    roles = [said["role"] for said in live]
    assert all(one != two for one, two in pairwise(roles))
    assert HANDOFF_READ in [said["content"] for said in live]


def test_nothing_said_opens_no_conversation() -> None:
    engine = LosslessEngine(SMALL)
    assert engine.compress([]) == []
    assert engine.session is None
    assert engine.store.conversations() == []


def test_24_messages_of_16_000_tokens_come_below_the_trigger() -> None:
    words = " ".join(f"word{n}" for n in range(5_700))
    said = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} {words}"} for n in range(24)]
    assert estimate_tokens(said) > 24 * 15_000
    engine = LosslessEngine(200_000)
    made = engine.compress(said)
    assert estimate_tokens(made) < engine.threshold_tokens
    assert said[22] in made  # the newest request, whole
    assert problems(made) == []
    assert rows_of(engine) == said
    assert proof(engine) == []


def test_one_message_larger_than_the_window_is_shown_in_part_and_given_back_whole() -> None:
    said = [*turns(3), {"role": "user", "content": "Read this. " + "lorem ipsum dolor " * 20_000}]
    engine = LosslessEngine(SMALL)
    made = engine.compress(said)
    assert estimate_tokens(made) < engine.threshold_tokens
    assert problems(made) == []
    assert made[-1]["content"].startswith("Read this. ")
    assert rows_of(engine) == said


def test_many_large_results_of_one_exchange_leave_room_and_a_call_in_flight_is_not_touched() -> None:
    words = " ".join(f"word{n}" for n in range(1_500))
    calls = [call(n, "read_file", path=f"f{n}.txt") for n in range(12)]
    results = [result(n, "read_file", f"{n} {words}") for n in range(12)]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}
    said = [*turns(20, 100), {"role": "user", "content": "Read them all."}, asked, *results]
    engine = LosslessEngine(64_000)
    assert estimate_tokens(results) > engine.threshold_tokens
    made = engine.compress(said)
    assert estimate_tokens(made) < engine.threshold_tokens
    assert [one["tool_call_id"] for one in made[-12:]] == [one["id"] for one in calls]
    assert all("[left out: m" in one["content"] for one in made[-12:])
    assert problems(made) == []
    flying = {"role": "assistant", "content": None, "tool_calls": [call(99, "write_file", content=words * 9)]}
    assert engine.compress([*made, flying])[-1] == flying
    assert rows_of(engine) == [*said, flying]


def test_a_short_message_before_long_ones_does_not_stop_a_pass() -> None:
    said = [{"role": "user", "content": "Tell me all."}]
    said += [{"role": "assistant", "content": f"{n}" + FILLER * 700} for n in range(6)]
    said += [{"role": "user", "content": "And?"}]
    made = LosslessEngine(64_000).compress(said)
    assert estimate_tokens(made) < estimate_tokens(said) / 2


# Reversible first


def test_where_stubs_free_enough_nothing_is_summarised() -> None:
    asked: list[str] = []
    data = [json.dumps([{"name": f"row {n} {k}", "size": k} for k in range(800)]) for n in range(4)]
    said = [{"role": "user", "content": "Compare the files."}]
    said += [message for n, text in enumerate(data) for message in big(n, text)]
    said += [{"role": "assistant", "content": "They differ in size."}, {"role": "user", "content": "By how much?"}]
    engine = LosslessEngine(64_000, summarise=lambda prompt: asked.append(prompt) or "a summary")
    made = engine.compress(said)
    assert asked == []
    assert blocks(made) == []
    assert len(made) == len(said)
    stub = made[2]["content"]
    assert stub.startswith("[left out: m2-")
    assert "JSON: 800 × {name: “row 0 0”, size: 0}" in stub
    assert estimate_tokens(made) < estimate_tokens(said) / 3
    assert problems(made) == []
    talk = [{"role": role, "content": f"{n}" + FILLER * 40} for n in range(30) for role in ("assistant", "user")]
    again = engine.compress([*made, *talk])
    assert blocks(again)  # a leaf now covers the stubs, and is made from what they stand for
    assert rows_of(engine)[: len(said)] == said
    assert proof(engine) == []


def test_the_same_output_stays_once() -> None:
    text = "\n".join(f"{n} passed in {n} ms" for n in range(400))
    said = [{"role": "user", "content": "Run it until it passes."}]
    said += [message for n in range(12) for message in big(n, text)]
    said += [{"role": "user", "content": "Enough."}]
    made = LosslessEngine(64_000).compress(said)
    assert any("The same output came again as m" in str(one["content"]) for one in made)
    assert sum(one["content"] == text for one in made) >= 1


def test_huge_arguments_are_cut_and_stay_json() -> None:
    code = "\n".join(f"line_{n} = {n}" for n in range(4_000))
    said = [{"role": "user", "content": "Write it."}]
    for n in range(6):
        said += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [call(n, "write_file", path=f"f{n}.py", content=code)],
            },
            {"role": "tool", "tool_call_id": f"call_{n}", "name": "write_file", "content": "ok"},
        ]
    said += [{"role": "user", "content": "Thanks."}]
    engine = LosslessEngine(200_000)
    made = engine.compress(said)
    arguments = json.loads(made[1]["tool_calls"][0]["function"]["arguments"])
    assert arguments["path"] == "f0.py"
    assert "[left out: m1-" in arguments["content"]
    engine.compress([*made, *turns(120, 200)])
    assert rows_of(engine)[: len(said)] == said


# Laws


@settings(max_examples=20)
@given(history=legal_histories(least=2, most=14), window=st.sampled_from([8_000, 12_000]), cut=st.integers(1, 9))
def test_any_history_stays_whole_legal_and_no_heavier(history: list[dict[str, Any]], window: int, cut: int) -> None:
    engine = LosslessEngine(window)
    first = engine.compress(history[:cut])
    live = engine.compress([*first, *history[cut:]])
    # in the law's words: no row added, none lost, every row up to the frontier in one leaf, legal for everyone
    assert rows_of(engine) == history
    assert proof(engine) == []
    if not problems(history):
        assert problems(live) == []
    assert estimate_tokens(live) <= max(estimate_tokens(history) * 1.1, 600)
    again = engine.compress(live)
    assert rows_of(engine) == history
    assert count_rows(engine) == len(history)
    if not problems(history):
        assert problems(again) == []
    engine.close()


@settings(max_examples=40)
@given(history=odd_histories)
def test_anything_with_a_role_is_taken_and_given_back(history: list[dict[str, Any]]) -> None:
    engine = LosslessEngine(8_000)
    made = engine.compress(history)
    assert rows_of(engine) == history if history else True
    assert isinstance(made, list)
    engine.close()


def test_messages_that_a_summary_would_not_shorten_get_none() -> None:
    said = [
        {"role": "user", "content": "Tell me. " + "Is it so? " * 90},
        {"role": "assistant", "content": "It is so. " * 150},
        {"role": "user", "content": "Thanks."},
    ]
    engine = LosslessEngine(8_000, summarise=lambda prompt: "## Goal\n" + "to be told " * 90)
    assert engine.compress(said) == [{**one, "content": one["content"]} for one in said]
    assert engine.store.nodes.standing(engine.session or "") == []

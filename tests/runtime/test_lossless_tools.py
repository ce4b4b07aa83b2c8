"""The four tools: every fact is found by one search, every byte comes back, and no call ends in an exception."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import LosslessEngine, estimate_tokens, open_store
from clew.engines.lossless.blocks import node_of
from clew.facts.messages import read_message
from tests.histories import legal_histories, odd_histories
from tests.runtime.lossless_histories import call, grown, result, turns

SMALL = 16_000
TURNS = 110


def ask(engine: LosslessEngine, name: str, **args: Any) -> dict[str, Any]:
    answer = json.loads(engine.handle_tool_call(name, args))
    assert isinstance(answer, dict)
    return answer


@pytest.fixture(scope="module")
def engine() -> LosslessEngine:
    """A conversation of which most has left the window; no model ever answered."""
    engine = LosslessEngine(SMALL)
    engine.remember(grown(engine, turns(TURNS)))
    return engine


def test_there_are_four_tools_and_they_cost_little() -> None:
    schemas = LosslessEngine().get_tool_schemas()
    assert [schema["name"] for schema in schemas] == ["lcm_grep", "lcm_describe", "lcm_expand", "lcm_recall"]
    wrapped = [{"type": "function", "function": schema} for schema in schemas]
    assert estimate_tokens([], tools=wrapped) <= 1_200


def test_every_path_identifier_and_error_is_found_by_one_search(engine: LosslessEngine) -> None:
    for n in range(TURNS):
        for word in (f"src/part_{n}/main_{n}.py", f"deploy_key_{n}", f"E{n}Error", f"value_{n}", f"case_{n}"):
            found = ask(engine, "lcm_grep", query=word)
            assert found["total"] == 1, word
            assert found["complete"]
            [group] = found["groups"]
            [hit] = group["hits"]
            place = int(hit["id"][1:].partition("-")[0])
            assert place // 4 == n
            if group["summary"]:
                first, last = map(int, group["messages"].split("-"))
                assert first <= place <= last


def test_hits_are_grouped_by_the_summary_that_covers_them_and_all_are_counted(engine: LosslessEngine) -> None:
    found = ask(engine, "lcm_grep", query="renamed", limit=200)
    assert found["total"] == found["shown"] == TURNS
    assert len([group for group in found["groups"] if group["summary"]]) > 2
    few = ask(engine, "lcm_grep", query="renamed", limit=3)
    assert (few["total"], few["shown"]) == (TURNS, 3)


def test_nothing_found_is_said_with_what_was_searched(engine: LosslessEngine) -> None:
    found = ask(engine, "lcm_grep", query="xylophone")
    assert (found["total"], found["groups"], found["complete"]) == (0, [], True)
    assert found["answer"] == f"no match: all {TURNS * 4} messages of this scope were searched"


def test_a_search_can_be_narrowed(engine: LosslessEngine) -> None:
    node = engine.store.nodes.leaves(engine.session or "")[1]
    inside = ask(engine, "lcm_grep", query="renamed", scope=node.id, limit=200)
    assert inside["total"] == sum(1 for n in range(TURNS) if node.first <= 4 * n + 3 <= node.last) > 0
    assert inside["searched"] == node.rows
    assert {group["summary"] for group in inside["groups"]} == {node.id}
    by_role = ask(engine, "lcm_grep", query="case_7", role="tool")
    assert by_role["total"] == 0
    assert ask(engine, "lcm_grep", query="case_7", role="assistant")["total"] == 1
    assert ask(engine, "lcm_grep", query="case_7", time="2001-01-01..2001-12-31")["total"] == 0
    assert ask(engine, "lcm_grep", query="case_7", time="2001-01-01..")["total"] == 1
    assert ask(engine, "lcm_grep", query="Step 7: look", mode="exact")["total"] == 1
    assert ask(engine, "lcm_grep", query="step 7: LOOK", mode="exact")["total"] == 0
    assert ask(engine, "lcm_grep", query="step 7: LOOK")["total"] >= 1


def test_other_conversations_of_the_store_are_searched_only_when_asked(tmp_path: Path) -> None:
    with open_store(tmp_path / "my.db") as store:
        other = store.open_session(id="20260101-0a0b0c0d")
        store.append(other, [{"role": "user", "content": "the wombat is in wombat.py"}])
        engine = LosslessEngine(SMALL, store)
        engine.remember(turns(3))
        assert ask(engine, "lcm_grep", query="wombat")["total"] == 0
        found = ask(engine, "lcm_grep", query="wombat", scope="all")
        [group] = found["groups"]
        assert group["conversation"] == "20260101-0a0b0c0d"
        assert ask(engine, "lcm_expand", id=group["hits"][0]["id"])["text"] == "the wombat is in wombat.py"


def test_a_question_is_answered_with_passages_within_a_budget(engine: LosslessEngine) -> None:
    answer = ask(engine, "lcm_recall", question="Which key was renamed in step 17, deploy_key_17?", max_tokens=600)
    assert "deploy_key_17 was renamed" in answer["passages"][0]["text"]
    assert sum(estimate_tokens([{"role": "user", "content": one["text"]}]) for one in answer["passages"]) <= 600
    assert ask(engine, "lcm_expand", id=answer["passages"][0]["id"])["text"].startswith("Step 17 is done")
    none = ask(engine, "lcm_recall", question="xylophone")
    assert none["passages"] == []
    assert none["complete"]
    assert f"nothing found in {TURNS * 4} messages" in none["answer"]


def test_a_summary_is_described_with_its_lineage(engine: LosslessEngine) -> None:
    session = engine.session or ""
    top = max(engine.store.nodes.standing(session), key=lambda node: node.depth)
    assert top.depth > 0
    told = ask(engine, "lcm_describe", id=top.id)
    assert told["summary"] == top.text
    assert (told["messages"], told["count"], told["degraded"]) == (f"{top.first}-{top.last}", top.rows, True)
    below = ask(engine, "lcm_describe", id=told["made_from"][0]["id"])
    assert below["above"] == top.id


@pytest.mark.parametrize("around", ["{}", "[{}]", "[CONTEXT COMPACTION {} | messages 0-3 (4)]", " `{}`. "])
def test_ids_are_taken_as_the_prompt_shows_them(engine: LosslessEngine, around: str) -> None:
    node = engine.store.nodes.standing(engine.session or "")[0]
    assert ask(engine, "lcm_describe", id=around.format(node.id))["id"] == node.id
    assert ask(engine, "lcm_expand", id=around.format("m4"))["text"].startswith("Step 1: look")
    full = ask(engine, "lcm_expand", id="m4")["id"]
    assert ask(engine, "lcm_expand", id=around.format(full))["id"] == full


def test_places_behind_a_line_of_a_summary_lead_to_the_message(engine: LosslessEngine) -> None:
    text = "\n".join(leaf.text for leaf in engine.store.nodes.leaves(engine.session or ""))
    told = re.findall(r"pytest -k case_(\d+).* (@\d+)$", text, re.MULTILINE)
    assert len(told) > 20
    for number, place in told:
        assert place == f"@{4 * int(number) + 1}"
        assert f"pytest -k case_{number}" in ask(engine, "lcm_expand", id=place)["text"]


def test_a_stub_names_what_gives_the_whole_output_back() -> None:
    table = "name,size\n" + "\n".join(f"file_{n}.txt,{n}" for n in range(3_000))
    asked = {"role": "assistant", "content": None, "tool_calls": [call(1, "read_file", path="sizes.csv")]}
    said = [{"role": "user", "content": "Read it."}, asked, result(1, "read_file", table), *turns(4)]
    engine = LosslessEngine(SMALL)
    stub = next(one["content"] for one in engine.compress(said) if one.get("tool_call_id") == "call_1")
    assert "table of 3,001 lines, 2 columns: name, size" in stub
    assert "".join(pages(engine, stub.partition(";")[0])) == table
    assert ask(engine, "lcm_describe", id=stub.partition(";")[0])["shape"].startswith("table of 3,001 lines")


def test_a_message_that_moved_is_still_found_by_its_id() -> None:
    engine = LosslessEngine(SMALL)
    engine.on_session_start("s")
    said = turns(10)
    engine.remember(said)
    known = ask(engine, "lcm_expand", id="m20")
    engine.remember([*said[:8], {"role": "user", "content": "put in between"}, *said[8:]])
    assert ask(engine, "lcm_expand", id=known["id"])["text"] == known["text"]
    assert ask(engine, "lcm_expand", id=known["id"])["id"].startswith("m21-")


def test_a_blob_that_a_message_points_to_is_described_found_and_read(tmp_path: Path) -> None:
    with open_store(tmp_path / "my.db") as store:
        pointer = store.spill("first line\n" + "the needle of the haystack\n" + "hay\n" * 9_000)
        engine = LosslessEngine(SMALL, store)
        engine.remember([*turns(2), {"role": "user", "content": f"It is in {pointer}"}])
        found = ask(engine, "lcm_grep", query="needle haystack")
        assert found["groups"][0]["hits"][0]["blob"] == pointer
        assert ask(engine, "lcm_describe", id=f"<{pointer}>")["characters"] > 30_000
        assert "".join(pages(engine, pointer)).startswith("first line\nthe needle")


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("lcm_nothing", {}),
        ("lcm_expand", {}),
        ("lcm_expand", {"id": None}),
        ("lcm_expand", {"id": "n00000000"}),
        ("lcm_expand", {"id": "m999999"}),
        ("lcm_expand", {"id": "blob:" + "0" * 32}),
        ("lcm_expand", {"id": "m1@20010101-00000000"}),
        ("lcm_describe", {"id": ["what", 7]}),
        ("lcm_grep", {"query": "x", "scope": "m1"}),
        ("lcm_grep", {"query": "x", "time": "yesterday"}),
    ],
)
def test_what_cannot_be_answered_is_said_with_what_to_do(engine: LosslessEngine, name: str, args: Any) -> None:
    answer = ask(engine, name, **args)
    assert answer["error"]
    assert answer["do"]


@settings(max_examples=60)
@given(
    name=st.sampled_from(["lcm_grep", "lcm_describe", "lcm_expand", "lcm_recall", "other"]),
    args=st.dictionaries(
        st.sampled_from(["query", "id", "question", "offset", "limit", "max_tokens", "mode", "scope", "time", "role"]),
        st.one_of(st.none(), st.integers(), st.text(max_size=30), st.lists(st.integers(), max_size=2), st.booleans()),
    ),
)
def test_no_call_raises(engine: LosslessEngine, name: str, args: dict[str, Any]) -> None:
    assert isinstance(json.loads(engine.handle_tool_call(name, args)), dict)
    assert isinstance(json.loads(LosslessEngine().handle_tool_call(name, args)), dict)


def pages(engine: LosslessEngine, id_: str, **args: Any) -> list[str]:
    """A text, page by page, each call with the arguments that the answer before gave."""
    found, wanted = [], {"id": id_, **args}
    while wanted:
        page = ask(engine, "lcm_expand", **wanted)
        assert page["of"] >= page["to"]
        found.append(page["text"])
        wanted = {**page["next"], **args, "id": page["next"]["id"]} if page["next"] else {}
    return found


def given_back(engine: LosslessEngine, page: int) -> list[dict[str, Any]]:
    """Everything under every summary, read page by page through the tool alone."""
    found: list[dict[str, Any]] = []
    for node in engine.store.nodes.standing(engine.session or ""):
        wanted: dict[str, Any] = {"id": node.id}
        while wanted:
            answer = ask(engine, "lcm_expand", **wanted, max_tokens=page)
            assert answer["complete"] == all("message" in one for one in answer["messages"])
            whole = [json.dumps(one["message"], ensure_ascii=False) for one in answer["messages"] if "message" in one]
            assert sum(map(engine.scale.text, whole)) <= page * 1.1
            for one in answer["messages"]:
                found.append(one["message"] if "message" in one else read_alone(engine, one["id"], page))
            wanted = answer["next"] or {}
    return found


def read_alone(engine: LosslessEngine, id_: str, page: int) -> dict[str, Any]:
    text = "".join(pages(engine, id_, max_tokens=page))
    first = ask(engine, "lcm_expand", id=id_, max_tokens=page)
    if first["form"] == "json":
        read: dict[str, Any] = json.loads(text)
        return read
    row = engine.store.nodes.rows(engine.session or "", int(id_[1:].partition("-")[0]), int(id_[1:].partition("-")[0]))
    return {**row[0].message.raw, "content": text}


@settings(max_examples=15)
@given(history=legal_histories(least=4, most=12), page=st.sampled_from([60, 400, 4_000]))
def test_what_came_in_comes_out_byte_for_byte(history: list[dict[str, Any]], page: int) -> None:
    engine = LosslessEngine(8_000)
    engine.compress(history, focus_topic="everything")
    back = given_back(engine, page)
    assert back == history[: len(back)]
    assert json.dumps(back) == json.dumps(history[: len(back)])
    engine.close()


@settings(max_examples=25)
@given(history=odd_histories)
def test_odd_messages_come_out_as_they_came_in(history: list[dict[str, Any]]) -> None:
    engine = LosslessEngine(8_000)
    engine.compress(history, focus_topic="everything")
    back = given_back(engine, 400) if engine.session else []
    assert back == history[: len(back)]
    engine.close()


def test_the_live_list_of_a_foreign_host_is_searched_too() -> None:
    engine = LosslessEngine(SMALL)
    engine.on_session_start("s")
    live = [{"role": "user", "content": "The wombat sleeps."}]
    found = json.loads(engine.handle_tool_call("lcm_grep", {"query": "wombat"}, messages=live))
    assert found["total"] == 1
    assert found["groups"][0]["in"] == "messages that no summary covers yet"


def test_the_ids_in_the_prompt_are_those_of_the_store() -> None:
    engine = LosslessEngine(SMALL)
    shown = grown(engine, turns(40))
    ids = [id_ for one in shown if (id_ := node_of(read_message(one)))]
    assert ids
    assert all(ask(engine, "lcm_describe", id=id_)["id"] == id_ for id_ in ids)


def test_a_question_does_not_find_itself():
    engine = LosslessEngine(context_length=32_000)
    function = {"name": "lcm_recall", "arguments": '{"question": "which port?"}'}
    asks = {"id": "c1", "type": "function", "function": function}
    engine.remember(
        [
            {"role": "user", "content": "The port is 5433."},
            {"role": "assistant", "content": "Noted."},
            {"role": "user", "content": "Which port was it?"},
            {"role": "assistant", "content": None, "tool_calls": [asks]},
        ]
    )
    passages = ask(engine, "lcm_recall", question="which port?")["passages"]
    assert [passage["text"] for passage in passages if "5433" in passage["text"]]
    assert not [passage for passage in passages if "lcm_recall" in passage["text"]]
    engine.close()

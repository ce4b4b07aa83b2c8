"""Is every way of writing a conversation down read as what was said?"""

import json
from pathlib import Path
from typing import Any

import pytest

from clew.wire.legal import validate_messages
from clew.wire.transcripts import FORMATS, read_transcript

RECORDED = Path(__file__).parents[1] / "recorded" / "transcripts"
SAMPLES = sorted(path for path in RECORDED.iterdir() if not path.name.endswith(".expected.json"))


def document(value: Any) -> bytes:
    return json.dumps(value).encode()


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def messages_in(data: bytes) -> list[dict[str, Any]]:
    return list(read_transcript(data).messages)


def call(call_id: str, name: str = "look", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


# ── Every format ──


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_recorded_sample_reads_as_expected(sample: Path) -> None:
    expected = json.loads((RECORDED / f"{sample.name}.expected.json").read_text())
    found = read_transcript(sample.read_bytes())
    assert list(found.messages) == expected["messages"]
    assert (found.format, found.title, found.model) == (expected["format"], expected["title"], expected["model"])


def test_there_is_a_recorded_sample_of_every_format() -> None:
    assert {read_transcript(sample.read_bytes()).format for sample in SAMPLES} == {form.name for form in FORMATS}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_what_is_read_from_a_whole_file_pairs_every_call_with_its_result(sample: Path) -> None:
    assert validate_messages(read_transcript(sample.read_bytes()).messages, "responses") == []


# ── OpenAI ──


def test_unknown_fields_of_openai_messages_are_carried_through_unchanged() -> None:
    message = {"role": "user", "content": "hi", "ts": 1.5, "meta": {"a": [None]}, "name": "Ada"}
    assert messages_in(document([message])) == [message]


def test_parts_of_openai_content_stay_as_they_are() -> None:
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "https://e.org/a.png"}}]
    assert messages_in(document([{"role": "user", "content": parts}])) == [{"role": "user", "content": parts}]


def test_a_result_apart_from_its_call_keeps_its_place_without_a_word() -> None:
    history = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1")]},
        {"role": "user", "content": "wait"},
        {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "done"},
    ]
    found = read_transcript(document(history))
    assert list(found.messages) == history
    assert found.problems == ()


def test_calls_without_results_and_results_without_calls_are_kept() -> None:
    history = [
        {"role": "user", "content": "go"},
        {"role": "tool", "tool_call_id": "gone", "content": "late"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1")]},
    ]
    assert messages_in(document(history)) == history


def test_a_reused_call_id_names_the_result_after_the_latest_call() -> None:
    history = []
    for tool in ("look", "listen"):
        history.append({"role": "assistant", "content": None, "tool_calls": [call("c1", tool)]})
        history.append({"role": "tool", "tool_call_id": "c1", "content": "x"})
    assert [message.get("name") for message in messages_in(document(history))] == [None, "look", None, "listen"]


def test_arguments_written_as_an_object_become_json_text() -> None:
    [message] = messages_in(
        document([{"role": "assistant", "content": None, "tool_calls": [call("c1", arguments={"a": "é"})]}])
    )
    assert message["tool_calls"] == [call("c1", arguments='{"a": "é"}')]


def test_a_call_written_without_its_wrapping_is_wrapped() -> None:
    flat = {"id": "c1", "name": "look", "arguments": "{}"}
    [message] = messages_in(document([{"role": "assistant", "content": "", "tool_calls": [flat]}]))
    assert message["tool_calls"] == [call("c1")]


def test_of_several_conversations_the_first_is_read_and_the_others_reported() -> None:
    found = read_transcript(lines(*({"messages": [{"role": "user", "content": text}]} for text in "abc")))
    assert [message["content"] for message in found.messages] == ["a"]
    assert [problem.line for problem in found.problems] == [2, 3]


def test_a_list_of_conversations_in_one_document_gives_the_first() -> None:
    found = read_transcript(document([{"messages": [{"role": "user", "content": text}]} for text in "ab"]))
    assert [message["content"] for message in found.messages] == ["a"]
    assert len(found.problems) == 1


def test_a_problem_in_a_document_names_the_line_its_message_begins_on() -> None:
    found = read_transcript(b'[\n {"role": "user", "content": "a"},\n\n {"role": "user",\n  "content": 7}\n]')
    assert [str(problem) for problem in found.problems] == ["line 4: the content is a number; taken as text"]
    assert found.messages[1]["content"] == "7"


def test_a_system_text_beside_the_messages_does_not_double_the_one_among_them() -> None:
    history = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
    assert messages_in(document({"system": "c", "messages": history})) == history
    assert messages_in(document({"system": "", "messages": history[1:]})) == history[1:]
    assert messages_in(document({"system": 7, "messages": history[1:]})) == history[1:]


def test_calls_that_are_no_objects_are_left_out_and_reported() -> None:
    found = read_transcript(document([{"role": "assistant", "content": "a", "tool_calls": ["x", call("c1")]}]))
    assert found.messages[0]["tool_calls"] == [call("c1")]
    assert [problem.what for problem in found.problems] == ["a tool call is text; left out"]


def test_a_custom_call_is_carried_through() -> None:
    custom = {"id": "c1", "type": "custom", "name": "x", "custom": {"name": "patch", "input": "free"}}
    [message] = messages_in(document([{"role": "assistant", "content": None, "tool_calls": [custom]}]))
    assert message["tool_calls"] == [custom]


# ── Anthropic ──


def test_a_bare_list_with_anthropic_blocks_is_known_by_them() -> None:
    found = read_transcript(
        document([{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]}])
    )
    assert found.format == "anthropic"
    assert found.messages == ({"role": "assistant", "content": None, "tool_calls": [call("t1")]},)


def test_plain_text_beside_a_system_text_is_anthropics_and_the_system_text_comes_first() -> None:
    found = read_transcript(document({"system": "Be kind.", "messages": [{"role": "user", "content": "hi"}]}))
    assert found.format == "anthropic"
    assert [message["role"] for message in found.messages] == ["system", "user"]


def test_results_come_before_what_the_user_said_in_the_same_message() -> None:
    blocks = [{"type": "text", "text": "and?"}, {"type": "tool_result", "tool_use_id": "t1", "content": "done"}]
    assert [message["role"] for message in messages_in(document([{"role": "user", "content": blocks}]))] == [
        "tool",
        "user",
    ]


def test_texts_of_a_result_are_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    blocks = [{"type": "tool_result", "tool_use_id": "t1", "content": parts}]
    assert messages_in(document([{"role": "user", "content": blocks}]))[0]["content"] == "a\nb"


def test_a_tool_the_provider_ran_splits_the_reply_around_its_result() -> None:
    blocks = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "fog"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "text", "text": "none"}]},
        {"type": "text", "text": "No fog."},
    ]
    found = messages_in(document([{"role": "user", "content": "fog?"}, {"role": "assistant", "content": blocks}]))
    assert [message["role"] for message in found] == ["user", "assistant", "tool", "assistant"]
    assert validate_messages(found) == []


def test_documents_become_files_or_text() -> None:
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "AA=="}
    blocks = [
        {"type": "document", "source": pdf},
        {"type": "document", "source": pdf, "title": "chart.pdf"},
        {"type": "document", "source": {"type": "text", "data": "tides"}},
    ]
    uri = "data:application/pdf;base64,AA=="
    assert messages_in(document([{"role": "user", "content": blocks}]))[0]["content"] == [
        {"type": "file", "file": {"filename": "document", "file_data": uri}},
        {"type": "file", "file": {"filename": "chart.pdf", "file_data": uri}},
        {"type": "text", "text": "tides"},
    ]


def test_an_unknown_block_is_kept_as_its_json() -> None:
    blocks = [{"type": "thinking", "thinking": "x"}, {"type": "hologram", "light": 3}]
    [message] = messages_in(document([{"role": "assistant", "content": blocks}]))
    assert json.loads(message["content"]) == {"type": "hologram", "light": 3}


def test_openai_messages_among_anthropics_stay_as_they_are() -> None:
    mixed = [
        {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://e.org/a.png"}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "x"}], "tool_calls": [call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "name": "look", "content": [{"type": "text", "text": "y"}]},
    ]
    assert messages_in(document(mixed)) == [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://e.org/a.png"}}]},
        *mixed[1:],
    ]


def test_a_body_with_openai_messages_is_openais_whatever_stands_beside_them() -> None:
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [call("c1")]}]
    assert read_transcript(document({"system": "Be kind.", "messages": history})).format == "openai"
    assert read_transcript(document({"system": "x", "messages": [{"role": "tool", "content": "b"}]})).format == "openai"


# ── Claude Code ──


def cc(kind: str, uuid: str, parent: str | None, content: Any = None, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more.pop("message", {})}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message, **more}


def use(call_id: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": call_id, "name": "look", "input": {}}]


def result(call_id: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": f"result of {call_id}"}]


def contents(data: bytes) -> list[Any]:
    return [message["content"] for message in messages_in(data)]


def test_a_branch_the_user_left_is_left_out() -> None:
    assert contents(
        lines(
            cc("user", "u1", None, "first"),
            cc("assistant", "a1", "u1", "answer"),
            cc("user", "u2", "a1", "left"),
            cc("assistant", "a2", "u2", "left too"),
            cc("user", "u3", "a1", "asked again"),
            cc("assistant", "a3", "u3", "new answer"),
        )
    ) == ["first", "answer", "asked again", "new answer"]


def test_a_first_prompt_asked_again_leaves_the_first_one_out() -> None:
    assert contents(
        lines(
            cc("user", "u1", None, "left"),
            cc("assistant", "a1", "u1", "left too"),
            cc("user", "u2", None, "asked again"),
            cc("assistant", "a2", "u2", "answer"),
        )
    ) == ["asked again", "answer"]


def test_two_sessions_in_one_file_follow_one_another() -> None:
    assert contents(
        lines(
            cc("user", "u1", None, "one"),
            cc("assistant", "a1", "u1", "answer to one"),
            {**cc("user", "u2", None, "two"), "sessionId": "t"},
            {**cc("assistant", "a2", "u2", "answer to two"), "sessionId": "t"},
        )
    ) == ["one", "answer to one", "two", "answer to two"]


def test_what_the_program_wrote_beside_the_chain_is_no_branch() -> None:
    found = contents(
        lines(
            cc("user", "u1", None, "go"),
            cc("assistant", "a1", "u1", use("t1"), message={"id": "m1"}),
            cc("assistant", "a2", "a1", use("t2"), message={"id": "m1"}),
            cc("user", "r1", "a1", result("t1")),
            cc("user", "k1", "r1", [{"type": "text", "text": "the skill's text"}], isMeta=True),
            cc("user", "r2", "a2", result("t2")),
            cc("assistant", "a3", "r2", "done", message={"id": "m2"}),
        )
    )
    assert found == ["go", None, "result of t1", "result of t2", "the skill's text", "done"]


def test_a_prompt_of_several_texts_can_begin_a_branch_too() -> None:
    texts = [{"type": "text", "text": "left"}]
    assert contents(
        lines(cc("user", "u1", None, "first"), cc("user", "u2", "u1", texts), cc("user", "u3", "u1", "again"))
    ) == ["first", "again"]


def test_replies_without_an_api_id_stay_apart() -> None:
    assert contents(
        lines(cc("user", "u1", None, "a"), cc("assistant", "a1", "u1", "b"), cc("assistant", "a2", "a1", "c"))
    ) == ["a", "b", "c"]


def test_a_line_that_is_no_object_is_reported() -> None:
    found = read_transcript(lines(cc("user", "u1", None, "a"), 7))
    assert [str(problem) for problem in found.problems] == ["line 2: not a line of a session (no object)"]


def test_a_title_the_user_gave_goes_before_one_the_program_made() -> None:
    rows = [{"type": "custom-title", "customTitle": "mine"}, {"type": "ai-title", "aiTitle": "its"}]
    assert read_transcript(lines(*rows, cc("user", "u1", None, "a"))).title == "mine"
    assert read_transcript(lines(rows[1], cc("user", "u1", None, "a"))).title == "its"


def test_with_a_link_missing_everything_is_kept_in_file_order() -> None:
    assert contents(
        lines(
            cc("user", "u1", None, "first"),
            cc("user", "u2", "u1", "left"),
            cc("user", "u3", "lost", "after a lost line"),
        )
    ) == ["first", "left", "after a lost line"]


def test_a_file_without_any_links_is_read_in_file_order() -> None:
    rows = [cc("user" if number % 2 == 0 else "assistant", f"x{number}", None, str(number)) for number in range(4)]
    assert contents(lines(*rows)) == ["0", "1", "2", "3"]


def test_links_that_run_in_a_circle_do_not_hang_the_reader() -> None:
    assert contents(lines(cc("user", "u1", "u2", "a"), cc("user", "u2", "u1", "b"))) == ["a", "b"]


def test_results_of_parallel_calls_stay_though_they_hang_beside_the_chain() -> None:
    found = messages_in(
        lines(
            cc("user", "u1", None, "go"),
            cc("assistant", "a1", "u1", use("t1"), message={"id": "m1"}),
            cc("assistant", "a2", "a1", use("t2"), message={"id": "m1"}),
            cc("user", "r1", "a1", result("t1")),
            cc("user", "r2", "a2", result("t2")),
            cc("assistant", "a3", "r1", "done", message={"id": "m2"}),
        )
    )
    assert [message["role"] for message in found] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [call["id"] for call in found[1]["tool_calls"]] == ["t1", "t2"]
    assert validate_messages(found) == []


def test_a_result_logged_after_the_next_prompt_is_placed_after_its_call() -> None:
    found = messages_in(
        lines(
            cc("user", "u1", None, "go"),
            cc("assistant", "a1", "u1", use("t1"), message={"id": "m1"}),
            cc("user", "u2", "a1", "hurry"),
            cc("user", "r1", "u2", result("t1")),
        )
    )
    assert [message["role"] for message in found] == ["user", "assistant", "tool", "user"]


def test_a_line_written_twice_is_read_once() -> None:
    row = cc("user", "u1", None, "once")
    assert contents(lines(row, row)) == ["once"]


def test_side_chains_are_left_out() -> None:
    assert contents(lines(cc("user", "u1", None, "main"), cc("user", "s1", None, "side", isSidechain=True))) == ["main"]


def test_history_before_a_compaction_is_kept_even_where_the_link_over_it_is_missing() -> None:
    assert contents(
        lines(
            cc("user", "u1", None, "old"),
            cc("assistant", "a1", "u1", "old answer"),
            cc("user", "c1", None, "summary", isCompactSummary=True),
            cc("assistant", "a2", "c1", "new answer"),
        )
    ) == ["old", "old answer", "summary", "new answer"]


# ── Codex ──


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "t", "type": "response_item", "payload": payload}


def said(role: str, text: str) -> dict[str, Any]:
    return item(type="message", role=role, content=[{"type": "input_text", "text": text}])


def test_a_rollout_of_events_only_is_read_from_the_events() -> None:
    rows = [
        {"type": "event_msg", "payload": {"type": kind, "message": text}}
        for kind, text in (("user_message", "hi"), ("agent_message", "hello"), ("token_count", ""))
    ]
    assert messages_in(lines(*rows)) == [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


def test_turns_taken_back_are_left_out_and_harness_texts_are_no_turns() -> None:
    rollback = {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}
    found = contents(lines(said("user", "a"), said("user", "b"), said("user", "<environment_context>x"), rollback))
    assert found == ["a"]


def test_outputs_that_arrive_after_the_next_call_are_placed_after_their_own() -> None:
    found = messages_in(
        lines(
            said("user", "go"),
            item(type="function_call", name="a", arguments="{}", call_id="c1"),
            item(type="function_call", name="b", arguments="{}", call_id="c2"),
            item(type="function_call_output", call_id="c1", output="1"),
            item(type="function_call", name="c", arguments="{}", call_id="c3"),
            item(type="function_call_output", call_id="c2", output="2"),
            item(type="function_call_output", call_id="c3", output="3"),
        )
    )
    assert [message.get("tool_call_id") for message in found] == [None, None, "c1", "c2", None, "c3"]
    assert validate_messages(found) == []


def test_a_compaction_at_the_head_of_a_rollout_brings_its_history() -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept"}]}]
    row = {"type": "compacted", "payload": {"message": "", "replacement_history": history}}
    assert contents(lines(row, said("user", "next"))) == ["kept", "next"]


def fc(call_id: str) -> dict[str, Any]:
    return item(type="function_call", name="look", arguments="{}", call_id=call_id)


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": kind, **payload}}


def test_a_second_text_begins_a_new_message_unless_a_call_is_open() -> None:
    apart = messages_in(lines(said("user", "go"), said("assistant", "a"), said("assistant", "b")))
    assert [message["content"] for message in apart] == ["go", "a", "b"]
    joined = messages_in(lines(said("user", "go"), fc("c1"), said("assistant", "a"), fc("c2")))
    assert joined[1:] == [{"role": "assistant", "content": "a", "tool_calls": [call("c1"), call("c2")]}]


def test_a_picture_in_a_reply_with_an_open_call_is_kept() -> None:
    picture = item(type="message", role="assistant", content=[{"type": "input_image", "image_url": "u"}])
    [_, message] = messages_in(lines(said("user", "go"), fc("c1"), said("assistant", "a"), picture))
    assert message["content"] == [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "u"}}]


def test_a_thought_that_led_to_nothing_is_left_out() -> None:
    thought = item(type="reasoning", summary=[{"type": "summary_text", "text": "hm"}])
    assert contents(lines(said("user", "go"), thought, said("user", "stop"))) == ["go", "stop"]


def test_an_empty_result_is_kept() -> None:
    empty = item(type="function_call_output", call_id="c1", output="")
    assert messages_in(lines(fc("c1"), empty))[1]["content"] == ""


def test_instructions_a_message_repeats_are_not_read_twice() -> None:
    head = {"type": "session_meta", "payload": {"id": "x", "instructions": "Be brief."}}
    assert contents(lines(head, said("user", "<user_instructions>Be brief.</user_instructions>"))) == [
        "<user_instructions>Be brief.</user_instructions>"
    ]
    assert contents(lines(head, said("user", "hi"))) == ["Be brief.", "hi"]


def test_only_the_first_head_of_a_forked_rollout_speaks() -> None:
    heads = [{"type": "session_meta", "payload": {"base_instructions": {"text": text}}} for text in ("", "copied")]
    assert contents(lines(*heads, said("user", "hi"))) == ["hi"]


@pytest.mark.parametrize("turns", [0, -1, None, "2"])
def test_taking_back_no_turns_takes_nothing_back(turns: Any) -> None:
    assert contents(lines(said("user", "a"), event("thread_rolled_back", num_turns=turns))) == ["a"]


def test_taking_back_more_turns_than_there_are_keeps_what_came_before_the_first() -> None:
    rows = [said("developer", "rules"), said("user", "a"), event("thread_rolled_back", num_turns=9), said("user", "b")]
    assert contents(lines(*rows)) == ["rules", "b"]


def test_a_compaction_after_its_history_adds_its_summary_only() -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "copied"}]}]
    row = {"type": "compacted", "payload": {"message": "in short", "replacement_history": history}}
    assert contents(lines(said("user", "a"), row)) == ["a", "in short"]


def test_the_name_of_the_thread_is_the_title() -> None:
    assert read_transcript(lines(said("user", "a"), event("thread_name_updated", thread_name="Lamp"))).title == "Lamp"


def test_bare_items_are_known_by_the_kind_of_their_parts() -> None:
    bare = said("user", "hi")["payload"]
    assert read_transcript(lines(bare)).format == "codex"
    reply = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}]}
    assert read_transcript(lines(reply)).format == "openai"


def test_an_envelope_without_a_payload_is_reported() -> None:
    found = read_transcript(lines(said("user", "a"), {"type": "response_item"}))
    assert [str(problem) for problem in found.problems] == [
        "line 2: a response_item line without a payload was left out"
    ]


# ── Hermes ──


def test_a_gateway_log_gives_its_model_and_skips_its_head() -> None:
    found = read_transcript(lines({"role": "session_meta", "model": "m"}, {"role": "user", "content": "hi"}))
    assert (found.format, found.model, len(found.messages)) == ("hermes", "m", 1)


def test_only_results_are_named_after_their_tool() -> None:
    rows = [
        {"role": "user", "content": "a", "tool_name": "look"},
        {"role": "tool", "content": "b", "tool_name": "look"},
    ]
    found = messages_in(document({"session_id": "s", "messages": rows}))
    assert [message.get("name") for message in found] == [None, "look"]


def test_calls_stored_as_text_are_read() -> None:
    stored = {"role": "assistant", "content": "", "tool_calls": json.dumps([call("c1")])}
    [message] = messages_in(document({"session_id": "s", "messages": [stored]}))
    assert message["tool_calls"] == [call("c1")]

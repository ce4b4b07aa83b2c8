"""Requests and replies of OpenAI's Responses, there and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.pairs import legal_cuts, repair
from clew.facts.exchange import (
    OutputTooLarge,
    PayloadTooLarge,
    Prompt,
    PromptTooLong,
    RateLimited,
    Refused,
    Reply,
    Unavailable,
)
from clew.facts.messages import BadMessages, message, read_message, read_messages
from clew.facts.usage import Usage
from clew.wire.errors import classify_error
from clew.wire.legal import validate_messages
from clew.wire.responses import RESPONSES, error_in
from tests.histories import legal_histories, odd_histories
from tests.wire.exchanges import prompts, replies
from tests.wire.responses_bodies import bodies, inputs, odd_json, responses

THINKING = {"type": "thinking", "thinking": "Let me see.", "signature": "EqQB"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
CALL = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}", "id": "fc_1", "status": "completed"}
TYPED: dict[str, Any] = {
    "type": "message",
    "id": "msg_1",
    "status": "completed",
    "role": "assistant",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "Hi.", "annotations": [], "logprobs": []}],
}


def spelled(*raws: dict[str, Any]) -> list[dict[str, Any]]:
    """The input's items of these messages."""
    return RESPONSES.encode(Prompt("", read_messages(raws)))["input"]  # type: ignore[no-any-return]


def read(*items: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of these items."""
    return [said.to_dict() for said in RESPONSES.decode({"input": list(items)}).messages]


@given(prompts())
@settings(max_examples=30)
def test_a_prompt_comes_back_from_its_body(prompt: Prompt) -> None:
    assert RESPONSES.decode(RESPONSES.encode(prompt)) == prompt


@given(bodies)
@settings(max_examples=40)
def test_a_body_comes_back_from_its_prompt(body: dict[str, Any]) -> None:
    assert RESPONSES.encode(RESPONSES.decode(body)) == body


@given(legal_histories(most=4))
@settings(max_examples=25)
def test_a_legal_history_is_a_legal_input(history: list[dict[str, Any]]) -> None:
    assert validate_messages(spelled(*history), "responses") == []


@given(prompts())
@settings(max_examples=25)
def test_what_every_dialect_can_say_is_a_legal_input(prompt: Prompt) -> None:
    assert validate_messages(RESPONSES.encode(prompt)["input"], "responses") == []


@given(inputs(), st.data())
@settings(max_examples=25)
def test_a_history_that_was_cut_and_repaired_is_a_legal_input(items: list[dict[str, Any]], data: st.DataObject) -> None:
    known = [item for item in items if item.get("type") != "tarot_card" and ("type" in item or "role" in item)]
    messages = RESPONSES.decode({"input": known}).messages
    cut = data.draw(st.sampled_from(legal_cuts(messages)))
    kept = repair((*messages[cut:], message("user", "And now?")))
    assert validate_messages(RESPONSES.encode(Prompt("", kept))["input"], "responses") == []


@given(inputs(), st.data())
@settings(max_examples=25)
def test_a_longer_history_begins_as_the_shorter_one_did(items: list[dict[str, Any]], data: st.DataObject) -> None:
    prompt = RESPONSES.decode({"input": items})
    messages = prompt.messages[: data.draw(st.integers(0, len(prompt.messages)))]
    shorter = RESPONSES.encode(replace(prompt, messages=messages))["input"]
    assert items[: len(shorter)] == shorter


@given(st.dictionaries(st.sampled_from(["input", "tools", "instructions", "text", "model"]), odd_json))
@settings(max_examples=40)
def test_an_odd_body_is_read_or_refused_with_a_sentence(body: dict[str, Any]) -> None:
    given = body.get("input", "")
    if isinstance(given, str) or (isinstance(given, list) and all(isinstance(item, dict) for item in given)):
        prompt = RESPONSES.decode(body)
        assert RESPONSES.decode(RESPONSES.encode(prompt)) == prompt
    else:
        with pytest.raises(BadMessages, match=r"^input"):
            RESPONSES.decode(body)


@given(st.lists(odd_json, max_size=4))
@settings(max_examples=40)
def test_odd_items_come_back_as_they_were(items: list[Any]) -> None:
    kept = [item for item in items if isinstance(item, dict)]
    again = RESPONSES.encode(RESPONSES.decode({"input": kept, "previous_response_id": "resp_0"}))["input"]
    assert [item for item in again if item not in kept] == []


@given(odd_histories)
@settings(max_examples=50)
def test_an_odd_history_is_spelled_without_complaint(history: list[dict[str, Any]]) -> None:
    spelled(*history)


def test_what_the_model_made_in_one_go_is_one_message() -> None:
    looked_up = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    said = read({"role": "user", "content": "Hi"}, THOUGHT, looked_up, TYPED, CALL)[1]
    assert said["content"] == [THOUGHT, looked_up, {"type": "text", "text": "Hi."}]
    assert said["tool_calls"] == [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "ls", "arguments": "{}"},
            "responses": {"id": "fc_1", "status": "completed"},
        }
    ]


def test_a_second_message_is_a_message_of_its_own_and_takes_its_thought_along() -> None:
    first, second = read({"role": "assistant", "content": "One."}, THOUGHT, {"role": "assistant", "content": "Two."})
    assert first == {"role": "assistant", "content": "One."}
    assert second["content"] == [THOUGHT, {"type": "text", "text": "Two."}]


def test_messages_between_a_call_and_its_output_stay_with_the_call() -> None:
    output = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}
    first, second = {"role": "assistant", "content": "I look."}, {"role": "assistant", "content": "Soon."}
    said, result = read(first, CALL, TYPED, second, output)
    assert [call["id"] for call in said["tool_calls"]] == ["c1"]
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "a.py"}
    assert spelled(said, result) == [first, CALL, TYPED, second, output]
    assert spelled(*read(CALL, first, second, output)) == [CALL, first, second, output]


def test_a_reference_between_turns_is_a_message_of_its_own() -> None:
    reference = {"type": "item_reference", "id": "msg_7"}
    assert read(reference)[0] == {"role": "developer", "content": [reference]}


def test_a_compaction_at_the_front_stands_for_what_was_before_and_one_behind_an_answer_belongs_to_it() -> None:
    compacted = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"}
    front, _, answer = read(compacted, {"role": "user", "content": "Hi"}, TYPED, compacted)
    assert front == {"role": "developer", "content": [compacted]}
    assert answer["content"] == [{"type": "text", "text": "Hi."}, compacted]


def test_a_custom_tools_call_is_one_of_chats() -> None:
    called = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "patch", "input": "*** Begin"}
    output = {"type": "custom_tool_call_output", "call_id": "c1", "output": "Done"}
    said, result = read(called, output)
    custom = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    assert said["tool_calls"] == [{**custom, "responses": {"id": "ctc_1"}}]
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "Done"}


def test_a_call_of_a_built_in_tool_waits_for_the_client_as_any_other() -> None:
    called = {"type": "shell_call", "id": "sh_1", "call_id": "c1", "action": {"commands": ["ls"]}}
    assert read(called)[0]["tool_calls"][0]["function"] == {
        "name": "shell",
        "arguments": '{"action": {"commands": ["ls"]}}',
    }


def test_a_call_the_provider_carried_out_itself_waits_for_no_one() -> None:
    where = {"environment": {"type": "container_reference", "container_id": "cntr_1"}}
    called = {"type": "shell_call", "id": "sh_1", "call_id": "c1", "action": {"commands": ["ls"]}, **where}
    ran = {"type": "shell_call_output", "call_id": "c1", "output": []}
    (said,) = read(called, ran)
    assert said == {"role": "assistant", "content": [called, ran]}


@pytest.mark.parametrize(
    ("called", "answer"),
    [
        ({"type": "custom_tool_call", "name": "patch", "input": ""}, {"output": "gone"}),
        (
            {"type": "shell_call", "action": {"commands": ["ls"]}},
            {"output": [{"stdout": "gone", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]},
        ),
        ({"type": "apply_patch_call", "operation": {"path": "a"}}, {"output": "gone", "status": "completed"}),
        ({"type": "local_shell_call", "action": {"command": ["ls"]}}, {"output": "gone"}),
    ],
)
def test_a_result_of_clews_own_answers_in_the_words_of_its_call(called: dict[str, Any], answer: dict[str, Any]) -> None:
    call = {**called, "call_id": "c1"}
    stub = {"role": "tool", "tool_call_id": "c1", "content": "gone"}
    kind = f"{called['type']}_output"
    assert spelled(*read(call), stub) == [call, {"type": kind, "call_id": "c1", **answer}]


def test_a_built_in_call_with_rewritten_arguments_is_told_as_a_functions() -> None:
    said = read({"type": "shell_call", "id": "sh_1", "call_id": "c1", "action": {"commands": ["ls"]}})[0]
    said["tool_calls"][0]["function"]["arguments"] = "[cut]"
    stub = {"role": "tool", "tool_call_id": "c1", "content": "a.py"}
    assert spelled(said, stub) == [
        {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "[cut]"},
        {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
    ]


def test_a_message_that_was_rewritten_says_the_new_words() -> None:
    said = RESPONSES.decode({"input": [THOUGHT, TYPED, {"role": "user", "content": "Go on."}]}).messages[0]
    items = RESPONSES.encode(Prompt("", (said.saying("Short."),)))["input"]
    assert [item["content"] for item in items if item.get("role")] == [
        [{"type": "output_text", "text": "Short.", "annotations": [], "logprobs": []}]
    ]


def test_two_texts_rewritten_to_one_are_spelled_plainly() -> None:
    (said,) = RESPONSES.decode({"input": [{**TYPED, "content": TYPED["content"] * 2}]}).messages
    assert spelled(said.saying("Short.").to_dict()) == [{"role": "assistant", "content": "Short."}]


@pytest.mark.parametrize("left", [["Hi."], ["Hi.", "Ho.", "He."], ["Hi.", None, "Ho."]])
def test_a_message_that_lost_or_gained_a_text_is_spelled_plainly(left: list[str | None]) -> None:
    """None stands for the call, which was behind both texts."""
    two = [{"type": "output_text", "text": text, "annotations": []} for text in ("Hi.", "Ho.")]
    (said,) = read({**TYPED, "content": two}, CALL)
    parts = [{"type": "text", "text": text} if text else {"type": "tool_use", "id": "c1"} for text in left]
    items = spelled({**said, "content": parts})
    assert {item.get("id") for item in items} == {None, "fc_1"}
    assert "".join(map(words_of, items)) == "".join(text or "" for text in left)
    assert [item["type"] for item in items if "type" in item] == ["function_call"]
    assert items.index(CALL) == (left.index(None) if None in left else 1)


def words_of(item: dict[str, Any]) -> str:
    content = item.get("content", "")
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def test_a_thought_that_lost_what_it_led_to_is_left_out() -> None:
    said = read_message(read(THOUGHT, CALL)[0]).calling(())
    assert spelled(said.to_dict(), {"role": "user", "content": "Go on."}) == [{"role": "user", "content": "Go on."}]
    assert spelled(said.to_dict()) == []


def test_thinking_of_another_provider_is_left_out_and_its_documents_are_told() -> None:
    document = {"type": "document", "source": {"type": "text", "data": "Lease"}}
    user, said = spelled(
        {"role": "user", "content": [{"type": "text", "text": "Read."}, document]},
        {"role": "assistant", "content": [THINKING, {"type": "text", "text": "Read it."}]},
    )
    assert [part["type"] for part in user["content"]] == ["input_text", "input_text"]
    assert '"Lease"' in user["content"][1]["text"]
    assert said == {"role": "assistant", "content": "Read it."}


def test_a_compaction_of_anthropics_is_not_taken_for_one_of_openais() -> None:
    compacted = {"type": "compaction", "content": "They ported the parser."}
    assert spelled({"role": "assistant", "content": [compacted]}) == [
        {"role": "assistant", "content": [{"type": "output_text", "text": json.dumps(compacted)}]}
    ]


def test_what_other_dialects_keep_for_themselves_is_left_out() -> None:
    cached = {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}
    assert spelled({"role": "user", "name": "Ann", "content": [cached], "anthropic": {"x": 1}}) == [
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    ]


def test_instructions_and_the_first_system_items_are_the_system() -> None:
    ruled = {"role": "developer", "content": [{"type": "input_text", "text": "Be exact."}]}
    body = {"instructions": "Be brief.", "input": [ruled, {"role": "user", "content": "Hi"}]}
    prompt = RESPONSES.decode(body)
    assert (prompt.system, len(prompt.messages)) == ("Be brief.\n\nBe exact.", 1)
    assert RESPONSES.encode(prompt) == body
    noted = RESPONSES.encode(replace(prompt, system=prompt.system + "\n\nA note."))
    assert noted["input"][:2] == [ruled, {"role": "developer", "content": "A note."}]
    other = RESPONSES.encode(replace(prompt, system="Other rules."))
    assert (other["instructions"], other["input"]) == ("Other rules.", body["input"][1:])


def test_a_note_behind_plain_instructions_stays_in_the_instructions() -> None:
    prompt = RESPONSES.decode({"instructions": "Be brief.", "input": "Hi"})
    assert RESPONSES.encode(replace(prompt, system="Be brief.\n\nA note."))["instructions"] == "Be brief.\n\nA note."


def test_a_note_where_there_was_no_system_becomes_the_instructions() -> None:
    prompt = RESPONSES.decode({"instructions": None, "input": "Hi"})
    assert RESPONSES.encode(replace(prompt, system="A note."))["instructions"] == "A note."


def test_where_the_provider_holds_the_beginning_a_system_item_stays_a_message() -> None:
    prompt = RESPONSES.decode(
        {"previous_response_id": "resp_0", "input": [{"role": "system", "content": "Now short."}]}
    )
    assert (prompt.system, prompt.messages) == ("", (message("system", "Now short."),))


def test_settings_are_told_in_chats_words() -> None:
    prompt = RESPONSES.decode(
        {
            "input": "Hi",
            "tools": [{"type": "function", "name": "ls", "parameters": {}, "strict": True}],
            "tool_choice": {"type": "function", "name": "ls"},
            "reasoning": {"effort": "low", "summary": "auto"},
            "text": {"format": {"type": "json_schema", "name": "A", "schema": {}}, "verbosity": "low"},
            "max_output_tokens": 64,
            "store": False,
        }
    )
    assert prompt.tools == ({"type": "function", "function": {"name": "ls", "parameters": {}, "strict": True}},)
    assert prompt.settings == {
        "tool_choice": {"type": "function", "function": {"name": "ls"}},
        "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "A", "schema": {}}},
    }
    assert prompt.max_output == 64
    kept = {"reasoning": {"summary": "auto"}, "text": {"verbosity": "low"}, "store": False, "input": "text"}
    assert prompt.foreign == {"responses": kept}


def test_settings_in_chats_words_come_back_from_the_body() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "A", "schema": {}}}
    prompt = Prompt("", (), settings={"reasoning_effort": "low", "response_format": form, "user": "someone"})
    assert RESPONSES.decode(RESPONSES.encode(prompt)) == prompt


def test_a_custom_tools_grammar_is_nested_in_chats_spelling() -> None:
    grammar = {"syntax": "lark", "definition": "start: X"}
    prompt = RESPONSES.decode({"tools": [{"type": "custom", "name": "p", "format": {"type": "grammar", **grammar}}]})
    custom = {"name": "p", "format": {"type": "grammar", "grammar": grammar}}
    assert prompt.tools == ({"type": "custom", "custom": custom},)


def test_a_function_of_chats_is_not_made_strict_by_silence() -> None:
    tool = {"type": "function", "function": {"name": "ls", "parameters": {}}}
    assert RESPONSES.encode(Prompt("", (), (tool,)))["tools"][0]["strict"] is False


def test_a_tool_that_only_another_provider_runs_is_left_out() -> None:
    assert "tools" not in RESPONSES.encode(Prompt("", (), ({"type": "bash_20250124", "name": "bash"},)))


def test_a_setting_this_dialect_has_not_is_left_out() -> None:
    assert "stop" not in RESPONSES.encode(Prompt("", (), settings={"stop": ["\n"]}))


@given(replies())
@settings(max_examples=40)
def test_a_reply_comes_back_from_its_object(reply: Reply) -> None:
    assert RESPONSES.decode_reply(RESPONSES.encode_reply(reply)) == reply


@given(responses())
@settings(max_examples=40)
def test_a_response_object_comes_back_from_its_reply(body: dict[str, Any]) -> None:
    assert RESPONSES.encode_reply(RESPONSES.decode_reply(body)) == body


@given(st.dictionaries(st.sampled_from(["id", "output", "usage", "status", "error", "model"]), odd_json))
@settings(max_examples=25)
def test_an_odd_response_object_is_read(body: dict[str, Any]) -> None:
    reply = RESPONSES.decode_reply(body)
    assert RESPONSES.decode_reply(RESPONSES.encode_reply(reply)) == reply


def test_a_message_without_content_is_kept_as_it_is() -> None:
    body = {**RESPONSES.encode_reply(Reply(message("assistant", ""), id="r")), "output": [{"type": "message"}]}
    assert RESPONSES.encode_reply(RESPONSES.decode_reply(body)) == body


@pytest.mark.parametrize(
    ("ending", "stop"),
    [
        ({"status": "completed"}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
    ],
)
def test_the_status_says_why_the_model_stopped(ending: dict[str, Any], stop: str) -> None:
    assert RESPONSES.decode_reply({"id": "r", "output": [TYPED], **ending}).stop == stop


def test_calls_are_why_the_model_stopped() -> None:
    assert RESPONSES.decode_reply({"id": "r", "status": "completed", "output": [CALL]}).stop == "tool_calls"


def test_a_reply_that_was_cut_since_says_so() -> None:
    reply = RESPONSES.decode_reply({"id": "r", "status": "completed", "output": [TYPED]})
    body = RESPONSES.encode_reply(replace(reply, stop="length"))
    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})


def test_a_reply_under_way_that_was_cut_since_says_so() -> None:
    reply = RESPONSES.decode_reply({"id": "r", "status": "in_progress", "output": [TYPED]})
    assert RESPONSES.encode_reply(replace(reply, stop="length"))["status"] == "incomplete"


def test_items_without_an_id_get_one_from_their_place() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    said = read_message({"role": "assistant", "content": "Hi.", "refusal": "No.", "tool_calls": [call]})
    spoken, called, refused = RESPONSES.encode_reply(Reply(said, id="r"))["output"]
    assert (spoken["id"], spoken["status"], spoken["type"]) == ("msg_r_0", "completed", "message")
    assert called == {**CALL, "id": "fc_r_1"}
    assert refused["content"] == [{"type": "refusal", "refusal": "No."}]


def test_what_is_noted_on_a_message_with_such_an_id_is_kept() -> None:
    body = RESPONSES.encode_reply(Reply(message("assistant", "Hi."), id="r"))
    body["output"][0]["content"][0]["annotations"] = [{"type": "url_citation", "url": "https://example.org"}]
    assert RESPONSES.encode_reply(RESPONSES.decode_reply(body)) == body


def test_usage_that_was_changed_is_told_as_it_is_now() -> None:
    raw = {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}
    assert RESPONSES.encode_reply(Reply(message("assistant", "Hi"), Usage(100, 5, raw=raw)))["usage"] == raw
    changed = Reply(message("assistant", "Hi"), Usage(300, 5, raw=raw))
    assert RESPONSES.encode_reply(changed)["usage"]["input_tokens"] == 300


def test_usage_holds_the_cached_tokens_in_the_input() -> None:
    usage = Usage(input=100, output=50, cache_read=700, cache_write=200, reasoning=20)
    assert RESPONSES.encode_reply(Reply(message("assistant", "Hi"), usage))["usage"] == {
        "input_tokens": 1_000,
        "input_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 200},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 20},
        "total_tokens": 1_050,
    }


def test_usage_of_another_shape_is_not_passed_on_as_our_own() -> None:
    raw = {"input_tokens": 100, "cache_read_input_tokens": 700, "cache_creation_input_tokens": 0, "output_tokens": 5}
    reply = Reply(message("assistant", "Hi"), Usage(100, 5, 700, raw=raw))
    assert RESPONSES.encode_reply(reply)["usage"]["input_tokens"] == 800


def test_thinking_of_another_provider_is_shown_as_a_summary() -> None:
    said = read_message({"role": "assistant", "content": [THINKING, {"type": "text", "text": "4"}]})
    beside = read_message({"role": "assistant", "content": "4", "reasoning_content": "Let me see."})
    for each in (said, beside):
        thought, spoken = RESPONSES.encode_reply(Reply(each, id="r"))["output"]
        assert thought == {
            "type": "reasoning",
            "id": "rs_r_0",
            "summary": [{"type": "summary_text", "text": "Let me see."}],
        }
        assert spoken["content"][0]["text"] == "4"


def test_a_response_that_failed_is_told_from_one_that_did_not() -> None:
    error = {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}
    failed = {"id": "r", "object": "response", "status": "failed", "error": error, "output": []}
    assert error_in(failed) == {"error": error}
    assert isinstance(classify_error(200, error_in(failed)), PromptTooLong)
    assert error_in({**failed, "error": None}) is not None
    assert error_in({**failed, "status": "completed", "error": None}) is None


@pytest.mark.parametrize(
    ("failure", "status", "code", "param"),
    [
        (PromptTooLong(limit=1_000, used=1_200), 400, "context_length_exceeded", "input"),
        (OutputTooLarge(limit=64, requested_output=100), 400, "invalid_value", "max_output_tokens"),
        (PayloadTooLarge(), 413, "request_too_large", None),
        (RateLimited(retry_after=3), 429, "rate_limit_exceeded", None),
        (Unavailable(), 503, None, None),
        (Refused(why="no such model", status=404), 404, None, None),
    ],
)
def test_a_failure_is_told_in_openais_words(failure: Any, status: int, code: str | None, param: str | None) -> None:
    told, body = RESPONSES.encode_failure(failure)
    assert (told, body["error"]["code"], body["error"]["param"]) == (status, code, param)
    assert type(classify_error(told, body)) is type(failure)

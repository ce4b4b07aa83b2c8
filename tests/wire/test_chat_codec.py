"""Are requests spelled as chat has them, and read without losing a word?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.facts.exchange import Prompt
from clew.facts.messages import BadMessages, read_message, read_messages
from clew.wire.chat import CHAT
from clew.wire.chat.fields import asks_for_usage, usual_limit
from clew.wire.legal import validate_messages
from tests.wire.chat_bodies import bodies
from tests.wire.exchanges import PNG, histories, prompts, values

USER = {"role": "user", "content": "Look at this."}
PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}


def prompt(*raws: dict[str, Any], **fields: Any) -> Prompt:
    return Prompt(fields.pop("system", ""), read_messages(raws), **fields)


def sent(*raws: dict[str, Any]) -> list[dict[str, Any]]:
    return CHAT.encode(prompt(*raws))["messages"]


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(call_id: str, **more: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "look", "arguments": "{}"}, **more}


# ── laws ──


@settings(max_examples=40)
@given(prompts())
def test_a_prompt_of_any_origin_is_legal_and_can_be_read_back(made: Prompt) -> None:
    body = CHAT.encode(made)
    assert CHAT.decode(body) == made
    assert validate_messages(body["messages"], "openai") == []


@settings(max_examples=50)
@given(bodies())
def test_a_body_comes_back_as_it_was_but_that_a_stream_is_asked_for_its_usage(body: dict[str, Any]) -> None:
    expected = dict(body)
    if body.get("stream"):
        expected["stream_options"] = {"include_usage": True, **(body.get("stream_options") or {})}
    made = CHAT.decode(body)
    assert CHAT.encode(made) == expected
    again = CHAT.decode(expected)  # of which only is lost that the client did not ask for the usage
    if expected == body:
        assert again == made
    assert replace(again, foreign={}) == replace(made, foreign={})


@st.composite
def adorned(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A legal conversation that has been through other dialects: their blocks, marks and keys stand in it."""
    made: list[dict[str, Any]] = []
    for raw in draw(histories()):
        if raw["role"] == "assistant":
            said = [text(raw["content"])] if raw["content"] else []
            content = draw(st.sampled_from(BEFORE)) + said + draw(st.sampled_from(BEHIND))
            places = [{"type": "tool_use", "id": each["id"]} for each in raw.get("tool_calls", ())]
            raw = {**raw, "content": [*content, *places, text("later")] if places and draw(st.booleans()) else content}
            raw["anthropic"] = {"container": None}
            if "tool_calls" in raw:
                raw["tool_calls"] = [{**each, "responses": {"id": "fc_1"}} for each in raw["tool_calls"]]
            if not raw["content"]:
                raw["content"] = None
        elif raw["role"] == "tool":
            raw = {
                **raw,
                "content": draw(st.sampled_from([raw["content"], [text("see"), PICTURE], [PICTURE], [PAPER]])),
            }
        elif draw(st.booleans()):
            raw = {**raw, "content": [text("here"), PAPER, SEARCH], "responses": {"id": "msg_1"}}
        made.append(raw)
    return made


THINKING = {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}
REASONING = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"}
SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "clew"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
PAPER = {
    "type": "document",
    "title": "a.pdf",
    "source": {"type": "base64", "media_type": "application/pdf", "data": PNG},
}
BEFORE = [[], [THINKING], [{"type": "redacted_thinking", "data": "x"}], [REASONING], [THINKING, SEARCH, FOUND]]
BEHIND: list[list[dict[str, Any]]] = [
    [],
    [{**text("cited"), "citations": [{"url": "u"}], "anthropic": {"n": 1}}],
    [SEARCH, FOUND],
]


@settings(max_examples=50)
@given(adorned())
def test_a_legal_history_is_legal_for_openai_wherever_it_has_been(raws: list[dict[str, Any]]) -> None:
    spelled = sent(*raws)
    assert validate_messages(spelled, "openai") == []
    assert "signature" not in str(spelled)
    assert not {"anthropic", "responses"} & {key for raw in spelled for key in raw}


@settings(max_examples=50)
@given(adorned(), st.data())
def test_a_longer_history_begins_as_the_shorter_one_did(raws: list[dict[str, Any]], data: st.DataObject) -> None:
    end = data.draw(st.sampled_from([place for place, raw in enumerate(raws) if raw["role"] == "user"]))
    shorter = sent(*raws[:end])
    assert sent(*raws)[: len(shorter)] == shorter


@settings(max_examples=50)
@given(values.flatmap(lambda odd: st.fixed_dictionaries({}, optional=dict.fromkeys(ODD_KEYS, st.just(odd) | values))))
def test_an_odd_body_is_read_or_refused_as_bad_messages(body: dict[str, Any]) -> None:
    with suppress(BadMessages):
        CHAT.encode(CHAT.decode(body))


ODD_KEYS = (
    "model",
    "messages",
    "tools",
    "stream",
    "stream_options",
    "stop",
    "tool_choice",
    "max_tokens",
    "system",
    "n",
)


@pytest.mark.parametrize(
    ("messages", "place"),
    [(None, "messages"), ({"role": "user"}, "messages"), ([USER, "x"], "message 1"), ([USER, USER, {}], "message 2")],
)
def test_what_is_no_message_is_named_by_its_place(messages: Any, place: str) -> None:
    with pytest.raises(BadMessages, match=place):
        CHAT.decode({"model": "m", "messages": messages})


# ── the system prompt ──


def test_one_plain_system_message_is_the_system_prompt_and_nothing_more() -> None:
    made = CHAT.decode({"model": "m", "messages": [{"role": "system", "content": "Be kind."}, USER]})
    assert (made.system, [message.raw for message in made.messages], made.foreign) == ("Be kind.", [USER], {})


LEADING = [
    {"role": "developer", "content": [{**text("Be kind."), "cache_control": {"type": "ephemeral"}}]},
    {"role": "system", "content": "Be brief.", "name": "rules"},
]


def test_several_leading_messages_are_one_system_prompt_and_keep_their_spelling() -> None:
    made = CHAT.decode({"model": "m", "messages": [*LEADING, USER]})
    assert made.system == "Be kind.\n\nBe brief."
    assert CHAT.encode(made)["messages"] == [*LEADING, USER]


def test_a_note_goes_behind_the_system_messages_as_they_came() -> None:
    made = CHAT.decode({"model": "m", "messages": [*LEADING, USER]})
    noted = replace(made, system=made.system + "\n\nEarlier turns were summarised.")
    note = {"role": "system", "content": "Earlier turns were summarised."}
    assert CHAT.encode(noted)["messages"] == [*LEADING, note, USER]


def test_another_system_prompt_is_spelled_plainly() -> None:
    made = CHAT.decode({"model": "m", "messages": [*LEADING, USER]})
    assert CHAT.encode(replace(made, system="Be bold."))["messages"] == [
        {"role": "system", "content": "Be bold."},
        USER,
    ]
    assert CHAT.encode(replace(made, system=""))["messages"] == [USER]


def test_a_system_message_in_mid_conversation_stays_in_its_place() -> None:
    late = {"role": "system", "content": "Be brief from now on."}
    made = CHAT.decode({"model": "m", "messages": [USER, late, USER]})
    assert (made.system, made.messages[1].raw) == ("", late)


# ── fields ──


def test_the_most_the_reply_may_be_is_named_as_the_model_knows_it() -> None:
    newer, older = "max_completion_tokens", "max_tokens"
    known = {
        "gpt-5.2": newer, "openai/gpt-5-mini": newer, "gpt-10": newer, "o1": newer,
        "o4-mini-2025-04-16": newer, "ft:o4-mini:org": newer,
        "gpt-4o": older, "gpt-4.1": older, "gpt-oss-120b": older, "deepseek-chat": older, "qwen-omni": older, "": older,
    }  # fmt: skip
    assert {model: usual_limit(model) for model in known} == known
    assert CHAT.encode(prompt(USER, model="o3", max_output=9)) == {"model": "o3", "messages": [USER], newer: 9}


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_the_most_the_reply_may_be_keeps_the_name_it_was_sent_under(name: str) -> None:
    made = CHAT.decode({"model": "gpt-4o", "messages": [USER], name: 500})
    assert made.max_output == 500
    assert CHAT.encode(replace(made, max_output=100))[name] == 100


def test_a_stream_is_always_asked_for_its_usage_unless_the_client_said_no() -> None:
    assert CHAT.encode(prompt(USER, stream=True))["stream_options"] == {"include_usage": True}
    refused = CHAT.decode({"messages": [USER], "stream": True, "stream_options": {"include_usage": False}})
    assert CHAT.encode(refused)["stream_options"] == {"include_usage": False}


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, False),
        ({"stream_options": None}, False),
        ({"stream_options": {"include_obfuscation": False}}, False),
        ({"stream_options": {"include_usage": False}}, False),
        ({"stream_options": {"include_usage": True}}, True),
    ],
)
def test_it_is_remembered_whether_the_client_asked_for_the_usage(options: dict[str, Any], asked: bool) -> None:
    assert asks_for_usage(CHAT.decode({"messages": [USER], "stream": True, **options})) is asked


def test_a_reply_that_is_no_longer_streamed_is_sent_no_options_for_a_stream() -> None:
    made = CHAT.decode({"messages": [USER], "stream": True, "stream_options": {"include_obfuscation": False}})
    assert CHAT.encode(replace(made, stream=False)) == {"messages": [USER]}


def test_settings_are_said_in_the_words_all_dialects_share() -> None:
    made = CHAT.decode({"messages": [USER], "stop": "END", "tool_choice": "any", "temperature": 0, "top_p": None})
    assert made.settings == {"stop": ["END"], "tool_choice": "required", "temperature": 0}
    assert CHAT.encode(replace(made, settings={"stop": ["STOP"]})) == {
        "messages": [USER],
        "stop": ["STOP"],
        "top_p": None,
    }


def test_a_choice_of_tools_that_only_chat_has_is_no_setting() -> None:
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}
    made = CHAT.decode({"messages": [USER], "tool_choice": choice})
    assert (made.settings, CHAT.encode(made)["tool_choice"]) == ({}, choice)


def test_tools_that_only_another_provider_runs_are_left_out() -> None:
    function = {"type": "function", "function": {"name": "look"}}
    groq, zai = {"type": "code_interpreter"}, {"type": "web_search", "web_search": {"enable": True}}
    foreign = [
        {"type": "web_search_20250305", "name": "web_search"},
        {"type": "web_search"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "mcp", "server_url": "u"},
    ]
    tools = ({**function, "anthropic": {"defer_loading": True}}, groq, zai, *foreign)
    assert CHAT.encode(prompt(USER, tools=tools))["tools"] == [function, groq, zai]


def test_another_dialects_fields_are_left_out() -> None:
    made = prompt(USER, foreign={"anthropic": {"thinking": {"type": "enabled"}}, "chat": {"seed": 7}})
    assert CHAT.encode(made) == {"messages": [USER], "seed": 7}


# ── messages that have been elsewhere ──


def test_thoughts_of_other_providers_are_left_out_and_their_blocks_told_as_text() -> None:
    said = {"role": "assistant", "content": [THINKING, text("Searching."), SEARCH, FOUND]}
    [_, spelled] = sent(USER, said)
    assert spelled["content"] == [
        text("Searching."),
        text('{"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "clew"}}'),
        text('{"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}'),
    ]


def test_what_is_left_of_a_thoughtful_message_is_a_plain_text() -> None:
    assert sent(USER, {"role": "assistant", "content": [THINKING, text("Done.")]})[1]["content"] == "Done."


def test_a_message_of_nothing_but_thoughts_is_left_out() -> None:
    assert sent(USER, {"role": "assistant", "content": [THINKING]}, USER) == [USER, USER]
    calling = {"role": "assistant", "content": [THINKING], "tool_calls": [call("c1")]}
    assert sent(USER, calling)[1] == {**calling, "content": None}


def test_mistrals_thoughts_are_chats_own() -> None:
    said = {"role": "assistant", "content": [{"type": "thinking", "thinking": [text("hm")]}, text("Done.")]}
    assert sent(USER, said) == [USER, said]


def test_a_part_that_nobody_knows_is_passed_on() -> None:
    odd = {"role": "user", "content": [text("see"), {"type": "hologram", "hologram": {}}]}
    assert sent(odd) == [odd]


def test_the_places_of_calls_are_left_out() -> None:
    mixed = [text("First"), {"type": "tool_use", "id": "c1"}, text("then")]
    [_, spelled] = sent(USER, {"role": "assistant", "content": mixed, "tool_calls": [call("c1", anthropic={"n": 1})]})
    assert spelled == {"role": "assistant", "content": [text("First"), text("then")], "tool_calls": [call("c1")]}


def test_a_document_of_anthropics_is_a_file() -> None:
    [spelled] = sent({"role": "user", "content": [text("Read."), PAPER]})
    file = {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PNG}"}
    assert spelled["content"] == [text("Read."), {"type": "file", "file": file}]


def test_a_text_keeps_its_cache_point_and_loses_its_citations() -> None:
    marked = {**text("said"), "cache_control": {"type": "ephemeral"}}
    [_, spelled] = sent(USER, {"role": "assistant", "content": [{**marked, "citations": []}]})
    assert spelled["content"] == [marked]


def test_fields_beside_the_content_that_nobody_knows_stay() -> None:
    said = {"role": "assistant", "content": "ok", "reasoning_content": "hm", "prefix": True, "annotations": []}
    assert sent(USER, said) == [USER, said]


def test_pictures_in_results_follow_the_run_of_results_in_a_user_message() -> None:
    calls = {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2")]}
    results = [
        {"role": "tool", "tool_call_id": "c1", "content": [text("a shot"), PICTURE]},
        {"role": "tool", "tool_call_id": "c2", "content": [PICTURE, PICTURE]},
    ]
    told = "[{} of the parts of this result: see the user message after the results]"
    spelled = sent(USER, calls, *results, {"role": "assistant", "content": "I see."})
    assert sent(USER, calls, *results) == spelled[:-1]
    assert spelled[2:] == [
        {**results[0], "content": [text("a shot"), text(told.format(1))]},
        {**results[1], "content": [text(told.format(2))]},
        {
            "role": "user",
            "content": [text("[From the result of c1:]"), PICTURE, text("[From the result of c2:]"), PICTURE, PICTURE],
        },
        {"role": "assistant", "content": "I see."},
    ]


def test_a_result_in_texts_stays_as_it_is() -> None:
    result = {"role": "tool", "tool_call_id": "c1", "content": [text("a"), text("b")]}
    assert sent(USER, {"role": "assistant", "content": None, "tool_calls": [call("c1")]}, result)[2] == result


def test_a_result_with_nothing_left_to_say_is_empty_but_still_there() -> None:
    result = {"role": "tool", "tool_call_id": "c1", "content": [REASONING]}
    spelled = sent(USER, {"role": "assistant", "content": None, "tool_calls": [call("c1")]}, result)
    assert spelled[2] == {**result, "content": ""}


def test_nothing_that_was_handed_in_is_changed() -> None:
    raw = {"role": "tool", "tool_call_id": "c1", "content": [PICTURE], "anthropic": {}}
    message = read_message(raw)
    CHAT.encode(Prompt("", (message,)))
    assert message.raw == {"role": "tool", "tool_call_id": "c1", "content": [PICTURE], "anthropic": {}}

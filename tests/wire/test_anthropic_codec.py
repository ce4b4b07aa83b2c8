"""Does a prompt come back from Anthropic's spelling as it went, and would the API take every one?"""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.facts.exchange import Prompt
from clew.facts.messages import BadMessages, message, read_messages
from clew.wire.anthropic import ANTHROPIC
from clew.wire.anthropic.request import DEFAULT_OUTPUT
from clew.wire.legal import validate_messages
from tests.histories import legal_histories, odd_histories
from tests.wire.anthropic_bodies import bodies
from tests.wire.exchanges import PNG, prompts

decode, encode = ANTHROPIC.decode, ANTHROPIC.encode
RECORDED = Path(__file__).parents[1] / "recorded" / "transcripts"


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "claude-opus-5", "max_tokens": 100, "messages": list(messages), **fields}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def says(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def use(call_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": {"deck": 2}, **more}


def result(call_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "dark", **more}


def call(call_id: str = "t1", arguments: str = '{"deck": 2}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "look", "arguments": arguments}}


def raws(prompt: Prompt) -> list[Any]:
    return [found.to_dict() for found in prompt.messages]


def spelled(*messages: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = encode(Prompt("", read_messages(messages), **fields))["messages"]
    return found


ASK = {"role": "user", "content": "Is the lamp lit?"}


# ── Laws ──


@settings(max_examples=60)
@given(prompts())
def test_a_prompt_that_every_dialect_can_spell_is_legal_and_comes_back_the_same(prompt: Prompt) -> None:
    made = encode(prompt)
    assert validate_messages(made["messages"], "anthropic") == []
    assert decode(made) == prompt


@settings(max_examples=60)
@given(bodies())
def test_a_body_comes_back_the_same_and_untouched(made: dict[str, Any]) -> None:
    before = copy.deepcopy(made)
    prompt = decode(made)
    assert encode(prompt) == before == made
    assert decode(encode(prompt)) == prompt
    assert validate_messages(encode(prompt)["messages"], "anthropic") == []
    wrong_for_chat = validate_messages(raws(prompt), "openai")
    assert [problem for problem in wrong_for_chat if "part" not in problem] == []  # pairs, order and roles are right


@settings(max_examples=40)
@given(legal_histories(most=5))
def test_a_legal_history_is_legal_when_spelled(history: list[dict[str, Any]]) -> None:
    assert validate_messages(spelled(*history), "anthropic") == []


@settings(max_examples=60)
@given(odd_histories, st.booleans())
def test_any_history_is_spelled_without_empty_texts(history: list[Any], streamed: bool) -> None:
    made = encode(Prompt("", read_messages(history), stream=streamed))
    json.dumps(made)
    for told in made["messages"]:
        assert told["role"] in ("user", "assistant")
        assert told["content"]
        for block in told["content"] if isinstance(told["content"], list) else [text(told["content"])]:
            assert block["type"] != "text" or block["text"].strip()


@settings(max_examples=40)
@given(legal_histories(most=4), st.data())
def test_a_longer_history_extends_the_shorter_one(history: list[dict[str, Any]], data: st.DataObject) -> None:
    turns = [place for place, told in enumerate(history) if told["role"] in ("user", "tool")]
    shorter = spelled(*history[: data.draw(st.sampled_from(turns)) + 1])
    longer = spelled(*history)
    assert shorter[:-1] == longer[: len(shorter) - 1]
    last, same = shorter[-1]["content"], longer[len(shorter) - 1]["content"]
    assert same[: len(last)] == last


odd_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["user", "text", "tool_result", "tool_use", "image"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "input", "id", "source", "tool_use_id", "name"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)
odd_bodies = st.dictionaries(
    st.sampled_from(
        ["messages", "system", "tools", "tool_choice", "metadata", "output_config", "max_tokens", "stream", "model"]
    ),
    odd_values,
)


@settings(max_examples=100)
@given(odd_bodies | odd_values, st.lists(odd_values, max_size=4))
def test_any_body_is_read_or_refused(made: Any, messages: list[Any]) -> None:
    for each in (made, {**made, "messages": messages} if isinstance(made, dict) else messages):
        with suppress(BadMessages):
            json.dumps(encode(decode(each)))


def test_a_recorded_request_comes_back_the_same() -> None:
    made = json.loads((RECORDED / "anthropic.json").read_text())
    assert encode(decode(made)) == {"max_tokens": DEFAULT_OUTPUT, **made}


# ── Messages ──


def test_one_user_message_becomes_results_and_what_was_said() -> None:
    made = body(ASK, says(use("a"), use("b")), user(result("a"), result("b", is_error=True), text("And?")), ASK)
    assert raws(decode(made))[2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "dark"},
        {"role": "tool", "tool_call_id": "b", "content": "dark", "is_error": True},
        {"role": "user", "content": "And?"},
        ASK,
    ]


def test_results_and_the_words_behind_them_make_one_user_message() -> None:
    history = [
        ASK,
        {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "dark"},
        {"role": "tool", "tool_call_id": "b", "name": "look", "content": "dark"},
        {"role": "user", "content": "And?"},
        {"role": "user", "content": "Well?"},
    ]
    assert spelled(*history)[1:] == [
        says(use("a"), use("b")),
        user(result("a"), result("b"), text("And?")),
        {"role": "user", "content": "Well?"},
    ]


@pytest.mark.parametrize(
    "laid_out",
    [
        [user(result("a")), user(result("b"))],
        [user(result("a"), result("b")), user(text("And?"))],
        [user(result("a"), result("b")), {"role": "user", "content": "And?"}],
        [user(text("First:"), result("a"), text("then"), result("b"))],
        [user(result("a"), text("between"), text("two"), result("b"))],
    ],
)
def test_another_layout_of_results_is_kept(laid_out: list[dict[str, Any]]) -> None:
    made = body(ASK, says(use("a"), use("b")), *laid_out)
    prompt = decode(made)
    assert [found.role for found in prompt.messages][2:4] == ["tool", "tool"]
    assert encode(prompt) == made


def test_a_layout_that_no_longer_fits_gives_way_to_the_usual_one() -> None:
    prompt = decode(body(ASK, says(use("a"), use("b")), user(text("First:"), result("a"), result("b"))))
    asked, called, first, _, said = prompt.messages
    fewer = replace(prompt, messages=(asked, called.calling(called.calls[:1]), first, said))
    assert encode(fewer)["messages"][1:] == [says(use("a")), user(result("a"), text("First:"))]
    for odd in ([0, 2], ["x"], "x", None):
        told = {"role": "user", "content": [text("1"), text("2"), text("3")], "anthropic": {"results_at": odd}}
        made = spelled(*raws(fewer)[:3], told)
        assert made[2] == user(result("a"), text("1"), text("2"), text("3"))


def test_a_marker_stays_where_it_stands() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    made = body(user(text("Look.", **mark)), says(text("I look."), use(**mark)), user(result(**mark)))
    asked, called, answered = raws(decode(made))
    assert asked["content"] == [text("Look.", **mark)]
    assert called["tool_calls"] == [{**call(), **mark}]
    assert answered == {"role": "tool", "tool_call_id": "t1", "content": "dark", **mark}
    assert encode(decode(made)) == made


def test_pictures_are_spelled_as_chat_does_where_it_can() -> None:
    inline = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    filed = {"type": "image", "source": {"type": "file", "file_id": "f"}}
    linked = {"type": "image", "source": {"type": "url", "url": "https://example.org/x.png"}}
    mark = {"cache_control": {"type": "ephemeral"}}
    made = body(user(inline, filed, linked), says(use()), user(result(content=[{**inline, **mark}])))
    asked, _, answered = raws(decode(made))
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    assert asked["content"] == [url, filed, {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}]
    assert answered["content"] == [{**url, **mark}]
    assert encode(decode(made)) == made


def test_parts_that_anthropic_has_not_are_turned_or_told() -> None:
    history = [
        {
            "role": "user",
            "content": [
                {"type": "file", "file": {"filename": "log.pdf", "file_data": "data:application/pdf;base64,AA=="}},
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
                {"type": "image_url", "image_url": "https://example.org/x.png"},
                {"type": "input_text", "text": "see", "cache_control": {"type": "ephemeral"}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "id": "rs_1", "summary": []},
                {"type": "web_search_call", "id": "ws_1"},
                {"type": "refusal", "refusal": "No."},
            ],
        },
    ]
    asked, answer = spelled(*history)
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "AA=="}
    assert asked["content"] == [
        {"type": "document", "source": pdf, "title": "log.pdf"},
        text('{"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}'),
        {"type": "image", "source": {"type": "url", "url": "https://example.org/x.png"}},
        text("see", cache_control={"type": "ephemeral"}),
    ]
    assert answer["content"] == [text('{"type": "web_search_call", "id": "ws_1"}'), text("No.")]


def test_a_refusal_beside_the_content_is_said() -> None:
    assert spelled(ASK, {"role": "assistant", "content": None, "refusal": "No."}, ASK)[1] == says(text("No."))


def test_a_thought_without_a_signature_is_not_sent() -> None:
    unsigned = {"type": "thinking", "thinking": "hm", "signature": ""}
    history = [ASK, {"role": "assistant", "content": [unsigned, text("Yes.")], "reasoning_content": "hm"}, ASK]
    assert spelled(*history)[1] == says(text("Yes."))


def test_a_system_message_in_mid_conversation_can_be_told_from_the_users_words() -> None:
    history = [ASK, {"role": "assistant", "content": "Yes."}, {"role": "developer", "content": "Be brief."}, ASK]
    made = spelled(*history)
    assert made[2] == {"role": "user", "content": "<developer-message>\nBe brief.\n</developer-message>"}
    back = decode(body(*made))
    assert [found.role for found in back.messages] == ["user", "assistant", "user", "user"]


def test_a_result_of_chats_calls_of_old_is_told_with_its_name() -> None:
    asks = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    made = spelled(ASK, asks, {"role": "function", "name": "look", "content": "dark"})
    assert made[1] == says(text('{"function_call": {"name": "look", "arguments": "{}"}}'))
    assert made[2] == {"role": "user", "content": "<function-message name='look'>\ndark\n</function-message>"}


def test_system_messages_at_the_front_belong_to_the_system_prompt() -> None:
    made = encode(Prompt("Be kind.", (message("system", "Be brief."), message("user", "hi"))))
    assert made["system"] == "Be kind.\n\nBe brief."
    assert made["messages"] == [{"role": "user", "content": "hi"}]


def test_a_role_that_newer_models_have_is_kept() -> None:
    added = {"role": "system", "content": [{"type": "tool_addition", "tool": {"type": "tool_reference", "name": "x"}}]}
    made = body(ASK, says(text("Yes.")), added, ASK)
    assert [found.role for found in decode(made).messages] == ["user", "assistant", "system", "user"]
    assert encode(decode(made)) == made
    first = body(added, ASK)
    assert encode(decode(first)) == first


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"a": [1, 2.0]}', {"a": [1, 2.0]}),
        ("", {}),
        ("[1]", {"arguments": "[1]"}),
        ('{"a": ', {"arguments": '{"a": '}),
        ("NaN", {"arguments": "NaN"}),
        ('{"a": NaN}', {"arguments": '{"a": NaN}'}),
    ],
)
def test_arguments_are_an_object_whatever_the_model_wrote(arguments: str, sent: Any) -> None:
    made = spelled(ASK, {"role": "assistant", "content": None, "tool_calls": [call(arguments=arguments)]})
    assert made[1]["content"][0]["input"] == sent


def test_a_call_of_a_custom_tool_keeps_its_text() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    made = spelled(ASK, {"role": "assistant", "content": None, "tool_calls": [custom]})
    assert made[1] == says({"type": "tool_use", "id": "c", "name": "patch", "input": {"arguments": "*** Begin"}})


def test_ids_that_the_api_refuses_are_made_legal_alike_for_call_and_result() -> None:
    history = [ASK]
    for odd in ("functions.look:0", "functions.look.0", "", "必"):
        history += [
            {"role": "assistant", "content": None, "tool_calls": [call(odd)]},
            {"role": "tool", "tool_call_id": odd, "content": "dark"},
        ]
    made = spelled(*history)
    assert validate_messages(made, "anthropic") == []
    assert len({told["content"][0]["id"] for told in made if told["role"] == "assistant"}) == 4
    assert made == spelled(*history)


def test_an_empty_reply_is_left_out_and_an_empty_question_says_so() -> None:
    made = spelled({"role": "user", "content": " "}, {"role": "assistant", "content": " \n"}, ASK)
    assert made == [{"role": "user", "content": "(no content)"}, ASK]


def test_blank_texts_among_others_are_left_out() -> None:
    blank = {"role": "tool", "tool_call_id": "t1", "content": [text(" "), text("dark")]}
    asks = {"role": "assistant", "content": [text("\n"), text("I look.")], "tool_calls": [call()]}
    assert spelled({"role": "user", "content": [text(""), text("hi")]}, asks, blank) == [
        user(text("hi")),
        says(text("I look."), use()),
        user(result(content=[text("dark")])),
    ]


def test_an_error_without_words_gets_some() -> None:
    failed = {"role": "tool", "tool_call_id": "t1", "content": "", "is_error": True}
    made = spelled(ASK, {"role": "assistant", "content": None, "tool_calls": [call()]}, failed)
    assert made[2] == user(result(content="(no content)", is_error=True))


def test_a_reply_to_go_on_from_ends_neither_in_blanks_nor_in_a_thought() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    assert spelled(ASK, {"role": "assistant", "content": "The lamp is "})[1] == says(text("The lamp is"))
    assert spelled(ASK, {"role": "assistant", "content": [text("Yes."), thought]})[1] == says(text("Yes."))
    assert spelled(ASK, {"role": "assistant", "content": [thought]}) == [ASK]
    plain = body(ASK, {"role": "assistant", "content": "The lamp is"})
    assert encode(decode(plain)) == plain
    assert encode(decode(body(ASK, {"role": "assistant", "content": "The lamp is "}))) == plain


# ── System, tools, knobs ──


def test_system_blocks_are_kept_and_what_was_appended_follows_in_one_of_its_own() -> None:
    blocks = [text("Be kind."), text("Be brief.", cache_control={"type": "ephemeral"})]
    prompt = decode(body(ASK, system=blocks))
    assert prompt.system == "Be kind.\n\nBe brief."
    assert encode(prompt)["system"] == blocks
    longer = replace(prompt, system=prompt.system + "\n\nNote.")
    assert encode(longer)["system"] == [*blocks, text("Note.")]
    assert decode(encode(longer)).system == longer.system
    assert encode(replace(prompt, system="Other."))["system"] == "Other."


def test_tools_with_a_schema_are_functions_and_anthropics_own_stay_as_they_are() -> None:
    look = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}, "defer_loading": True}
    marked = {"name": "ask", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}
    bash = {"type": "bash_20250124", "name": "bash"}
    prompt = decode(body(ASK, tools=[look, marked, bash]))
    function = {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}
    asking = {"name": "ask", "parameters": {"type": "object"}}
    assert prompt.tools == (
        {"type": "function", "function": function, "anthropic": {"defer_loading": True}},
        {"type": "function", "function": asking, "cache_control": {"type": "ephemeral"}},
        bash,
    )
    assert encode(prompt)["tools"] == [look, marked, bash]


def test_a_function_without_parameters_gets_the_schema_the_api_wants() -> None:
    tools = ({"type": "function", "function": {"name": "look", "description": None}},)
    made = encode(Prompt("", (message("user", "hi"),), tools))
    assert made["tools"] == [{"name": "look", "input_schema": {"type": "object", "properties": {}}}]


def test_tools_that_another_provider_runs_are_left_out() -> None:
    tools = ({"type": "web_search_preview"}, {"type": "custom", "custom": {"name": "patch"}})
    made = encode(Prompt("", (message("user", "hi"),), tools, settings={"tool_choice": "auto"}))
    assert "tools" not in made
    assert "tool_choice" not in made


@pytest.mark.parametrize(
    ("knobs", "sent"),
    [
        ({"temperature": 1.7}, {"temperature": 1.0}),
        ({"stop": ["\n", "END"]}, {"stop_sequences": ["END"]}),
        ({"stop": ["\n"]}, {}),
        ({"parallel_tool_calls": False}, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
        ({"parallel_tool_calls": True}, {}),
        ({"tool_choice": "none", "parallel_tool_calls": False}, {"tool_choice": {"type": "none"}}),
        ({"reasoning_effort": "minimal", "response_format": {"type": "json_object"}, "seed": 1}, {}),
        ({"reasoning_effort": "high"}, {"output_config": {"effort": "high"}}),
        ({"user": "u"}, {"metadata": {"user_id": "u"}}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}},
            {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        ),
    ],
)
def test_knobs_are_turned_as_far_as_anthropic_has_them(knobs: dict[str, Any], sent: dict[str, Any]) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    plain = Prompt("", (message("user", "hi"),), (tool,))
    assert encode(replace(plain, settings=knobs)) == {**encode(plain), **sent}


def test_knobs_that_others_have_too_become_settings() -> None:
    made = body(
        ASK,
        tools=[{"name": "look", "input_schema": {"type": "object"}}],
        tool_choice={"type": "any", "disable_parallel_tool_use": True},
        stop_sequences=["END"],
        metadata={"user_id": "u", "more": 1},
        output_config={"effort": "low", "task_budget": {"total": 9}},
        top_k=4,
    )
    prompt = decode(made)
    assert prompt.settings == {
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "stop": ["END"],
        "user": "u",
        "reasoning_effort": "low",
    }
    assert prompt.foreign == {
        "anthropic": {"output_config": {"task_budget": {"total": 9}}, "metadata": {"more": 1}, "top_k": 4}
    }
    assert encode(prompt) == made


def test_a_choice_of_tools_that_chat_cannot_spell_is_kept_as_it_is() -> None:
    choice = {"type": "auto", "among": ["look"]}
    made = body(ASK, tools=[{"name": "look", "input_schema": {"type": "object"}}], tool_choice=choice)
    assert decode(made).settings == {}
    assert encode(decode(made)) == made


def test_an_output_is_always_asked_for() -> None:
    assert encode(Prompt("", (message("user", "hi"),)))["max_tokens"] == DEFAULT_OUTPUT


def test_what_other_dialects_alone_spell_is_left_out() -> None:
    odd = {"role": "user", "content": "hi", "responses": {"id": "x"}, "name": "ann"}
    made = encode(Prompt("", read_messages([odd]), foreign={"chat": {"seed": 1}}))
    assert made == {"model": "", "max_tokens": DEFAULT_OUTPUT, "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("made", "place"),
    [
        ([], "the request"),
        ({}, "messages"),
        ({"messages": {}}, "messages"),
        ({"messages": [ASK, "hi"]}, "message 1"),
        ({"messages": [{"content": "hi"}]}, "message 0"),
    ],
)
def test_a_body_that_is_none_is_refused_by_name(made: Any, place: str) -> None:
    with pytest.raises(BadMessages, match=place):
        decode(made)

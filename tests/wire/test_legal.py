"""Does the judge report what a provider refuses, and nothing else?"""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.wire.legal import DIALECTS, validate_messages


def call(call_id: str = "c1", arguments: Any = "{}", name: str = "look") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tool(call_id: str = "c1", content: Any = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def user(content: Any = "hi") -> dict[str, Any]:
    return {"role": "user", "content": content}


def says(content: Any = "ok") -> dict[str, Any]:
    return {"role": "assistant", "content": content}


SYSTEM = {"role": "system", "content": "Be kind."}
USER = user()
SAYS = says()

LEGAL_EVERYWHERE = {
    "one question": [USER],
    "with a system text": [SYSTEM, {"role": "developer", "content": "Be brief."}, USER, SAYS],
    "a call and its result": [USER, asks(call()), tool(), SAYS],
    "parallel calls answered in any order": [USER, asks(call("a"), call("b")), tool("b"), tool("a"), SAYS],
    "words beside the calls": [USER, asks(call(), content="Looking."), tool(), user("and?")],
    "empty words beside the calls": [USER, asks(call(), content=""), tool(), SAYS],
    "calls in flight": [USER, SAYS, USER, asks(call("a"), call("b"))],
    "calls in flight, partly answered": [USER, asks(call("a"), call("b")), tool("a")],
    "an id used again": [USER, asks(call()), tool(), asks(call()), tool(), SAYS],
    "an empty result": [USER, asks(call()), tool(content=""), SAYS],
    "a result in parts": [USER, asks(call()), tool(content=[{"type": "text", "text": "done"}]), SAYS],
    "the same role twice": [USER, USER, SAYS, SAYS, USER],
    "a picture": [user([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "u"}}]), SAYS],
    "fields nobody knows": [{**USER, "ts": 1}, {**SAYS, "reasoning_content": "hm"}],
    "nothing where calls could be": [USER, {**SAYS, "tool_calls": None}],
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("history", LEGAL_EVERYWHERE.values(), ids=LEGAL_EVERYWHERE)
def test_a_legal_chat_history_is_legal_in_every_dialect(history: list[Any], dialect: str) -> None:
    assert validate_messages(history, dialect) == []


OPENAI_REFUSES = {
    "an orphan result": (
        [USER, tool("x")],
        "message 2: tool result for call 'x' that no earlier assistant message made",
    ),
    "a result apart from its call": (
        [USER, asks(call()), USER, tool()],
        "message 4: tool result for call 'c1' stands apart from its call",
    ),
    "a call without a result": (
        [USER, asks(call()), USER],
        "message 2: call 'c1' has no result before message 3",
    ),
    "a call partly answered in the middle": (
        [USER, asks(call("a"), call("b")), tool("a"), SAYS],
        "message 2: call 'b' has no result before message 4",
    ),
    "a call without a result before another call": (
        [USER, asks(call("a")), asks(call("b")), tool("b")],
        "message 2: call 'a' has no result before message 3",
    ),
    "a system message between call and result": (
        [USER, asks(call()), SYSTEM, tool()],
        "message 2: call 'c1' has no result before message 3",
    ),
    "two results": ([USER, asks(call()), tool(), tool()], "message 4: a second tool result for call 'c1'"),
    "two calls with one id": ([USER, asks(call(), call())], "message 2: two calls have the id 'c1'"),
    "a call without an id": ([USER, asks(call(""))], "message 2: call 1 has no id"),
    "a call without a type": (
        [USER, asks({**call(), "type": None})],
        "message 2: call 1 is of type None, not function",
    ),
    "a call without a name": ([USER, asks(call(name=""))], "message 2: call 1 names no function"),
    "a call that is no object": ([USER, asks("look")], "message 2: call 1 has no id"),  # type: ignore[arg-type]
    "arguments that are no JSON": (
        [USER, asks(call(arguments='{"a": '))],
        "message 2: the arguments of call 1 are not JSON",
    ),
    "arguments only Python can read": (
        [USER, asks(call(arguments="NaN"))],
        "message 2: the arguments of call 1 are not JSON",
    ),
    "empty arguments": ([USER, asks(call(arguments=""))], "message 2: the arguments of call 1 are not JSON"),
    "arguments that are no text": (
        [USER, asks(call(arguments={}))],
        "message 2: the arguments of call 1 are dict, not text",
    ),
    "no calls in a list of calls": ([USER, {**SAYS, "tool_calls": []}], "message 2: tool_calls is an empty list"),
    "calls that are no list": ([USER, {**SAYS, "tool_calls": "x"}], "message 2: tool_calls is str, not a list"),
    "calls by the user": ([{**USER, "tool_calls": [call()]}], "message 1: tool_calls in a message of role 'user'"),
    "an empty user message": ([user("")], "message 1: the user's content is empty"),
    "a user message of no parts": ([user([])], "message 1: the user's content is empty"),
    "a user message of empty parts": ([user([{"type": "text", "text": ""}])], "message 1: the user's content is empty"),
    "a user message without content": (
        [{"role": "user"}],
        "message 1: content is NoneType, neither text nor a list of parts",
    ),
    "an empty reply": ([USER, says("")], "message 2: the assistant has neither content nor tool calls"),
    "a reply without anything": ([USER, says(None)], "message 2: the assistant has neither content nor tool calls"),
    "a number for content": ([user(7)], "message 1: content is int, neither text nor a list of parts"),
    "a result without content": (
        [USER, asks(call()), tool(content=None)],
        "message 3: content is NoneType, neither text nor a list of parts",
    ),
    "a result without an id": ([USER, asks(call()), tool("")], "message 3: a tool result without a tool_call_id"),
    "a picture in a result": (
        [USER, asks(call()), tool(content=[{"type": "image_url", "image_url": {"url": "u"}}])],
        "message 3: part 1 is of type 'image_url', which tool messages cannot have",
    ),
    "a picture in a reply": (
        [USER, says([{"type": "image_url", "image_url": {"url": "u"}}])],
        "message 2: part 1 is of type 'image_url', which assistant messages cannot have",
    ),
    "a text part without text": (
        [user([{"type": "text"}, {"type": "file"}])],
        "message 1: part 1 is a text part without text",
    ),
    "a system message of no parts": ([{"role": "system", "content": []}, USER], "message 1: content is an empty list"),
    "an unknown role": ([USER, {"role": "oracle", "content": "x"}], "message 2: unknown role 'oracle'"),
    "no role": ([USER, {"content": "x"}], "message 2: unknown role None"),
    "a function result without a name": (
        [USER, {"role": "function", "content": "x"}],
        "message 2: a function result without a name",
    ),
    "a function result that is no text": (
        [USER, {"role": "function", "name": "f", "content": 7}],
        "message 2: the content of a function result is int, not text",
    ),
    "no object": ([USER, 3], "message 2: not a message but int"),
    "no messages": ([], "there is no user message"),
    "no user": ([SYSTEM, SAYS], "there is no user message"),
    "the assistant first": (
        [SYSTEM, SAYS, USER],
        "message 2: the first message after the system's is not the user's but 'assistant'",
    ),
}


@pytest.mark.parametrize(("history", "problem"), OPENAI_REFUSES.values(), ids=OPENAI_REFUSES)
def test_openai_refuses(history: list[Any], problem: str) -> None:
    assert problem in validate_messages(history)


def test_each_mistake_is_told_once() -> None:
    assert validate_messages([USER, asks(call("a"), call("b")), tool("b"), USER]) == [
        "message 2: call 'a' has no result before message 4"
    ]


def test_a_legacy_function_call_and_a_custom_call_are_legal_for_openai() -> None:
    legacy = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    custom = asks({"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "free text"}})
    result = {"role": "function", "name": "look", "content": "done"}
    assert validate_messages([USER, legacy, result, custom, tool(), SAYS]) == []


def test_a_refusal_and_a_sound_are_content_enough() -> None:
    assert validate_messages([USER, {**says(None), "refusal": "no"}, USER, {**says(None), "audio": {"id": "a"}}]) == []


# ── Anthropic ──


def blocks(*content: Any, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": list(content)}


def use(call_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": {}, **more}


def result(call_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "done", **more}


TEXT = {"type": "text", "text": "ok"}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}

ANTHROPIC_TAKES = {
    "native calls and results": [USER, blocks(THINKING, TEXT, use()), blocks(result(), TEXT, role="user"), SAYS],
    "results spread over user messages": [
        USER,
        blocks(use("a"), use("b")),
        blocks(result("a"), role="user"),
        blocks(result("b"), role="user"),
    ],
    "pictures": [blocks(PICTURE, TEXT, role="user"), blocks(use()), blocks(result(content=[PICTURE]), role="user")],
    "a result without content": [
        USER,
        blocks(use()),
        blocks({"type": "tool_result", "tool_use_id": "t1"}, role="user"),
    ],
    "tools that ran at the provider": [
        USER,
        blocks({"type": "server_tool_use", "id": "s1"}, {"type": "web_search_tool_result", "tool_use_id": "s1"}, TEXT),
        USER,
    ],
    "an empty last reply": [USER, says("")],
    "a picture in a chat result": [
        USER,
        asks(call()),
        tool(content=[{"type": "image_url", "image_url": {"url": "u"}}]),
    ],
    "blank words beside chat calls": [USER, asks(call(), content=" \n"), tool(), SAYS],
    "a last reply going on": [USER, says("The answer is")],
    "a reply in the middle that ends in blanks": [USER, says("ok \n"), USER],
    "a text after a call in one reply": [USER, blocks(use(), TEXT)],
}


@pytest.mark.parametrize("history", ANTHROPIC_TAKES.values(), ids=ANTHROPIC_TAKES)
def test_anthropic_takes(history: list[Any]) -> None:
    assert validate_messages(history, "anthropic") == []


ANTHROPIC_REFUSES = {
    "nothing": ([], "there is no message"),
    "only a system text": ([SYSTEM], "there is no message"),
    "the assistant first": ([SAYS, USER], "message 1: the first message is not the user's but 'assistant'"),
    "a late system message": ([USER, SYSTEM, SAYS], "message 2: a system message after the conversation has begun"),
    "a call without a result": (
        [USER, blocks(use()), USER],
        "message 2: call 't1' has no result in the message after it",
    ),
    "a chat call without a result": (
        [USER, asks(call()), USER],
        "message 2: call 'c1' has no result in the message after it",
    ),
    "a call partly answered": (
        [USER, blocks(use("a"), use("b")), blocks(result("a"), role="user"), SAYS],
        "message 2: call 'b' has no result in the message after it",
    ),
    "a call partly answered before words": (
        [USER, blocks(use("a"), use("b")), blocks(result("a"), TEXT, role="user")],
        "message 2: call 'b' has no result in the message after it",
    ),
    "a call the assistant talks over": (
        [USER, asks(call()), SAYS],
        "message 2: call 'c1' has no result before the assistant goes on",
    ),
    "a result after words": (
        [USER, blocks(use()), blocks(TEXT, result(), role="user")],
        "message 3: tool result for call 't1' comes after other content",
    ),
    "a chat result after words": (
        [USER, asks(call()), USER, tool()],
        "message 4: tool result for call 'c1' comes after other content",
    ),
    "an orphan result": (
        [USER, SAYS, blocks(result("x"), role="user")],
        "message 3: tool result for call 'x' that the assistant's message before did not make",
    ),
    "a result too late": (
        [USER, blocks(use()), blocks(result(), role="user"), SAYS, blocks(result(), role="user")],
        "message 5: tool result for call 't1' that the assistant's message before did not make",
    ),
    "two results": (
        [USER, blocks(use()), blocks(result(), result(), role="user")],
        "message 3: a second tool result for call 't1'",
    ),
    "two calls with one id": ([USER, blocks(use(), use())], "message 2: two calls of one turn have the id 't1'"),
    "two calls with one id in neighbouring replies": (
        [USER, blocks(use()), blocks(use())],
        "message 3: two calls of one turn have the id 't1'",
    ),
    "an empty user message": ([user(""), SAYS], "message 1: the content is empty"),
    "an empty reply in the middle": ([USER, says([]), USER], "message 2: the content is empty"),
    "a blank message": ([user(" \n")], "message 1: the text is blank"),
    "a blank chat message": ([SYSTEM, user(" \n")], "message 2: the content is empty"),
    "an empty block": (
        [USER, blocks({"type": "text", "text": ""}, TEXT), USER],
        "message 2: block 1 is a text without anything but blanks in it",
    ),
    "a call by the user": (
        [blocks(use(), role="user")],
        "message 1: block 1 is a tool_use, which only the assistant makes",
    ),
    "a result by the assistant": (
        [USER, blocks(result())],
        "message 2: block 1 is a tool_result, which only the user's messages carry",
    ),
    "thinking by the user": (
        [blocks(THINKING, role="user")],
        "message 1: block 1 is thinking, which only the assistant does",
    ),
    "an id with odd characters": (
        [USER, blocks(use("a b"))],
        "message 2: block 1 is a tool_use with the id 'a b'; letters, digits, _ and - are allowed",
    ),
    "a call without a name": ([USER, blocks(use(name=""))], "message 2: block 1 is a tool_use that names no tool"),
    "input that is no object": (
        [USER, blocks(use(input="{}"))],
        "message 2: block 1 is a tool_use whose input is str, not an object",
    ),
    "chat arguments that are no object": (
        [USER, asks(call(arguments="[1]"))],
        "message 2: the arguments of call 1 are not a JSON object",
    ),
    "chat arguments that are no JSON": (
        [USER, asks(call(arguments="{"))],
        "message 2: the arguments of call 1 are not JSON",
    ),
    "an empty error": (
        [USER, blocks(use()), blocks(result(content="", is_error=True), role="user")],
        "message 3: block 1 is a tool_result that tells of an error but is empty",
    ),
    "a blank text in a result": (
        [USER, blocks(use()), blocks(result(content=[{"type": "text", "text": ""}]), role="user")],
        "message 3: block 1 is a tool_result with a blank text in it",
    ),
    "a number for a result": (
        [USER, blocks(use()), blocks(result(content=7), role="user")],
        "message 3: block 1 is a tool_result whose content is int",
    ),
    "a block without a type": ([blocks("hi", role="user")], "message 1: block 1 has no type"),
    "a last reply that ends in blanks": (
        [USER, says("The answer is ")],
        "message 2: the last message is the assistant's and ends in blanks",
    ),
    "a last reply that ends in thinking": (
        [USER, blocks(TEXT, THINKING)],
        "message 2: the last message is the assistant's and ends in thinking",
    ),
    "an unknown role": ([USER, {"role": "oracle", "content": "x"}], "message 2: unknown role 'oracle'"),
    "a number for content": ([user(7)], "message 1: content is int, neither text nor blocks"),
    "a function result": (
        [USER, {"role": "function", "name": "f", "content": "x"}],
        "message 2: a message of role function has no counterpart",
    ),
    "no object": ([USER, None], "message 2: not a message but NoneType"),
}


@pytest.mark.parametrize(("history", "problem"), ANTHROPIC_REFUSES.values(), ids=ANTHROPIC_REFUSES)
def test_anthropic_refuses(history: list[Any], problem: str) -> None:
    assert problem in validate_messages(history, "anthropic")


# ── Responses ──


def fc(call_id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}", **more}


def out(call_id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": "done", **more}


ASK = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}

RESPONSES_TAKES = {
    "a call and its output": [ASK, REASONING, fc(), out(), ANSWER],
    "calls and outputs by turns": [ASK, fc("a"), fc("b"), out("b"), out("a")],
    "a message between call and output": [ASK, fc(), ANSWER, out()],
    "calls in flight": [ASK, ANSWER, REASONING, fc("a"), fc("b"), out("b")],
    "an id used again": [ASK, fc(), out(), fc(), out(), ANSWER],
    "a system item in parts": [{"role": "system", "content": [{"type": "input_text", "text": "x"}]}, ASK, fc(), out()],
    "a custom tool": [
        ASK,
        {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "free"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"},
    ],
    "a shell": [ASK, {"type": "local_shell_call", "call_id": "c1", "action": {}}, out()],
    "items without pairs": [ASK, {"type": "web_search_call", "id": "w"}, {"type": "item_reference", "id": "x"}],
    "a picture in a chat result": [
        USER,
        asks(call()),
        tool(content=[{"type": "image_url", "image_url": {"url": "u"}}]),
    ],
}


@pytest.mark.parametrize("history", RESPONSES_TAKES.values(), ids=RESPONSES_TAKES)
def test_responses_takes(history: list[Any]) -> None:
    assert validate_messages(history, "responses") == []


RESPONSES_REFUSES = {
    "nothing": ([], "there is no item"),
    "a call without an output": ([ASK, fc(), ASK], "message 2: call 'c1' has no output"),
    "a chat call without an output": ([USER, asks(call()), USER], "message 2: call 'c1' has no output"),
    "an orphan output": ([ASK, out("x")], "message 2: output for call 'x' that no earlier item made"),
    "an orphan chat result": ([USER, tool("x")], "message 2: output for call 'x' that no earlier item made"),
    "an output before its call": ([ASK, out(), fc()], "message 2: output for call 'c1' that no earlier item made"),
    "two outputs": ([ASK, fc(), out(), out()], "message 4: a second output for call 'c1'"),
    "two calls with one id": ([ASK, fc(), fc(), out()], "message 3: two calls have the id 'c1'"),
    "an output of another kind": (
        [ASK, fc(), {"type": "custom_tool_call_output", "call_id": "c1", "output": "x"}],
        "message 3: a custom_tool_call_output for call 'c1', which is a function_call",
    ),
    "a call without an id": ([ASK, fc("")], "message 2: a function_call without a call_id"),
    "an output without an id": ([ASK, out("")], "message 2: a function_call_output without a call_id"),
    "a call without a name": ([ASK, fc(name="")], "message 2: a function_call that names no tool"),
    "arguments that are no JSON": ([ASK, fc(arguments="{")], "message 2: the arguments of a call are not JSON"),
    "arguments that are no text": ([ASK, fc(arguments={})], "message 2: the arguments of a call are dict, not text"),
    "input that is no text": (
        [ASK, {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": {}}],
        "message 2: the input of a call is dict, not text",
    ),
    "an output that is no text": (
        [ASK, fc(), out(output=7)],
        "message 3: the output of a call is int, neither text nor a list",
    ),
    "an answer in the words of a question": (
        [ASK, {**ANSWER, "content": [{"type": "input_text", "text": "ok"}]}],
        "message 2: part 1 is of type 'input_text', which assistant messages cannot have",
    ),
    "an empty question": ([{**ASK, "content": ""}], "message 1: the user's content is empty"),
    "an empty question in parts": (
        [{**ASK, "content": [{"type": "input_text", "text": ""}]}],
        "message 1: the user's content is empty",
    ),
    "no content": ([{**ASK, "content": None}], "message 1: content is NoneType, neither text nor a list of parts"),
    "an unknown role": ([{**ASK, "role": "oracle"}], "message 1: unknown role 'oracle'"),
    "reasoning that led to nothing": (
        [ASK, REASONING, ASK],
        "message 2: reasoning that is not followed by what it led to",
    ),
    "an item without a type": ([ASK, {"id": "x"}], "message 2: an item of type None"),
    "no object": ([ASK, "hi"], "message 2: not an item but str"),
    "an empty chat message": ([user(""), asks(call()), tool()], "message 1: the user's content is empty"),
}


@pytest.mark.parametrize(("history", "problem"), RESPONSES_REFUSES.values(), ids=RESPONSES_REFUSES)
def test_responses_refuses(history: list[Any], problem: str) -> None:
    assert problem in validate_messages(history, "responses")


# ── Any dialect ──


def test_an_unknown_dialect_is_refused_with_the_names_of_the_three() -> None:
    with pytest.raises(ValueError, match=r"'gemini'.*openai, anthropic, responses"):
        validate_messages([USER], "gemini")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("odd", [None, 3, "text", b"bytes", {"role": "user"}])
def test_what_is_no_list_is_reported(odd: Any, dialect: str) -> None:
    assert validate_messages(odd, dialect) == [f"not a list of messages but {type(odd).__name__}"]


def test_a_long_id_is_shortened_in_the_sentence() -> None:
    [problem] = validate_messages([USER, tool("x" * 5000)])
    assert len(problem) < 200


keys = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "tool_calls",
        "id",
        "function",
        "name",
        "arguments",
        "tool_call_id",
        "tool_use_id",
        "input",
        "call_id",
        "output",
        "text",
    ]
)
words = st.sampled_from(
    [
        "user",
        "assistant",
        "system",
        "tool",
        "function",
        "text",
        "tool_use",
        "tool_result",
        "function_call",
        "function_call_output",
        "message",
        "reasoning",
        "thinking",
        "c1",
        "c2",
        "{}",
        "[",
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.dictionaries(keys, values, max_size=6) | values, max_size=5), st.sampled_from(list(DIALECTS)))
def test_any_values_are_judged_and_none_raises_or_is_changed(history: list[Any], dialect: str) -> None:
    before = copy.deepcopy(history)
    for problem in validate_messages(history, dialect):
        assert problem.strip() == problem != ""
    assert json.dumps(history) == json.dumps(before)


@st.composite
def legal_histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = [USER]
    for _ in range(draw(st.integers(0, 4))):
        ids = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=3))
        if ids:
            history.append(asks(*map(call, ids)))
            history.extend(tool(call_id) for call_id in draw(st.permutations(ids)))
        history.append(draw(st.sampled_from([USER, SAYS])))
    return history


@given(legal_histories(), st.data())
def test_losing_any_one_result_makes_a_legal_history_illegal(
    history: list[dict[str, Any]], data: st.DataObject
) -> None:
    for dialect in DIALECTS:
        assert validate_messages(history, dialect) == []
    places = [place for place, message in enumerate(history) if message["role"] == "tool"]
    if not places:
        return
    lost = data.draw(st.sampled_from(places))
    without = history[:lost] + history[lost + 1 :]
    for dialect in DIALECTS:
        assert validate_messages(without, dialect) != []

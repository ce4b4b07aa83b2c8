"""What messages, tools and whole prompts weigh."""

import base64

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.tokens import Scale, count_message, count_tools, estimate_tokens, factor, part_tokens
from clew.tokens.messages import CALL, MESSAGE, _message

LETTERS = Scale(len)  # one token for each character makes every sum visible

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = [
    *("role", "content", "tool_calls", "name", "tool_call_id", "reasoning", "reasoning_content", "reasoning_details"),
    *("refusal", "function_call", "function", "arguments", "id", "type", "text", "image_url", "source", "data"),
    *("thinking", "signature", "encrypted_content", "input", "tool_use_id"),
]
TYPES = ["text", "image", "image_url", "file", "thinking", "redacted_thinking", "tool_use", "tool_result", "surprise"]
odd_parts = st.dictionaries(st.sampled_from(KEYS), values | st.sampled_from(TYPES), max_size=6)
odd_messages = st.dictionaries(st.sampled_from(KEYS), values | st.lists(odd_parts, max_size=3) | odd_parts, max_size=8)


def weigh(**message: object) -> int:
    """The weight of a message above that of an empty one."""
    return count_message({"role": "assistant", **message}, LETTERS) - MESSAGE


def test_a_message_weighs_its_text_and_the_marks_around_it() -> None:
    assert count_message({"role": "user", "content": "hello"}, LETTERS) == MESSAGE + 5
    assert count_message({"role": "assistant", "content": None}, LETTERS) == MESSAGE


def test_content_may_be_a_list_of_parts() -> None:
    assert weigh(content=[{"type": "text", "text": "abc"}, {"type": "input_text", "text": "de"}, "f"]) == 6


def test_a_call_weighs_its_id_its_name_and_its_arguments() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}}
    assert weigh(content="", tool_calls=[call, call]) == 2 * (CALL + 6 + 4 + 12)


def test_arguments_that_are_no_string_weigh_what_they_are_as_json() -> None:
    call = {"id": "call_1", "function": {"name": "read", "arguments": {"path": "a"}}}
    assert weigh(tool_calls=[call]) == CALL + 6 + 4 + len('{"path":"a"}')


def test_a_result_weighs_the_id_of_its_call() -> None:
    assert weigh(content="ok", tool_call_id="call_1", name="read") == 2 + 6 + 4


def test_the_same_thoughts_in_three_fields_are_counted_once() -> None:
    once = weigh(content="x", reasoning="because")
    details = [{"type": "reasoning.text", "text": "because"}]
    assert once == 1 + 7
    assert weigh(content="x", reasoning_content="because") == once
    assert weigh(content="x", reasoning="because", reasoning_content="because", reasoning_details=details) == once
    assert weigh(content="x", reasoning_details=details) == once


def test_what_only_the_provider_can_read_does_not_weigh_by_its_length() -> None:
    sealed = "Q" * 1200
    assert weigh(content=[{"type": "thinking", "thinking": "hm", "signature": sealed}]) == 2 + 100
    assert weigh(content=[{"type": "redacted_thinking", "data": sealed}]) == 100
    assert weigh(reasoning_details=[{"type": "reasoning.encrypted", "data": sealed}]) == 100
    assert weigh(reasoning="hm", reasoning_details=[{"type": "reasoning.encrypted", "data": sealed}]) == 2 + 100
    assert weigh(content=[{"type": "reasoning", "encrypted_content": sealed}]) == len('{"type":"reasoning"}') + 100


def test_an_image_weighs_by_its_size_wherever_it_stands() -> None:
    link = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    assert weigh(content=[link]) == 765
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [link, {"type": "text", "text": "a cat"}]}
    assert weigh(content=[result]) == CALL + 2 + 765 + 5
    screenshot = "data:image/png;base64," + "A" * 100_000
    assert weigh(content=[{"type": "screen", "output": {"picture": screenshot}}]) < 1000
    assert weigh(content=[{"type": "screen", "output": [{"type": "image", "data": "A" * 100_000}]}]) < 1000


def test_a_file_does_not_weigh_by_its_length() -> None:
    encoded = base64.b64encode(bytes(96_000)).decode()
    assert weigh(content=[{"type": "file", "file": {"filename": "a.pdf", "file_data": encoded}}]) == 5 + 2000
    plain = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hello"}}
    assert weigh(content=[plain]) == 5


def test_a_part_of_an_unknown_kind_weighs_what_it_is_as_json() -> None:
    part = {"type": "surprise", "inside": [1, {"deep": "value"}]}
    assert weigh(content=[part]) == len('{"type":"surprise","inside":[1,{"deep":"value"}]}')


def test_anthropic_calls_weigh_like_others() -> None:
    block = {"type": "tool_use", "id": "call_1", "name": "read", "input": {"path": "a"}}
    call = {"id": "call_1", "function": {"name": "read", "arguments": {"path": "a"}}}
    assert weigh(content=[block]) == weigh(tool_calls=[call])


plain_calls = st.lists(
    st.fixed_dictionaries(
        {"id": st.text(), "type": st.just("function")},
        optional={"function": st.fixed_dictionaries({"name": st.text(), "arguments": st.text()})},
    ),
    max_size=3,
)
plain_messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": st.one_of(st.none(), st.text())},
    optional={"tool_calls": plain_calls, "tool_call_id": st.text(), "name": st.text()},
)


@given(st.one_of(plain_messages, odd_messages))
@example({"role": "assistant", "tool_calls": {}})
@example({"role": "assistant", "tool_calls": 0})
def test_the_quick_look_weighs_what_the_close_one_does(message: dict[str, object]) -> None:
    pieces = _message(message, part_tokens)
    closely = sum(LETTERS.count(piece) if isinstance(piece, str) else piece for piece in pieces)
    assert count_message(message, LETTERS) == closely


@given(odd_messages)
def test_any_message_weighs_something(message: dict[str, object]) -> None:
    assert count_message(message, Scale()) >= MESSAGE


@given(values)
def test_any_content_weighs_something(content: object) -> None:
    assert count_message({"role": "user", "content": content}, LETTERS) >= MESSAGE


def test_what_cannot_be_sent_as_json_weighs_nothing_and_breaks_nothing() -> None:
    circle: list[object] = []
    circle.append(circle)
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    for content in (circle, deep, {("a", "b"): 1}, object(), {1, 2}):
        assert count_message({"role": "user", "content": [{"type": "odd", "value": content}]}, LETTERS) >= MESSAGE
    assert count_message("not a message", LETTERS) == 13  # type: ignore[arg-type]


@given(st.text(max_size=200), st.text(alphabet="abc déя中\n", min_size=30, max_size=60))
def test_a_message_to_which_text_is_added_weighs_more(text: str, more: str) -> None:
    scale = Scale()
    # Two tokens of slack: the added text may complete a word that had been cut in pieces.
    assert count_message({"content": text + more}, scale) + 2 >= count_message({"content": text}, scale)


def test_every_tool_weighs_its_json_and_the_marks_around_it() -> None:
    assert count_tools([{"name": "a"}, {"name": "bc"}], LETTERS) == 2 * CALL + len('{"name":"a"}') + len(
        '{"name":"bc"}'
    )
    assert count_tools([], LETTERS) == 0


def test_a_prompt_weighs_its_messages_its_system_text_and_its_tools() -> None:
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    bare = estimate_tokens(messages)
    assert bare == MESSAGE + 7
    assert estimate_tokens([]) == 0
    assert estimate_tokens(messages, system="Be brief.") == bare + MESSAGE + 3
    assert estimate_tokens(messages, system=[{"type": "text", "text": "Be brief."}]) == bare + MESSAGE + 3
    assert estimate_tokens(messages, tools=[{"name": "search"}]) > bare + CALL


def test_the_text_of_a_prompt_is_scaled_to_the_model_and_its_images_are_not() -> None:
    text = [{"role": "user", "content": "word " * 1000}]
    assert estimate_tokens(text, model="claude-opus-4-5") == pytest.approx(1.18 * estimate_tokens(text), abs=5)
    link = {"type": "image", "source": {"type": "url", "url": "https://example.org/cat.png"}}
    assert estimate_tokens([{"role": "user", "content": [link]}], model="claude-opus-4-5") == MESSAGE + 1399


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (None, 1.0),
        ("", 1.0),
        ("gpt-5.5", 1.0),
        ("a-model-nobody-knows", 1.0),
        ("claude-sonnet-4-5-20250929", 1.18),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", 1.18),
        ("anthropic/claude-opus-4.7", 1.56),
        ("claude-opus-5", 1.70),
        ("Claude-Sonnet-5", 1.70),
    ],
)
def test_each_model_has_its_factor(model: str | None, expected: float) -> None:
    assert factor(model) == expected

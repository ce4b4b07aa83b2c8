"""Does a message keep the order in which it said and called things?"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.facts.messages import ToolCall, read_message
from clew.wire.content import Item, as_content, composed, items_of, plain
from tests.wire.exchanges import images, texts

THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}


def call(call_id: str) -> ToolCall:
    function = {"name": "look", "arguments": "{}"}
    return ToolCall(call_id, "look", "{}", {"id": call_id, "type": "function", "function": function})


@st.composite
def sequences(draw: st.DrawFn) -> list[Item]:
    parts = draw(st.lists(texts | images | st.just(THINKING) | st.just(plain("")), max_size=4))
    mixed = [*parts, *(call(f"c{n}") for n in range(draw(st.integers(0, 3))))]
    return draw(st.permutations(mixed))


@settings(max_examples=60)
@given(sequences())
def test_what_was_said_and_called_comes_back_in_its_order(items: list[Item]) -> None:
    assert items_of(composed(items)) == items


def test_a_plain_text_is_just_that() -> None:
    assert composed([plain("Hi")]).raw == {"role": "assistant", "content": "Hi"}
    assert composed([plain("Hi"), call("c1")]).raw["content"] == "Hi"
    assert composed([call("c1")]).raw["content"] is None


def test_places_are_marked_only_where_something_was_said_after_a_call() -> None:
    before, after = plain("First"), plain("then")
    mark = {"type": "tool_use", "id": "c1"}
    assert composed([before, THINKING, call("c1")]).raw["content"] == [before, THINKING]
    assert composed([before, call("c1"), after]).raw["content"] == [before, mark, after]
    assert composed([call("c1"), after]).raw["tool_calls"] == [call("c1").raw]


def test_fields_beside_the_content_are_kept() -> None:
    assert composed([plain("42")], reasoning_content="hm").raw["reasoning_content"] == "hm"


def test_a_call_that_was_taken_away_leaves_no_place() -> None:
    message = composed([plain("a"), call("c1"), plain("b"), call("c2")]).calling([call("c2")])
    assert items_of(message) == [plain("a"), plain("b"), call("c2")]


def test_a_call_that_was_put_in_later_stands_last() -> None:
    message = composed([call("c1"), plain("b")]).calling([call("c1"), call("c2")])
    assert items_of(message) == [call("c1"), plain("b"), call("c2")]


def test_odd_content_is_told_as_text() -> None:
    raw: dict[str, Any] = {"role": "assistant", "content": ["bare", {"type": "text", "text": "said"}, 7]}
    assert items_of(read_message(raw)) == [plain("bare"), plain("said"), plain("7")]
    assert items_of(read_message({"role": "assistant", "content": None})) == []


def test_a_text_with_more_to_it_stays_a_part() -> None:
    marked = {**plain("Hi"), "cache_control": {"type": "ephemeral"}}
    assert as_content([marked]) == [marked]
    assert as_content([plain("")]) == [plain("")]
    assert as_content([]) is None

"""A message is read once, loses nothing, and odd ones have a reading too."""

from __future__ import annotations

import pytest
from hypothesis import given

from clew import BadMessages
from clew.facts.messages import other_parts, read_message, read_messages, tool_call
from tests.histories import odd_histories


@given(odd_histories)
def test_every_dict_with_a_role_survives_its_reading(history):
    assert [said.to_dict() for said in read_messages(history)] == history


def test_unknown_fields_stay_when_the_text_changes():
    raw = {"role": "assistant", "content": "old", "reasoning_content": "hm", "id": "msg_1"}
    assert read_message(raw).saying("new").to_dict() == {**raw, "content": "new"}
    assert raw["content"] == "old"


def test_pictures_stay_when_the_text_changes():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    said = read_message({"role": "user", "content": [{"type": "text", "text": "look"}, picture]})
    assert said.text == "look"
    assert other_parts(said.saying("see")) == [picture]


@pytest.mark.parametrize("content", [None, 7, [], [None], [{"type": "text"}], {"a": 1}])
def test_odd_content_has_a_text(content):
    assert isinstance(read_message({"role": "user", "content": content}).text, str)


@pytest.mark.parametrize(
    ("bad", "says"), [("hello", "message 2: expected a dict"), ({"content": "x"}, "message 2: no role")]
)
def test_what_is_no_message_is_refused_by_its_place(bad, says):
    with pytest.raises(BadMessages, match=says):
        read_messages([{"role": "user"}, {"role": "user"}, bad])


def test_a_call_of_a_tool_that_takes_free_text_is_read_and_changed_in_its_own_form() -> None:
    raw = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    (call,) = read_message({"role": "assistant", "content": None, "tool_calls": [raw]}).calls
    assert (call.name, call.arguments) == ("sql", "SELECT 1")
    assert tool_call(call, "SELECT 2").raw == {**raw, "custom": {"name": "sql", "input": "SELECT 2"}}

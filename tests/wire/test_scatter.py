"""A whole reply taken apart and put together again."""

from __future__ import annotations

from hypothesis import given

from clew.facts.exchange import Reply
from clew.facts.messages import message, read_message
from clew.facts.pieces import Begun, Ended, Said
from clew.wire.gather import gather
from clew.wire.scatter import scatter
from tests.wire.exchanges import replies


@given(replies())
def test_what_is_scattered_is_gathered_as_it_was(reply: Reply) -> None:
    assert gather(scatter(reply)) == reply


def test_plain_text_is_said_and_not_a_part() -> None:
    assert [*scatter(Reply(message("assistant", "Hello")))] == [Begun(), Said("Hello"), Ended("stop")]


def test_thinking_refusals_and_the_order_of_parts_and_calls_survive() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}, "index": 0}
    free = {"id": "call_2", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "So:", "citations": []},
    ]
    raw = {"role": "assistant", "content": content, "reasoning_content": "why", "tool_calls": [call, free]}
    reply = Reply(read_message(raw), stop="tool_calls", foreign={"chat": {"system_fingerprint": "f"}})
    assert gather(scatter(reply)) == reply

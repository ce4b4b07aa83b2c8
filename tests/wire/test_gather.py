"""Do pieces come to the reply they tell?"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.facts.exchange import Failure, RateLimited, Reply
from clew.facts.messages import Message
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.facts.usage import Usage
from clew.wire.content import plain
from clew.wire.gather import gather
from clew.wire.scatter import scatter
from tests.wire.exchanges import replies


def said(*pieces: Piece) -> Message:
    reply = gather(pieces)
    assert isinstance(reply, Reply)
    return reply.message


@settings(max_examples=60)
@given(replies(), st.integers(1, 9))
def test_a_reply_in_pieces_of_any_size_is_the_same_reply(reply: Reply, size: int) -> None:
    assert gather(cut for piece in scatter(reply) for cut in _cut(piece, size)) == reply


def _cut(piece: Piece, size: int) -> list[Piece]:
    match piece:
        case Said(text):
            return [Said(text[start : start + size]) for start in range(0, len(text), size)]
        case Argued(place, text):
            return [Argued(place, text[start : start + size]) for start in range(0, len(text), size)]
    return [piece]


def test_all_that_is_reported_about_a_reply_is_in_it() -> None:
    foreign = {"chat": {"body": {"created": 7}}}
    pieces = [Begun("r1", "m"), Said("Hi"), Counted(Usage(1, 1)), Ended("length", foreign), Counted(Usage(9, 2))]
    reply = gather(pieces)
    assert isinstance(reply, Reply)
    assert (reply.id, reply.model, reply.stop, reply.usage, reply.foreign) == (
        "r1",
        "m",
        "length",
        Usage(9, 2),
        foreign,
    )


def test_nothing_at_all_is_an_empty_reply() -> None:
    assert gather([]) == Reply(said(), usage=None, stop="stop")
    assert said().raw == {"role": "assistant", "content": None}


def test_a_broken_stream_is_its_failure() -> None:
    failure: Failure = RateLimited(retry_after=2)
    assert gather([Begun("r1", "m"), Said("Hi"), Broken(failure)]) == failure


def test_text_goes_on_until_something_else_is_said() -> None:
    message = said(Said("a"), Counted(Usage(1, 1)), Beside("refusal", "no"), Said("b"), Part({"type": "x"}), Said("c"))
    assert message.raw["content"] == [plain("ab"), {"type": "x"}, plain("c")]


def test_text_after_the_end_still_belongs_to_it() -> None:
    assert said(Said("a"), Ended("stop"), Said("b")).raw["content"] == "ab"


def test_the_newest_part_grows_whatever_came_in_between() -> None:
    message = said(
        Part({"type": "thinking", "thinking": "h", "citations": None}),
        Grown("thinking", "m"),
        Said("so"),
        Called(0, "c1", "look"),
        Grown("signature", "s"),
        Grown("citations", {"n": 1}),
        Grown("citations", {"n": 2}),
    )
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s", "citations": [{"n": 1}, {"n": 2}]}
    assert message.raw["content"] == [thinking, plain("so")]


def test_a_part_that_was_handed_in_is_not_changed() -> None:
    part = {"type": "thinking", "thinking": ""}
    said(Part(part), Grown("thinking", "hm"))
    assert part == {"type": "thinking", "thinking": ""}


def test_fields_beside_the_content_grow_by_text_or_are_told_whole() -> None:
    message = said(Beside("reasoning", "h"), Beside("reasoning", "m"), Beside("annotations", [{"url": "a"}]))
    assert message.raw == {"role": "assistant", "content": None, "reasoning": "hm", "annotations": [{"url": "a"}]}


def test_arguments_find_their_call_in_any_order() -> None:
    calls = [Called(0, "c1", "look", {"extra_content": {"n": 1}}), Called(1, "c2", "read")]
    message = said(*calls, Argued(1, "{}"), Argued(0, '{"a"'), Argued(0, ": 1}"))
    assert message.raw["tool_calls"] == [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "look", "arguments": '{"a": 1}'},
            "extra_content": {"n": 1},
        },
        {"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{}"}},
    ]


def test_a_call_of_a_custom_tool_is_spelled_as_chat_does() -> None:
    message = said(Called(0, "c1", "patch", {"type": "custom"}), Argued(0, "*** Begin"))
    assert message.raw["tool_calls"] == [
        {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    ]

"""Does a stream say what the whole reply would have said, in and out?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.facts.exchange import Failure, Prompt, RateLimited, Reply, Unavailable
from clew.facts.messages import read_message
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.facts.usage import Usage
from clew.wire.anthropic import ANTHROPIC
from clew.wire.anthropic.stream_in import StreamReader
from clew.wire.gather import gather
from clew.wire.scatter import scatter
from clew.wire.sse import Event, EventReader, spell
from tests.wire.anthropic_bodies import answers
from tests.wire.exchanges import replies

STREAMS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "usage" / "sse"
PROMPT = Prompt("", (), model="claude-opus-5")


def read(stream: bytes) -> list[Piece]:
    events, reader = EventReader(), ANTHROPIC.reader()
    return [piece for event in events.feed(stream) + events.close() for piece in reader.feed(event)]


def write(pieces: Iterable[Piece]) -> list[Event]:
    writer = ANTHROPIC.writer(PROMPT)
    return [event for piece in pieces for event in writer.feed(piece)] + writer.close()


def bytes_of(pieces: Iterable[Piece]) -> bytes:
    return b"".join(map(spell, write(pieces)))


def told(pieces: Iterable[Piece]) -> list[Any]:
    return [json.loads(event.data) for event in write(pieces)]


def blocks(pieces: Iterable[Piece]) -> list[tuple[str, str]]:
    """The blocks of a stream in order, each with what its deltas say; breaks off where events are out of order."""
    found: list[tuple[str, str]] = []
    is_open = False
    for event in told(pieces):
        if event["type"] == "content_block_start":
            assert not is_open
            assert event["index"] == len(found)
            found.append((event["content_block"]["type"], ""))
            is_open = True
        elif event["type"] == "content_block_delta":
            assert is_open
            assert event["index"] == len(found) - 1
            kind, so_far = found[-1]
            found[-1] = (kind, so_far + "".join(str(v) for k, v in event["delta"].items() if k != "type"))
        elif event["type"] == "content_block_stop":
            assert is_open
            assert event["index"] == len(found) - 1
            is_open = False
    assert not is_open
    return found


def events(*made: dict[str, Any]) -> list[Piece]:
    return read(b"".join(spell(Event(json.dumps(each), each["type"])) for each in made))


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


# ── Laws ──


@settings(max_examples=50)
@given(replies())
def test_a_reply_streamed_and_read_is_the_same_reply(reply: Reply) -> None:
    assert gather(read(bytes_of(scatter(reply)))) == reply


@settings(max_examples=50)
@given(
    answers(["toolu_1", "toolu_2"]) | answers([]).filter(lambda content: isinstance(content, list)),
    st.sampled_from(["tool_use", "pause_turn", "end_turn"]),
)
def test_a_reply_of_anthropics_own_blocks_streamed_and_read_is_the_same(content: list[Any], reason: str) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    context = {"applied_edits": []}
    made = {"id": "m", "model": "x", "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage}
    reply = ANTHROPIC.decode_reply({**made, "container": {"id": "c"}, "context_management": context})
    assert gather(read(bytes_of(scatter(reply)))) == gather(scatter(reply))


@settings(max_examples=50)
@given(replies(), st.data())
def test_arguments_that_arrive_interleaved_come_out_in_order(reply: Reply, data: st.DataObject) -> None:
    calls = reply.message.calls
    pieces: list[Piece] = [Begun(reply.id, reply.model)]
    if reply.message.text:
        pieces.append(Said(reply.message.text))
    pieces += [Called(place, call.id, call.name) for place, call in enumerate(calls)]
    fragments = [Argued(place, letter) for place, call in enumerate(calls) for letter in call.arguments[:20]]
    by_turns = sorted(enumerate(fragments), key=lambda found: (data.draw(st.integers(0, 3)), found[0]))
    late = [Argued(place, call.arguments[20:]) for place, call in enumerate(calls)]
    ordered = [fragment for _, fragment in by_turns]
    for place in range(len(calls)):  # each call's own letters stay in order
        letters = iter([fragment for fragment in fragments if fragment.place == place])
        ordered = [next(letters) if fragment.place == place else fragment for fragment in ordered]
    pieces += [*ordered, *late, Ended(reply.stop)]
    if reply.usage:
        pieces.append(Counted(reply.usage))
    assert gather(read(bytes_of(pieces))) == reply


# ── Recorded streams ──


def recorded() -> list[Path]:
    return sorted(STREAMS.glob("anthropic*/*.sse"))


def test_recorded_streams_are_there() -> None:
    if not STREAMS.exists():
        pytest.skip("the corpus of recorded streams is not beside the project")
    assert recorded()


def whole(stream: bytes) -> dict[str, Any]:
    """The reply that a stream's events add up to, by Anthropic's documentation and without clew's reader."""
    reader = EventReader()
    reply: dict[str, Any] = {}
    inputs: dict[int, str] = {}
    grows = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
    for event in reader.feed(stream) + reader.close():
        made = json.loads(event.data)
        match made["type"]:
            case "message_start":
                reply = made["message"]
            case "content_block_start":
                reply["content"].append(made["content_block"])
            case "content_block_delta":
                block, change = reply["content"][made["index"]], made["delta"]
                if change["type"] == "citations_delta":
                    block.setdefault("citations", []).append(change["citation"])
                elif change["type"] == "input_json_delta":
                    inputs[made["index"]] = inputs.get(made["index"], "") + change["partial_json"]
                elif change["type"] == "compaction_delta":
                    block["content"] = change["content"]
                else:
                    block[grows[change["type"]]] += change[grows[change["type"]]]
            case "message_delta":
                reply.update(made["delta"])
                reply["usage"].update(made["usage"])
                reply.update({key: made[key] for key in made if key == "context_management"})
    for index, text in inputs.items():
        if text:
            reply["content"][index]["input"] = json.loads(text)
    return reply


@pytest.mark.parametrize("path", recorded(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recorded_stream_says_what_the_whole_reply_says(path: Path) -> None:
    stream = path.read_bytes()
    reply = gather(read(stream))
    assert isinstance(reply, Reply)
    assert ANTHROPIC.encode_reply(reply) == whole(stream)
    again = gather(read(bytes_of(read(stream))))
    assert again == reply


# ── Reading ──


def test_a_call_is_told_as_it_comes() -> None:
    assert events(
        start(0, type="tool_use", id="t1", name="look", input={}, caller={"type": "direct"}),
        delta(0, "input_json_delta", partial_json=""),
        delta(0, "input_json_delta", partial_json='{"deck"'),
        delta(0, "input_json_delta", partial_json=": 2}"),
        stop(0),
    ) == [
        Called(0, "t1", "look", {"anthropic": {"caller": {"type": "direct"}}}),
        Argued(0, '{"deck"'),
        Argued(0, ": 2}"),
    ]


def test_a_call_whose_input_came_at_its_start_has_it() -> None:
    assert events(start(0, type="tool_use", id="t1", name="look", input={"deck": 2}), stop(0)) == [
        Called(0, "t1", "look"),
        Argued(0, '{"deck": 2}'),
    ]
    assert events(start(0, type="tool_use", id="t1", name="look", input={}), stop(0))[1] == Argued(0, "{}")


def test_texts_that_follow_one_another_stay_apart() -> None:
    assert events(
        start(0, type="text", text=""),
        delta(0, "text_delta", text="One."),
        stop(0),
        start(1, type="text", text=""),
        delta(1, "citations_delta", citation={"cited_text": "x"}),
        delta(1, "text_delta", text="Two."),
        stop(1),
        start(2, type="text", text=""),
        delta(2, "text_delta", text="Three."),
        stop(2),
        start(3, type="tool_use", id="t", name="look", input={}),
        stop(3),
        start(4, type="text", text="Four."),
        stop(4),
    ) == [
        Said("One."),
        Part({"type": "text", "text": ""}),
        Grown("citations", {"cited_text": "x"}),
        Grown("text", "Two."),
        Part({"type": "text", "text": ""}),
        Grown("text", "Three."),
        Called(0, "t", "look"),
        Argued(0, "{}"),
        Said("Four."),
    ]


def test_a_text_in_which_nothing_stands_is_still_told() -> None:
    assert events(start(0, type="text", text=""), stop(0)) == [Said("")]


def test_a_thought_grows_and_is_signed() -> None:
    assert events(
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="hm"),
        delta(0, "signature_delta", signature="c2ln"),
        stop(0),
    ) == [
        Part({"type": "thinking", "thinking": "", "signature": ""}),
        Grown("thinking", "hm"),
        Grown("signature", "c2ln"),
    ]


def test_blocks_of_other_kinds_are_given_when_they_are_whole() -> None:
    assert events(
        start(0, type="server_tool_use", id="s", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json='{"query": "lamp"}'),
        stop(0),
        start(1, type="compaction", content=None),
        delta(1, "compaction_delta", content="Earlier."),
        stop(1),
        start(2, type="kind_of_tomorrow", parts=[1]),
        delta(2, "delta_of_tomorrow", parts=[2], done=True),
        stop(2),
    ) == [
        Part({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "lamp"}}),
        Part({"type": "compaction", "content": "Earlier."}),
        Part({"type": "kind_of_tomorrow", "parts": [1, 2], "done": True}),
    ]


def test_counts_are_cumulative_and_the_end_is_told() -> None:
    pieces = events(
        {
            "type": "message_start",
            "message": {"id": "m", "model": "x", "usage": {"input_tokens": 9, "output_tokens": 1}},
        },
        {"type": "ping"},
        {"type": "event_of_tomorrow"},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "stop_sequence", "stop_sequence": "END"},
            "usage": {"output_tokens": 7, "input_tokens": None},
        },
        {"type": "message_stop"},
    )
    assert pieces == [
        Begun("m", "x"),
        Counted(Usage(input=9, output=1)),
        Counted(Usage(input=9, output=7)),
        Ended("stop", {"anthropic": {"stop_reason": "stop_sequence", "stop_sequence": "END"}}),
    ]


def test_a_reader_knows_whether_the_reply_came_to_its_end() -> None:
    reader = StreamReader()
    reader.feed(Event(json.dumps(start(0, type="text", text="Hel"))))
    assert not reader.ended
    reader.feed(Event('{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}'))
    assert reader.ended
    bare = StreamReader()
    assert len(bare.feed(Event('{"type": "message_stop"}', "message_stop"))) == 1
    assert bare.ended


def test_an_error_in_the_stream_breaks_it() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert isinstance(gather(events(start(0, type="text", text="Hel"), error)), Unavailable)
    limited = {"type": "error", "error": {"type": "rate_limit_error", "message": "Number of requests has exceeded"}}
    assert isinstance(gather(events(limited)), RateLimited)


def test_an_event_that_is_no_json_breaks_the_stream_but_an_end_mark_does_not() -> None:
    assert read(b"data: [DONE]\n\ndata: 3\n\n") == []
    [broken] = read(b"event: content_block_delta\ndata: {oops\n\n")
    assert isinstance(broken, Broken)
    assert "{oops" in broken.failure.why


odd_values = st.recursive(
    st.none() | st.integers() | st.sampled_from(["text", "tool_use", "thinking", "x"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "usage", "delta", "message", "content_block", "input", "partial_json", "citation"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
kinds = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "error"]
)


@settings(max_examples=50)
@given(st.lists(st.tuples(kinds, odd_values), max_size=8))
def test_any_events_are_read(made: list[tuple[str, Any]]) -> None:
    reader = ANTHROPIC.reader()
    for kind, value in made:
        fields = value if isinstance(value, dict) else {"content_block": value, "delta": value}
        reader.feed(Event(json.dumps({**fields, "type": kind})))


# ── Writing ──


def test_a_chat_providers_pieces_become_anthropics_events() -> None:
    usage = Usage(input=9, output=4, raw={"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13})
    spelled = {
        "input_tokens": 9,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 4,
    }
    nothing = dict.fromkeys(spelled, 0)
    pieces = [Begun("chatcmpl-1", "gpt-5.2"), Said("Hi"), Said("!"), Called(0, "c", "look"), Argued(0, '{"a": 1}')]
    assert told([*pieces, Ended("tool_calls"), Counted(usage)]) == [
        {
            "type": "message_start",
            "message": {
                "id": "chatcmpl-1",
                "type": "message",
                "role": "assistant",
                "model": "gpt-5.2",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": nothing,
            },
        },
        start(0, type="text", text=""),
        delta(0, "text_delta", text="Hi"),
        delta(0, "text_delta", text="!"),
        stop(0),
        start(1, type="tool_use", id="c", name="look", input={}),
        delta(1, "input_json_delta", partial_json='{"a": 1}'),
        stop(1),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": spelled},
        {"type": "message_stop"},
    ]


def test_every_event_is_named_for_its_type() -> None:
    assert all(event.name == json.loads(event.data)["type"] for event in write([Said("Hi")]))


def test_what_the_prompt_weighed_is_told_at_the_start_when_it_is_known() -> None:
    usage = {"input_tokens": 9, "output_tokens": 1, "service_tier": "standard"}
    first, *_ = told([Begun("m", "x"), Counted(Usage(input=9, output=1, raw=usage)), Said("Hi")])
    assert first["message"]["usage"] == usage


def test_a_model_that_has_no_name_has_that_of_the_prompt() -> None:
    assert told([Begun("m"), Said("Hi")])[0]["message"]["model"] == PROMPT.model


def test_whole_blocks_are_told_field_by_field_as_anthropic_does() -> None:
    cited = {"type": "text", "text": "So.", "citations": [{"cited_text": "x"}]}
    searched = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "lamp"}}
    signed = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    own = {"context_management": {"applied_edits": []}, "container": {"id": "c"}}
    made = told([Part(signed), Part(searched), Part(cited), Ended("stop", {"anthropic": own})])
    assert made[1:-1] == [
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="hm"),
        delta(0, "signature_delta", signature="c2ln"),
        stop(0),
        start(1, type="server_tool_use", id="s", name="web_search", input={}),
        delta(1, "input_json_delta", partial_json='{"query": "lamp"}'),
        stop(1),
        start(2, type="text", text="", citations=[]),
        delta(2, "citations_delta", citation={"cited_text": "x"}),
        delta(2, "text_delta", text="So."),
        stop(2),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None, "container": {"id": "c"}},
            "usage": made[0]["message"]["usage"],
            "context_management": {"applied_edits": []},
        },
    ]


def test_a_piece_is_passed_on_as_soon_as_it_comes() -> None:
    writer = ANTHROPIC.writer(PROMPT)
    assert writer.feed(Begun()) == []
    assert [event.name for event in writer.feed(Said("Hi"))] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
    ]
    assert [event.name for event in writer.feed(Called(0, "a", "look"))] == [
        "content_block_stop",
        "content_block_start",
    ]
    assert [event.name for event in writer.feed(Argued(0, '{"a": 1}'))] == ["content_block_delta"]
    assert [event.name for event in writer.feed(Called(1, "b", "look"))] == [
        "content_block_stop",
        "content_block_start",
    ]
    assert [event.name for event in writer.feed(Argued(1, '{"a":'))] == ["content_block_delta"]
    assert writer.feed(Called(2, "c", "look")) == []  # the call before is not whole
    assert [event.name for event in writer.feed(Argued(1, " 2}"))] == ["content_block_delta"]


def test_a_chat_providers_thoughts_come_before_its_words() -> None:
    assert blocks(
        [
            Beside("audio", {"id": "a"}),
            Beside("reasoning_content", "h"),
            Beside("reasoning_content", "m"),
            Said("Hi"),
            Beside("reasoning", "?"),
        ]
    ) == [("thinking", "hm"), ("text", "Hi")]


def test_a_refusal_is_said() -> None:
    assert blocks([Beside("refusal", "No"), Beside("refusal", ".")]) == [("text", "No.")]


def test_parts_of_other_providers_are_dropped_or_told() -> None:
    assert blocks(
        [
            Part({"type": "reasoning", "id": "rs", "summary": []}),
            Grown("summary", {"text": "hm"}),
            Part({"type": "web_search_call", "id": "ws"}),
            Grown("status", "done"),
            Part({"type": "output_text", "text": "", "annotations": []}),
            Grown("text", "Hi"),
        ]
    ) == [("text", '{"type": "web_search_call", "id": "ws", "status": "done"}'), ("text", "Hi")]


def test_arguments_that_are_no_object_are_put_in_one() -> None:
    assert blocks(
        [
            Called(0, "a", "look"),
            Argued(0, "[1"),
            Argued(0, "]"),
            Called(1, "b", "patch", {"type": "custom"}),
            Argued(1, '{"free": '),
            Called(2, "c", "look"),
        ]
    ) == [
        ("tool_use", '{"arguments": "[1]"}'),
        ("tool_use", '{"arguments": "{\\"free\\": "}'),
        ("tool_use", ""),
    ]
    assert blocks([Called(0, "a", "look"), Argued(0, "1"), Called(1, "b", "look"), Argued(0, "2")]) == [
        ("tool_use", '{"arguments": "12"}'),
        ("tool_use", ""),
    ]


def test_a_stream_that_broke_ends_in_the_error_and_in_nothing_else() -> None:
    made = told([Begun(), Said("Hi"), Broken(Unavailable(why="gone"))])
    assert made[-1] == {"type": "error", "error": {"type": "overloaded_error", "message": "gone"}}
    failure = gather(read(bytes_of([Said("Hi"), Broken(Unavailable(why="gone"))])))
    assert isinstance(failure, Failure)


def test_a_reply_that_says_nothing_is_still_a_stream() -> None:
    assert [event["type"] for event in told([])] == ["message_start", "message_delta", "message_stop"]


def test_a_reply_with_a_thought_beside_reads_the_same_streamed_and_whole() -> None:
    said = {"role": "assistant", "content": "Hi", "reasoning_content": "hm"}
    reply = Reply(read_message(said), Usage(1, 2), id="x", model="y")
    assert gather(read(bytes_of(scatter(reply)))) == ANTHROPIC.decode_reply(ANTHROPIC.encode_reply(reply))

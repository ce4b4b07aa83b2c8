"""Streams of OpenAI's Responses, there and back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.facts.exchange import Failure, Prompt, PromptTooLong, RateLimited, Reply, Unavailable
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.facts.usage import Usage
from clew.wire.gather import gather
from clew.wire.responses import RESPONSES
from clew.wire.scatter import scatter
from clew.wire.sse import Event, EventReader, spell
from tests.recordings import CORPUS
from tests.wire.exchanges import replies
from tests.wire.responses_bodies import responses

NOTHING = Prompt("", ())
RECORDED = sorted(
    path for path in (CORPUS / "usage" / "sse").glob("*/*.sse") if b"event: response.created" in path.read_bytes()
)


def written(pieces: Iterable[Piece], prompt: Prompt = NOTHING) -> list[Event]:
    writer = RESPONSES.writer(prompt)
    return [event for piece in pieces for event in writer.feed(piece)] + writer.close()


def gathered(events: Iterable[Event]) -> Reply | Failure:
    """What the events come to, over the wire."""
    wire, reader = EventReader(), RESPONSES.reader()
    arrived = [*wire.feed(b"".join(map(spell, events))), *wire.close()]
    return gather(piece for event in arrived for piece in reader.feed(event))


def told(events: Iterable[Event]) -> list[dict[str, Any]]:
    return [json.loads(event.data) for event in events]


def stream(*events: dict[str, Any]) -> list[Event]:
    return [Event(json.dumps(event), event["type"]) for event in events]


@given(replies())
@settings(max_examples=25)
def test_a_reply_comes_back_from_its_stream(reply: Reply) -> None:
    events = written(scatter(reply))
    assert gathered(events) == reply
    assert told(events)[-1]["response"] == RESPONSES.encode_reply(reply)


@given(replies(), st.data())
@settings(max_examples=25)
def test_it_does_not_matter_how_the_pieces_were_cut(reply: Reply, data: st.DataObject) -> None:
    pieces = [bit for piece in scatter(reply) for bit in halves(piece, data)]
    assert gathered(written(pieces)) == reply


def halves(piece: Piece, data: st.DataObject) -> list[Piece]:
    if not isinstance(piece, Said | Argued) or not piece.text:
        return [piece]
    cut = data.draw(st.integers(0, len(piece.text)))
    return [replace(piece, text=piece.text[:cut]), replace(piece, text=piece.text[cut:])]


@given(responses(), st.integers(1, 7), st.booleans())
@settings(max_examples=40)
def test_a_stream_comes_to_what_its_last_event_says(body: dict[str, Any], size: int, silent: bool) -> None:
    events = as_sent(body, size, silent=silent)
    assert gathered(events) == RESPONSES.decode_reply(body)


def as_sent(body: dict[str, Any], size: int, *, silent: bool) -> list[Event]:
    """The events with which OpenAI streams such a response; `silent` leaves out all but the first and the last."""
    begun = {**body, "output": [], "status": "in_progress"}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for place, item in enumerate([] if silent else body["output"]):
        first = {**item, **{name: empty for name, empty in EMPTY.items() if name in item}}
        at = {"output_index": place, "item_id": item["id"]}
        events.append({"type": "response.output_item.added", "output_index": place, "item": first})
        for number, part in enumerate(item["content"] if item["type"] == "message" else ()):
            here = {**at, "content_index": number}
            events.append({"type": "response.content_part.added", **here, "part": {"type": part["type"]}})
            field = "text" if part["type"] == "output_text" else "refusal"
            events += deltas(f"response.{part['type']}", here, part[field], size)
        if item["type"] == "function_call":
            events += deltas("response.function_call_arguments", at, item["arguments"], size)
        if item["type"] == "custom_tool_call":
            events += deltas("response.custom_tool_call_input", at, item["input"], size)
        events.append({"type": "response.output_item.done", "output_index": place, "item": item})
    ending = "response.incomplete" if body["status"] == "incomplete" else "response.completed"
    return stream(*events, {"type": ending, "response": body})


EMPTY: dict[str, Any] = {"status": "in_progress", "content": [], "arguments": "", "input": "", "summary": []}


def deltas(kind: str, at: dict[str, Any], text: str, size: int) -> list[dict[str, Any]]:
    bits = [text[start : start + size] for start in range(0, len(text), size)]
    return [{"type": f"{kind}.delta", **at, "delta": bit} for bit in bits] + [{"type": f"{kind}.done", **at}]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_stream_comes_to_what_its_last_event_says(path: Path) -> None:
    wire = EventReader()
    events = [*wire.feed(path.read_bytes()), *wire.close()]
    whole = next(event["response"] for event in told(events) if event["type"] == "response.completed")
    reply = gathered(events)
    assert reply == RESPONSES.decode_reply(whole)
    assert RESPONSES.encode_reply(reply) == whole


def test_there_are_recorded_streams() -> None:
    if not CORPUS.exists():
        pytest.skip("the corpus of recorded streams is not beside the project")
    assert len(RECORDED) >= 5


def test_text_is_passed_on_as_it_comes() -> None:
    reader = RESPONSES.reader()
    begun = {"id": "resp_1", "model": "gpt-5.2"}
    events = stream(
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hel"},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "lo"},
    )
    assert [reader.feed(event) for event in events] == [[Begun("resp_1", "gpt-5.2")], [], [Said("Hel")], [Said("lo")]]


def test_a_half_stream_has_not_ended() -> None:
    events = written([Begun("r"), Said("Hello"), Ended("stop")])
    reader = RESPONSES.reader()
    for event in events[:-1]:
        reader.feed(event)
    assert not reader.ended  # type: ignore[attr-defined]
    reader.feed(events[-1])
    assert reader.ended  # type: ignore[attr-defined]


def test_events_of_kinds_unknown_and_a_done_behind_the_end_change_nothing() -> None:
    events = written([Begun("r", "m"), Said("Hello"), Ended("stop")])
    odd = stream({"type": "response.levitated", "height": 3}, {"type": "keepalive"})
    assert gathered([*odd, *events[:2], *odd, *events[2:], Event("[DONE]"), *odd]) == gathered(events)


def test_a_done_is_no_end() -> None:
    reader = RESPONSES.reader()
    assert reader.feed(Event("[DONE]")) == []
    assert not reader.ended  # type: ignore[attr-defined]


def test_nothing_follows_the_end() -> None:
    events = written([Begun("r", "m"), Said("Hello"), Ended("stop")])
    reader = RESPONSES.reader()
    assert [reader.feed(event) for event in (*events, events[-1])][-1] == []


def test_an_empty_text_is_a_text() -> None:
    part = {"type": "output_text", "text": "", "annotations": []}
    item = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [part]}
    body = {"id": "r", "status": "completed", "output": [item]}
    assert gathered(as_sent(body, 3, silent=False)) == RESPONSES.decode_reply(body)


def test_an_end_without_the_output_takes_the_items_that_were_told() -> None:
    events = written([Begun("r", "m"), Said("Hello"), Called(0, "c1", "ls"), Argued(0, "{}"), Ended("tool_calls")])
    *before, last = told(events)
    last["response"]["output"] = []
    assert gathered(stream(*before, last)) == gathered(events)


def test_a_thought_that_ends_after_the_answer_still_stands_before_it() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    answer = {"type": "message", "id": "m_1", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]}
    whole = {**thought, "content": [{"type": "reasoning_text", "text": "2+2"}]}
    reply = gathered(
        stream(
            {"type": "response.output_item.added", "output_index": 0, "item": thought},
            {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "2+"},
            {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "2"},
            {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "4"},
            {"type": "response.output_item.done", "output_index": 1, "item": answer},
            {"type": "response.output_item.done", "output_index": 0, "item": whole},
            {"type": "response.completed", "response": {"id": "r", "output": [whole, answer]}},
        )
    )
    assert isinstance(reply, Reply)
    assert reply.message.raw["content"] == [whole, {"type": "text", "text": "4"}]


TOO_LONG = {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.failed", "response": {"id": "r", "status": "failed", "error": TOO_LONG}},
        {"type": "error", "sequence_number": 3, **TOO_LONG, "param": None},
        {"type": "error", "error": {"type": "invalid_request_error", **TOO_LONG}},
    ],
)
def test_an_error_on_the_way_is_what_it_would_have_been_before(event: dict[str, Any]) -> None:
    assert isinstance(gathered(stream(event)), PromptTooLong)


def test_an_event_that_is_not_json_breaks_the_stream() -> None:
    assert isinstance(gathered([Event("<html>")]), Unavailable)


def test_a_text_is_told_as_openai_tells_it() -> None:
    events = told(written([Begun("r", "m"), Said("Hel"), Said("lo"), Counted(Usage(3, 2)), Ended("stop")]))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"].removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    added, part = events[2], events[3]
    assert (added["item"]["status"], added["item"]["content"], part["part"]["text"]) == ("in_progress", [], "")
    item = events[-2]["item"]
    assert (item["id"], item["status"], item["content"][0]["text"]) == ("msg_r_0", "completed", "Hello")
    assert events[-1]["response"]["output"] == [item]
    assert events[-1]["response"]["usage"]["total_tokens"] == 5


def test_a_text_that_came_as_a_part_is_a_text_of_its_own() -> None:
    pieces: list[Piece] = [Begun("r"), Said("A"), Part({"type": "text", "text": "B"}), Grown("text", "C"), Said("D")]
    events = told(written([*pieces, Ended("stop")]))
    (item,) = events[-1]["response"]["output"]
    assert [part["text"] for part in item["content"]] == ["A", "BC", "D"]
    ends = [event["type"] for event in events if event["type"].startswith("response.content_part")]
    assert ends == ["response.content_part.added", "response.content_part.done"] * 3


def test_a_thought_of_its_own_kind_is_told_whole_with_its_summary_bit_by_bit() -> None:
    summary = [{"type": "summary_text", "text": text} for text in ("First.", "Then.")]
    thought = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "gAAAA"}
    events = told(written([Begun("r"), Part(thought), Said("4"), Ended("stop")]))
    added = next(event for event in events if event["type"] == "response.output_item.added")
    assert added["item"] == {**thought, "summary": []}
    bits = [event for event in events if event["type"] == "response.reasoning_summary_text.delta"]
    assert [(bit["summary_index"], bit["delta"]) for bit in bits] == [(0, "First."), (1, "Then.")]
    assert events[-1]["response"]["output"][0] == thought


def test_calls_whose_arguments_come_mixed_keep_them_apart() -> None:
    pieces: list[Piece] = [
        Begun("r"),
        Called(0, "a", "ls"),
        Argued(0, '{"path"'),
        Called(1, "b", "cat"),
        Argued(1, "{}"),
        Argued(0, ': "."}'),
        Ended("tool_calls"),
    ]
    events = written(pieces)
    done = [event for event in told(events) if event["type"] == "response.function_call_arguments.done"]
    assert [(event["output_index"], event["arguments"]) for event in done] == [(0, '{"path": "."}'), (1, "{}")]
    assert gathered(events) == gather(pieces)


def test_a_call_that_is_whole_is_done_before_the_next_item_begins() -> None:
    pieces: list[Piece] = [Begun("r"), Called(0, "a", "ls"), Argued(0, "{}"), Said("And"), Ended("tool_calls")]
    kinds = [(event["type"], event.get("output_index")) for event in told(written(pieces))]
    assert kinds.index(("response.output_item.done", 0)) < kinds.index(("response.output_item.added", 1))


@pytest.mark.parametrize(
    "pieces",
    [
        [Part({"type": "thinking", "thinking": ""}), Grown("thinking", "Let me"), Grown("thinking", " see.")],
        [Part({"type": "thinking", "thinking": "Let me see."}), Grown("signature", "EqQB")],
        [Beside("reasoning_content", "Let me"), Beside("reasoning_content", " see.")],
        [Beside("reasoning", "Let me see.")],
    ],
)
def test_thinking_of_another_provider_is_shown_as_a_summary(pieces: list[Piece]) -> None:
    events = told(written([Begun("r"), *pieces, Said("4"), Ended("stop")]))
    thought, answer = events[-1]["response"]["output"]
    assert thought == {
        "type": "reasoning",
        "id": "rs_r_0",
        "summary": [{"type": "summary_text", "text": "Let me see."}],
    }
    assert answer["content"][0]["text"] == "4"
    shown = [event["delta"] for event in events if event["type"] == "response.reasoning_summary_text.delta"]
    assert "".join(shown) == "Let me see."


def test_a_part_of_another_provider_is_told_in_words() -> None:
    block = {"type": "server_tool_use", "id": "s1", "name": "web_search"}
    events = told(written([Begun("r"), Part({**block, "input": ""}), Grown("input", "{}"), Said("4"), Ended("stop")]))
    (item,) = events[-1]["response"]["output"]
    assert [part["text"] for part in item["content"]] == [json.dumps({**block, "input": "{}"}), "4"]


def test_a_refusal_keeps_its_words() -> None:
    for refusal in (Beside("refusal", "No."), Part({"type": "refusal", "refusal": "No."})):
        (item,) = told(written([Begun("r"), refusal, Ended("stop")]))[-1]["response"]["output"]
        assert item["content"] == [{"type": "refusal", "refusal": "No."}]


def test_a_custom_tools_input_is_told_as_it_comes() -> None:
    called = Called(0, "c1", "patch", {"type": "custom", "responses": {"id": "ctc_1", "status": "completed"}})
    events = told(written([Begun("r"), called, Argued(0, "*** "), Argued(0, "Begin"), Ended("tool_calls")]))
    bits = [event["delta"] for event in events if event["type"] == "response.custom_tool_call_input.delta"]
    assert bits == ["*** ", "Begin"]
    assert events[-1]["response"]["output"][0]["input"] == "*** Begin"


@given(responses())
@settings(max_examples=25)
def test_what_another_of_its_kind_streamed_is_streamed_again(body: dict[str, Any]) -> None:
    """With the ids under which it was told now: those of messages come too late to be told again."""
    reader = RESPONSES.reader()
    pieces = [piece for event in as_sent(body, 5, silent=False) for piece in reader.feed(event)]
    again, first = gathered(written(pieces)), gather(pieces)
    assert isinstance(again, Reply)
    assert isinstance(first, Reply)
    assert (again.message.raw["content"], again.message.calls) == (first.message.raw["content"], first.message.calls)
    assert (again.stop, again.usage, again.id, again.model) == (first.stop, first.usage, first.id, first.model)


def test_citations_are_told_with_the_end() -> None:
    entry = {"type": "message", "id": "msg_9", "phase": "final_answer", "content": [{"annotations": [{"url": "x"}]}]}
    last = told(written([Begun("r"), Said("Hi"), Beside("responses", [entry]), Ended("stop")]))[-1]  # type: ignore[arg-type]
    (item,) = last["response"]["output"]
    assert (item["id"], item["phase"], item["content"][0]["annotations"]) == ("msg_r_0", "final_answer", [{"url": "x"}])


def test_a_reply_that_was_cut_is_incomplete() -> None:
    last = told(written([Begun("r"), Said("Hel"), Ended("length")]))[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "max_output_tokens"}


def test_a_stream_that_broke_says_so_and_does_not_end_well() -> None:
    writer = RESPONSES.writer(NOTHING)
    pieces = [Begun("r"), Said("Hel"), Ended("stop"), Broken(RateLimited(why="Slow down."))]
    events = [event for piece in pieces for event in writer.feed(piece)]
    last = told(events)[-1]
    assert (last["type"], last["response"]["status"]) == ("response.failed", "failed")
    assert last["response"]["error"] == {"code": "rate_limit_exceeded", "message": "Slow down."}
    assert writer.close() == []
    assert isinstance(gathered(events), RateLimited)


def test_a_stream_that_broke_before_it_began_is_an_error_alone() -> None:
    (event,) = told(RESPONSES.writer(NOTHING).feed(Broken(PromptTooLong())))
    assert (event["type"], event["code"], event["sequence_number"]) == ("error", "context_length_exceeded", 0)


def test_a_stream_cut_off_does_not_end_as_if_it_were_whole() -> None:
    writer = RESPONSES.writer(NOTHING)
    writer.feed(Said("Hel"))
    assert writer.close() == []


def test_the_time_of_the_reply_is_what_the_prompt_was_given() -> None:
    prompt = Prompt("", (), model="gpt-5.2", foreign={"responses": {"created_at": 1_763_000_000}})
    events = told(written([Begun("r"), Ended("stop")], prompt))
    assert {event["response"]["created_at"] for event in events} == {1_763_000_000}
    assert events[-1]["response"]["model"] == "gpt-5.2"
    assert "created_at" not in RESPONSES.encode(prompt)

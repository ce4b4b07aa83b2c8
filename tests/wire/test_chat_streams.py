"""Do the chunks of a stream come to the reply they tell, however a provider spells them?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.facts.exchange import Failure, Prompt, PromptTooLong, Refused, Reply, Unavailable
from clew.facts.messages import read_message
from clew.facts.pieces import Argued, Begun, Beside, Broken, Called, Counted, Ended, Grown, Part, Piece, Said
from clew.facts.usage import Usage
from clew.wire.chat import CHAT, ChunkReader
from clew.wire.gather import gather
from clew.wire.scatter import scatter
from clew.wire.sse import Event, EventReader, spell
from tests.recordings import CORPUS
from tests.wire.exchanges import replies, values

STREAMED = Prompt("", (), stream=True)
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": ""}}


def chunk(delta: Any = None, reason: Any = None, **more: Any) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": reason}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": choices,
        **more,
    }


def calls(*fragments: dict[str, Any]) -> dict[str, Any]:
    return chunk({"tool_calls": list(fragments)})


def argues(text: Any, index: int | None = 0, **more: Any) -> dict[str, Any]:
    return {**({"index": index} if index is not None else {}), "function": {"arguments": text}, **more}


def pieces_of(*chunks: Any) -> list[Piece]:
    reader = ChunkReader()
    lines = [each if isinstance(each, str) else json.dumps(each) for each in chunks]
    return [piece for line in lines for piece in reader.feed(Event(line))]


def reply_of(*chunks: Any) -> Reply:
    reply = gather(pieces_of(*chunks, chunk({}, "stop"), "[DONE]"))
    assert isinstance(reply, Reply)
    return reply


def called(*chunks: Any) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in reply_of(*chunks).message.calls]


# ── calls ──


def test_a_call_comes_in_fragments_by_its_index() -> None:
    second = {**CALL, "index": 1, "id": "c2"}
    told = called(calls(CALL), calls(argues('{"at"')), calls(second), calls(argues("{}", 1), argues(": 1}", 0)))
    assert told == [("c1", "look", '{"at": 1}'), ("c2", "look", "{}")]


def test_a_call_is_told_as_soon_as_its_name_is_known() -> None:
    assert pieces_of(calls({"index": 0, "id": "c1"}), calls({"index": 0, "function": {"name": "look"}}))[1:] == [
        Called(0, "c1", "look")
    ]


def test_fragments_without_an_index_go_on_with_the_newest_call() -> None:
    bare = {key: value for key, value in CALL.items() if key != "index"}
    told = called(calls(bare), calls(argues("{", None)), calls(argues("}", None)), calls({**bare, "id": "c2"}))
    assert told == [("c1", "look", "{}"), ("c2", "look", "{}")]


def test_a_fragment_with_a_known_id_and_no_index_goes_on_with_that_call() -> None:
    one, other = ({"id": name, "type": "function", "function": {"name": "look", "arguments": "{"}} for name in "ab")
    assert called(calls(one, other), calls(argues("}", None, id="a"), argues(" }", None, id="b"))) == [
        ("a", "look", "{}"),
        ("b", "look", "{ }"),
    ]


def test_an_id_and_a_name_in_every_fragment_are_still_one_call() -> None:
    again = [{**CALL, "function": {"name": "look", "arguments": text}} for text in ("{", '"a": 1', "}")]
    assert called(*map(calls, again)) == [("c1", "look", '{"a": 1}')]


def test_a_new_id_under_the_same_index_is_another_call() -> None:
    whole = [{**CALL, "id": name, "function": {"name": "look", "arguments": "{}"}} for name in ("c1", "c2")]
    assert called(calls(*whole)) == [("c1", "look", "{}"), ("c2", "look", "{}")]


def test_what_follows_another_call_under_the_same_index_belongs_to_it() -> None:
    whole = {**CALL, "function": {"name": "look", "arguments": "{}"}}
    assert called(calls(whole), calls({**CALL, "id": "c2"}), calls(argues("{ }"))) == [
        ("c1", "look", "{}"),
        ("c2", "look", "{ }"),
    ]


def test_a_new_id_without_a_name_is_no_other_call() -> None:
    assert called(calls(CALL), calls(argues("{}", 0, id="random"))) == [("c1", "look", "{}")]


def test_whole_calls_without_ids_are_told_apart_and_given_ids() -> None:
    whole = {"index": 0, "type": "function", "function": {"name": "look", "arguments": "{}"}}
    assert called(calls(whole), calls(whole)) == [("call_0", "look", "{}"), ("call_1", "look", "{}")]


def test_arguments_as_an_object_become_text() -> None:
    assert called(calls({**CALL, "function": {"name": "look", "arguments": {"naïve": 1}}})) == [
        ("c1", "look", '{"naïve": 1}')
    ]


def test_a_call_without_arguments_has_none() -> None:
    assert called(calls(CALL)) == [("c1", "look", "{}")]


def test_a_custom_call_keeps_its_free_text() -> None:
    custom = {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "patch", "input": ""}}
    assert reply_of(calls(custom)).message.raw["tool_calls"][0]["custom"]["input"] == ""
    reply = reply_of(calls(custom), calls({"index": 0, "custom": {"input": "*** Begin"}}))
    made = [{"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}]
    assert reply.message.raw["tool_calls"] == made
    assert reply.stop == "tool_calls"


def test_what_a_provider_hangs_on_a_call_stays_on_it() -> None:
    signed = {**CALL, "extra_content": {"google": {"thought_signature": "x"}}}
    assert reply_of(calls(signed)).message.raw["tool_calls"][0]["extra_content"] == signed["extra_content"]


# ── all the rest ──


def test_text_refusals_and_thoughts_grow() -> None:
    reply = reply_of(
        chunk({"role": "assistant", "content": "", "reasoning_content": "h"}),
        chunk({"content": None, "reasoning_content": "m"}),
        chunk({"content": "4"}),
        chunk({"content": "2", "refusal": "no", "annotations": []}),
    )
    assert reply.message.raw == {"role": "assistant", "content": "42", "reasoning_content": "hm", "refusal": "no"}


def test_reasoning_details_are_one_again_when_the_reply_ends() -> None:
    reply = reply_of(
        chunk({"reasoning": "Let", "reasoning_details": [{"type": "reasoning.text", "text": "Let", "index": 0}]}),
        chunk({"reasoning": " me", "reasoning_details": [{"type": "reasoning.text", "text": " me", "index": 0}]}),
        chunk(
            {"reasoning_details": [{"type": "reasoning.text", "signature": "s", "index": 0}, {"index": 1, "data": "x"}]}
        ),
    )
    assert reply.message.raw["reasoning"] == "Let me"
    assert reply.message.raw["reasoning_details"] == [
        {"type": "reasoning.text", "text": "Let me", "index": 0, "signature": "s"},
        {"index": 1, "data": "x"},
    ]


def test_sounds_sources_and_legacy_calls_are_put_together() -> None:
    reply = reply_of(
        chunk(
            {
                "audio": {"id": "a", "data": "Uk", "transcript": "He"},
                "function_call": {"name": "look", "arguments": "{"},
            }
        ),
        chunk({"audio": {"id": "a", "data": "lG", "transcript": "y"}, "function_call": {"arguments": "}"}}),
        chunk({"annotations": [{"url": "a"}]}),
        chunk({"annotations": [{"url": "b"}]}),
        chunk({"executed_tools": [{"index": 0, "arguments": "{}", "results": []}]}),
        chunk({"executed_tools": [{"index": 0, "arguments": "{}", "results": [1]}]}),
    )
    assert reply.message.raw == {
        "role": "assistant",
        "content": None,
        "audio": {"id": "a", "data": "UklG", "transcript": "Hey"},
        "function_call": {"name": "look", "arguments": "{}"},
        "annotations": [{"url": "a"}, {"url": "b"}],
        "executed_tools": [{"index": 0, "arguments": "{}", "results": [1]}],
    }


def test_thoughts_in_the_content_grow_as_one_part() -> None:
    def thinks(text: str) -> dict[str, Any]:
        return chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]})

    reply = reply_of(
        thinks("h"), thinks("m"), chunk({"content": [{"type": "text", "text": "4"}]}), chunk({"content": "2"})
    )
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "h"}, {"type": "text", "text": "m"}]}
    assert reply.message.raw["content"] == [thought, {"type": "text", "text": "42"}]


def test_logprobs_and_what_stands_around_a_reply_are_kept() -> None:
    told = [chunk({"content": "4"}, system_fingerprint="fp"), chunk({"content": "2"}), chunk({}, "stop")]
    for each, logprobs in zip(told, ({"content": [{"token": "4"}]}, {"content": [{"token": "2"}]}, None), strict=True):
        each["choices"][0]["logprobs"] = logprobs
    reply = reply_of(*told)
    assert reply.foreign["chat"]["choice"]["logprobs"] == {"content": [{"token": "4"}, {"token": "2"}]}
    assert reply.foreign["chat"]["body"] == {"object": "chat.completion", "created": 1, "system_fingerprint": "fp"}


USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


@pytest.mark.parametrize(
    "last",
    [
        [chunk({}, "stop"), chunk(usage=USAGE)],
        [chunk({}, "stop", usage=USAGE)],
        [chunk({}, "stop", usage=None, x_groq={"id": "r", "usage": USAGE})],
        [{**chunk(), "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}]}],
        [chunk({"content": ""}, usage={**USAGE, "completion_tokens": 1}), chunk({}, "stop", usage=USAGE)],
    ],
    ids=["behind", "with the end", "Groq", "Moonshot", "a running sum"],
)
def test_the_usage_is_found_wherever_it_is_told(last: list[dict[str, Any]]) -> None:
    reply = gather(pieces_of(chunk({"content": "Hi"}), *last, "[DONE]"))
    assert isinstance(reply, Reply)
    assert reply.usage == Usage(input=9, output=2)


def test_the_end_is_told_once_and_in_the_providers_word() -> None:
    pieces = pieces_of(chunk({"content": "Hi"}, ""), chunk({}, "MAX_TOKENS"), chunk({}, "MAX_TOKENS"), "[DONE]")
    [end] = [piece for piece in pieces if isinstance(piece, Ended)]
    assert (end.stop, end.foreign["chat"]["choice"]["finish_reason"]) == ("length", "MAX_TOKENS")


def test_a_half_stream_is_known_by_its_missing_end() -> None:
    reader = ChunkReader()
    reader.feed(Event(json.dumps(chunk({"content": "Hi"}))))
    assert not reader.ended
    [end] = reader.feed(Event("[DONE]"))
    assert isinstance(end, Ended)
    assert (end.stop, reader.ended) == ("stop", True)


def test_chunks_that_say_nothing_bring_nothing() -> None:
    azure = {"id": "", "model": "", "choices": [], "prompt_filter_results": []}
    assert pieces_of("", " ", {"type": "ping"}, [], azure, {}) == []
    assert pieces_of(azure, chunk({"content": "Hi"}))[0] == Begun("chatcmpl-1", "m")


def test_of_several_alternatives_the_first_is_read() -> None:
    other = {**chunk(), "choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}
    assert reply_of(chunk({"content": "yes"}), other).message.text == "yes"


@pytest.mark.parametrize(
    "broken",
    [
        {"error": {"message": "prompt is too long: 9 tokens > 8 maximum", "code": 400}},
        {**chunk({"content": ""}, "error"), "error": {"message": "prompt is too long: 9 tokens > 8 maximum"}},
        {"choices": [{"index": 0, "error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}]},
        [{"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}],
    ],
)
def test_an_error_in_the_stream_breaks_it(broken: Any) -> None:
    [piece] = pieces_of(broken, chunk({"content": "more"}), "[DONE]")
    assert isinstance(piece, Broken)
    assert isinstance(piece.failure, PromptTooLong)


def test_an_event_named_error_breaks_the_stream_whatever_it_holds() -> None:
    [piece] = ChunkReader().feed(Event('{"message": "Overloaded"}', "error"))
    assert isinstance(piece, Broken)
    assert "Overloaded" in piece.failure.why


def test_a_line_that_is_no_json_breaks_the_stream() -> None:
    [piece] = pieces_of("<html>", chunk({"content": "more"}))
    assert isinstance(piece, Broken)
    assert isinstance(piece.failure, Unavailable)
    assert "<html>" in piece.failure.why


@settings(max_examples=50)
@given(values, values, values)
def test_no_chunk_is_too_odd_to_be_read(one: Any, other: Any, third: Any) -> None:
    odd = (
        {"choices": one, "usage": other, "id": third},
        {"choices": [{"delta": one, "finish_reason": other, "logprobs": third}]},
        {"choices": [{"delta": {"content": one, "tool_calls": other, "reasoning": third}}]},
        {"choices": [{"delta": {"content": [one], "tool_calls": [{"index": one, "function": other, "id": third}]}}]},
        {"choices": [{"delta": {"audio": one, "reasoning_details": [other, third]}}]},
        {"choices": [{"delta": {"audio": other, "reasoning_details": [third, one]}}]},
    )  # fmt: skip
    pieces = pieces_of(*odd, *odd, "[DONE]")
    assert isinstance(gather(pieces), Reply | Failure)


# ── written and read again ──


def written(pieces: list[Piece], prompt: Prompt = STREAMED) -> list[Event]:
    writer = CHAT.writer(prompt)
    return [*(event for piece in pieces for event in writer.feed(piece)), *writer.close()]


def told(pieces: list[Piece], prompt: Prompt = STREAMED) -> list[Any]:
    """The chunks without what is the same in all of them."""
    chunks = [json.loads(event.data) for event in written(pieces, prompt) if event.data != "[DONE]"]
    return [each["choices"][0]["delta"] if each.get("choices") else each for each in chunks]


def read_again(events: list[Event], cut: int) -> Reply | Failure:
    data = b"".join(map(spell, events))
    lines, reader = EventReader(), CHAT.reader()
    parts = [data[start : start + cut] for start in range(0, len(data), cut)]
    return gather(piece for part in parts for event in lines.feed(part) for piece in reader.feed(event))


@settings(max_examples=50)
@given(replies(), st.integers(1, 400))
def test_a_reply_that_is_streamed_is_the_same_reply(reply: Reply, cut: int) -> None:
    assert read_again(written(list(scatter(reply))), cut) == reply


def test_the_chunks_are_those_that_clients_know() -> None:
    pieces: list[Piece] = [
        Begun("r1", "m"),
        Said("Hi"),
        Called(0, "c1", "look", {"type": "function", "responses": {"id": "fc"}}),
        Argued(0, "{}"),
        Counted(Usage(9, 2)),
        Ended("tool_calls"),
    ]
    events = written(pieces, Prompt("", (), stream=True, foreign={"chat": {"created": 7}}))
    head = {"id": "r1", "object": "chat.completion.chunk", "created": 7, "model": "m"}

    def tells(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "logprobs": None, "delta": delta, "finish_reason": reason}
        return {**head, "choices": [choice], "usage": None}

    assert [json.loads(event.data) for event in events[:-2]] == [
        tells({"role": "assistant", "content": None}),
        tells({"content": "Hi"}),
        tells({"tool_calls": [CALL]}),
        tells({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
        tells({}, "tool_calls"),
    ]
    usage = json.loads(events[-2].data)
    assert (usage["choices"], usage["usage"]["total_tokens"], events[-1]) == ([], 11, Event("[DONE]"))


def test_the_usage_is_not_told_to_whoever_did_not_ask() -> None:
    silent = CHAT.decode({"messages": [], "stream": True})
    events = written([Said("Hi"), Counted(Usage(9, 2)), Ended("stop")], silent)
    assert not any("usage" in event.data for event in events)
    assert json.loads(events[0].data)["choices"][0]["delta"] == {"role": "assistant", "content": "Hi"}


def test_of_another_providers_parts_a_client_sees_the_words_and_the_thoughts() -> None:
    pieces: list[Piece] = [
        Part({"type": "thinking", "thinking": "Let ", "signature": ""}),
        Grown("thinking", "me"),
        Grown("signature", "c2ln"),
        Part({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        Part({"type": "text", "text": ""}),
        Grown("text", "here"),
        Grown("citations", {"url": "u"}),
        Part({"type": "reasoning", "summary": []}),
        Grown("summary", {"type": "summary_text", "text": "hm"}),
        Part({"type": "refusal", "refusal": "no"}),
        Beside("reasoning_details", [{"index": 0}]),
        Beside("anthropic", {"container": {}}),
    ]
    assert told(pieces) == [
        {"role": "assistant", "reasoning_content": "Let "},
        {"reasoning_content": "me"},
        {"content": "here"},
        {"reasoning_content": "hm"},
        {"refusal": "no"},
        {"reasoning_details": [{"index": 0}]},
    ]


def test_parts_that_only_chat_has_are_told_as_they_are() -> None:
    pieces: list[Piece] = [
        Part({"type": "thinking", "thinking": []}),
        Grown("thinking", {"type": "text", "text": "hm"}),
    ]
    assert told(pieces) == [
        {"role": "assistant", "content": [{"type": "thinking", "thinking": []}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
    ]


def test_a_reply_that_does_not_name_its_model_is_told_as_the_asked_ones() -> None:
    [event] = CHAT.writer(Prompt("", (), model="asked")).feed(Begun("r1"))
    assert json.loads(event.data)["model"] == "asked"


def test_what_a_provider_hangs_on_a_call_is_told_with_it() -> None:
    [delta] = told([Called(0, "c1", "look", {"extra_content": {"n": 1}, "anthropic": {}})])
    assert delta["tool_calls"] == [{**CALL, "extra_content": {"n": 1}}]


def test_a_custom_call_is_told_as_one() -> None:
    custom = {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "patch", "input": ""}}
    assert told([Called(0, "c1", "patch", {"type": "custom"}), Argued(0, "*** Begin")]) == [
        {"role": "assistant", "tool_calls": [custom]},
        {"tool_calls": [{"index": 0, "custom": {"input": "*** Begin"}}]},
    ]


def test_a_stream_that_breaks_tells_the_error_and_does_not_end() -> None:
    [_, error] = written([Said("Hi"), Broken(Refused(why="No."))])
    assert json.loads(error.data) == CHAT.encode_failure(Refused(why="No."))[1]
    assert len(written([Said("Hi"), Ended("stop"), Broken(Refused(why="No."))])) == 3


def test_a_stream_without_an_end_is_not_given_one() -> None:
    assert [event.data for event in written([Said("Hi"), Counted(Usage(1, 1))])][1:] == []


def test_the_last_chunk_tells_what_stood_around_the_reply() -> None:
    body = {"object": "chat.completion", "created": 5, "system_fingerprint": "fp"}
    choice = {"index": 0, "logprobs": {"content": []}, "finish_reason": "MAX_TOKENS"}
    [_, last, _] = written([Said("Hi"), Ended("length", {"chat": {"body": body, "choice": choice}})])
    found = json.loads(last.data)
    assert (found["created"], found["system_fingerprint"], found["object"]) == (5, "fp", "chat.completion.chunk")
    assert found["choices"] == [{**choice, "delta": {}}]


def test_a_reply_of_nothing_still_tells_its_role() -> None:
    assert told([Ended("stop")]) == [{"role": "assistant"}]


# ── recorded ──


def recorded_streams() -> list[Path]:
    found = sorted((CORPUS / "usage" / "sse").glob("*/*.sse"))
    return [path for path in found if b"chat.completion.chunk" in path.read_bytes()]


def test_recorded_streams_come_to_the_reply_they_tell() -> None:
    paths = recorded_streams()
    if not paths:
        pytest.skip("the corpus of recorded streams is not beside the project")
    for path in paths:
        lines, reader = EventReader(), ChunkReader()
        events = [*lines.feed(path.read_bytes()), *lines.close()]
        pieces = [piece for event in events for piece in reader.feed(event)]
        reply = gather(pieces)
        assert isinstance(reply, Reply), path
        assert reader.ended, path
        assert reply.usage, path
        deltas = [
            choice["delta"]
            for event in events
            if event.data != "[DONE]"
            for choice in json.loads(event.data)["choices"]
        ]  # fmt: skip
        assert reply.message.text == "".join(delta.get("content") or "" for delta in deltas), path
        fragments = [each for delta in deltas for each in delta.get("tool_calls") or ()]
        assert "".join(call.arguments for call in reply.message.calls) == "".join(
            each["function"].get("arguments") or "" for each in fragments
        ), path
        assert read_again(written(pieces), 1_000) == reply, path


def test_a_message_read_from_a_stream_is_the_message_of_the_whole_reply() -> None:
    raw = {"role": "assistant", "content": "42", "reasoning_content": "hm", "annotations": [{"url": "a"}]}
    whole = {**chunk(), "object": "chat.completion", "choices": [{"index": 0, "message": raw, "finish_reason": "stop"}]}
    streamed = reply_of(chunk({"reasoning_content": "hm"}), chunk({"content": "42", "annotations": [{"url": "a"}]}))
    assert streamed.message == CHAT.decode_reply(whole).message == read_message(raw)

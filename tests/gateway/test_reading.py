"""The pure parts: where a conversation stands in its bytes, what makes two messages one, what a stream comes to."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from clew.facts.exchange import Reply
from clew.facts.messages import read_message
from clew.facts.usage import Usage
from clew.gateway.layout import Unreadable, items_between, lay_out, lay_out_rest
from clew.gateway.relation import Again, Compacted, Continues, Edited, Forked, Strange, relate
from clew.gateway.squeezing import squeezed
from clew.gateway.talks import Boundary, Talk, Talks
from clew.gateway.usage_asked import Unasked, asking, is_due
from clew.wire.dialects import DIALECTS
from clew.wire.gather import gather
from clew.wire.same import same
from clew.wire.scatter import scatter
from clew.wire.sse import EventReader, spell

json_values = some.recursive(
    some.none() | some.booleans() | some.integers(-(10**20), 10**20) | some.text(max_size=8),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
names = some.sampled_from(["model", "tools", "stream", "metadata", "é", "system"])
spellings = some.sampled_from([{"separators": (",", ":")}, {}, {"indent": 1}, {"ensure_ascii": False}])


@given(
    before=some.dictionaries(names, json_values, max_size=3),
    items=some.lists(json_values, min_size=1, max_size=4),
    new=some.lists(json_values, max_size=3),
    after=some.dictionaries(names, json_values, max_size=3),
    spelled=spellings,
)
def test_a_body_is_taken_apart_at_the_end_of_its_list_however_it_is_spelled(
    before: dict[str, Any], items: list[Any], new: list[Any], after: dict[str, Any], spelled: dict[str, Any]
) -> None:
    after = {name: value for name, value in after.items() if name not in before}
    first = json.dumps({**before, "messages": items, **after}, **spelled).encode()
    layout = lay_out(first, "messages")
    assert (layout.fields, layout.items, layout.before) == ({**before, **after}, items, before)
    assert json.loads(first[: layout.end] + b"]}")["messages"] == items
    longer = json.dumps({**before, "messages": [*items, *new], **after}, **spelled).encode()
    assert longer.startswith(first[: layout.end])
    rest = lay_out_rest(longer, layout.end, layout.before, "messages")
    assert (rest.fields, rest.items) == ({**before, **after}, new)
    if new:
        comma = longer.index(b",", layout.end)
        assert comma == layout.end
        assert items_between(longer, layout.end, rest.end) == json.loads(json.dumps(new)) or any(map(_is_big, new))


def _is_big(value: Any) -> bool:
    """Numbers of more than 64 bits are read as floats by the quick reader; they are never written back from it."""
    if isinstance(value, dict):
        return any(map(_is_big, value.values()))
    return any(map(_is_big, value)) if isinstance(value, list) else isinstance(value, int) and abs(value) >= 2**63


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"{}x", b'{"a":1,}', b'{"a" 1}', b"\xff", b'{"a":1}{"b":2}', b"{1:2}"]
)
def test_what_is_no_object_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        lay_out(body, "messages")


def test_how_a_list_stands_to_what_is_known() -> None:
    a, b, c, d, e, x, y = (bytes([n]) for n in range(7))
    assert relate([], [a]) == Continues()
    assert relate([a, b], [a, b]) == Again()
    assert relate([a, b, c], [a]) == Again()
    assert relate([a, b, c, d], [a, x, c, d, e]) == Edited()
    assert relate([a, b, c, d], [a, b, x, y]) == Forked(2)
    assert relate([a, b, c, d, e], [a, x, e, y]) == Compacted(3)
    assert relate([a, b], [x, y]) == Strange()


def test_a_mark_for_the_cache_says_nothing_wherever_it_stands() -> None:
    picture = {"type": "image_url", "image_url": {"url": "a"}}
    mark = {"cache_control": {"type": "ephemeral"}}
    marked = {"role": "user", "content": [{**picture, **mark}], **mark}
    assert same(marked) == same({"role": "user", "content": [picture]})


DONE = {"type": "text", "text": "Done."}
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a":1.0}'}}
RESPELLED = {"index": 0, "id": "1", "function": {"arguments": '{ "a": 1 }', "name": "f"}, "responses": {"id": "fc"}}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"content": "Done."}, {"content": [DONE]}),
        ({"content": "Done."}, {"content": "Done.\n", "refusal": None, "annotations": [], "audio": None}),
        ({"content": "Done."}, {"content": [{"type": "thinking", "thinking": "hm", "signature": "x"}, DONE]}),
        ({"content": "Done."}, {"content": "Done.", "reasoning_content": "hm", "anthropic": {"as_text": True}}),
        ({"content": None, "tool_calls": [CALL]}, {"tool_calls": [RESPELLED]}),
        ({"content": [{"type": "output_text", "text": "Done.", "annotations": []}]}, {"content": "Done."}),
    ],
)
def test_two_spellings_of_one_reply_are_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert same({"role": "assistant", **one}) == same({"role": "assistant", **other})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"role": "user", "content": "a"}, {"role": "user", "content": "a "}),
        ({"role": "user", "content": "a"}, {"role": "system", "content": "a"}),
        ({"role": "tool", "tool_call_id": "1", "content": "x"}, {"role": "tool", "tool_call_id": "2", "content": "x"}),
        ({"role": "assistant", "content": "a"}, {"role": "assistant", "content": "a", "refusal": "no"}),
        ({"role": "user", "content": ["a", "b"]}, {"role": "user", "content": "ab"}),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a"}}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "b"}}]},
        ),
    ],
)
def test_two_messages_that_say_different_things_are_not_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert same(one) != same(other)


texts = some.text(alphabet=some.sampled_from('ab "\\\n\u2028é😀{}[]:,'), max_size=12)
replies = some.builds(
    lambda text, words, calls: Reply(
        read_message(
            {
                "role": "assistant",
                "content": text + words,
                **({"tool_calls": calls} if calls else {}),
            }
        ),
        Usage(input=3, output=2),
        "tool_calls" if calls else "stop",
        "id1",
        "m",
    ),
    some.just("x"),
    texts,
    some.lists(
        some.builds(
            lambda n, told: {
                "id": f"call_{n}",
                "type": "function",
                "function": {"name": "f", "arguments": json.dumps({"a": told})},
            },
            some.integers(0, 99),
            texts,
        ),
        max_size=2,
        unique_by=lambda call: call["id"],
    ),
)


@pytest.mark.parametrize("dialect", ["chat", "anthropic"])
@given(reply=replies, cut=some.integers(1, 5), crlf=some.booleans(), padded=some.booleans())
def test_a_squeezed_stream_says_what_the_stream_said(
    dialect: str, reply: Reply, cut: int, crlf: bool, padded: bool
) -> None:
    from dataclasses import replace

    from clew.facts.exchange import Prompt
    from clew.facts.pieces import Argued, Said

    writer = DIALECTS[dialect].writer(Prompt("", (), model="m", stream=True))
    events = []
    for piece in scatter(reply):
        text = piece.text if isinstance(piece, Said | Argued) else ""
        bits = [text[at : at + cut] for at in range(0, len(text), cut)]
        for bit in [replace(piece, text=bit) for bit in bits] if bits else [piece]:  # type: ignore[type-var]
            events += writer.feed(bit)
    events += writer.close()
    raw = b"".join(map(spell, events))
    if padded:
        raw = raw.replace(b',"choices"', b',"obfuscation":"xYz","choices"')
    if crlf:
        raw = raw.replace(b"\n", b"\r\n")
    reading = EventReader()

    def told(found: list[Any]) -> Any:
        reader = DIALECTS[dialect].reader()
        return gather([piece for event in found for piece in reader.feed(event)])

    whole, short = [*reading.feed(raw), *reading.close()], squeezed(raw)
    assert told(short) == told(whole)
    assert len(short) <= len(whole)


def test_a_long_text_is_squeezed_into_one_event() -> None:
    chunk = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}\n\n'
    (event,) = squeezed(chunk * 500)
    assert json.loads(event.data)["choices"][0]["delta"]["content"] == "word " * 500
    padded = [chunk.replace(b"}]}", b'}],"obfuscation":"%b"}' % (b"x" * n)) for n in range(20)]
    assert len(squeezed(b"".join(padded))) == 1


STREAM = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"say ,\\"usage\\":null, please"}}],"usage":null}\n\n'
    b'data: {"id":"c","usage":null,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b'data: {"id":"c","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n'
    b"data: [DONE]\n\n"
)
UNASKED = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"say ,\\"usage\\":null, please"}}]}\n\n'
    b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


@given(cuts=some.lists(some.integers(0, len(STREAM)), max_size=12), crlf=some.booleans())
def test_what_the_client_did_not_ask_for_is_taken_out_however_the_stream_is_cut(cuts: list[int], crlf: bool) -> None:
    stream, wanted = (text.replace(b"\n", b"\r\n") if crlf else text for text in (STREAM, UNASKED))
    places = [0, *sorted(cuts), len(stream)]
    unasked = Unasked()
    said = b"".join(unasked.feed(stream[a:b]) for a, b in pairwise(places)) + unasked.close()
    assert said == wanted


def test_a_stream_without_usage_is_not_touched() -> None:
    odd = b': hello\n\ndata: {"a": [1, 2 ]}\n\nevent: x\ndata: y\n\ndata: {"usage" : {"a": 1}, "choices": [1]}\n\nrest'
    unasked = Unasked()
    assert unasked.feed(odd) + unasked.close() == odd


def test_the_usage_is_asked_for_only_where_nothing_was_said_about_it() -> None:
    assert is_due("chat", {"stream": True})
    assert not is_due("chat", {"stream": True, "stream_options": None})
    assert not is_due("chat", {})
    assert not is_due("anthropic", {"stream": True})
    assert asking(b'{"a": {}}\n') == b'{"a": {},"stream_options":{"include_usage":true}}\n'


def test_a_body_that_was_changed_at_its_end_is_known_up_to_where_an_earlier_request_ended() -> None:
    talks, talk = Talks(most_bytes=30_000), Talk("c", ("", "chat", ""))
    for end in (10, 20, 30):
        talk.advance(b"0123456789" * 3 + b"]}", end, end // 10, {}, shared=end - 10)
    talks.keep(talk)
    found = talks.find(talk.scope, b"0123456789" * 2 + b"another end")
    assert found is not None
    assert (found[1].end, found[1].items) == (20, 2)


def test_talks_are_found_by_their_beginning_and_the_oldest_give_way() -> None:
    talks = Talks(most_bytes=30_000)
    scope = ("", "chat", "")
    for number in range(20):
        talk = Talk(f"c{number}", scope)
        talk.advance(b"[%03d" % number + b"x" * 500 + b"]}", 504, 1, {}, shared=0)
        talks.keep(talk)
    assert len(talks) < 20
    assert talks.weight <= 30_000
    found = talks.find(scope, b"[019" + b"x" * 500 + b",1]}")
    assert found is not None
    assert (found[0].conversation, found[1]) == ("c19", Boundary(504, b"x" * 64, 1))
    assert talks.find(scope, b"[000" + b"x" * 500 + b",1]}") is None
    assert talks.find(("other", "chat", ""), b"[019" + b"x" * 500 + b",1]}") is None
    assert talks.named("", "c19") is not None
    assert talks.named("", "c0") is None

"""What is left of a transcript when the file is damaged?"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.wire.legal import DIALECTS, validate_messages
from clew.wire.transcripts import Transcript, UnreadableTranscript, read_transcript

RECORDED = Path(__file__).parents[1] / "recorded" / "transcripts"
WHOLE = [path.read_bytes() for path in sorted(RECORDED.iterdir()) if not path.name.endswith(".expected.json")]

USER = {"role": "user", "content": "hello"}
REPLY = {"role": "assistant", "content": "hi"}


def row(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def reports(data: bytes) -> list[str]:
    return [str(problem) for problem in read_transcript(data).problems]


def test_a_damaged_line_is_reported_with_its_number_and_the_rest_is_used() -> None:
    found = read_transcript(row(USER) + b'{"role": "assistant" "content": 1}\n' + row(REPLY))
    assert found.messages == (USER, REPLY)
    assert [str(problem) for problem in found.problems] == ["line 2: not JSON (Expecting ',' delimiter)"]


@pytest.mark.parametrize("followers", [1, 2, 5])
def test_a_damaged_first_line_costs_only_itself(followers: int) -> None:
    found = read_transcript(b'{"role": "user", "cont\n' + row(REPLY) * followers)
    assert found.messages == (REPLY,) * followers
    assert found.problems[0].line == 1


def test_a_truncated_last_line_keeps_what_came_before() -> None:
    found = read_transcript(row(USER) + row(REPLY) + b'{"role": "user", "content": "and th')
    assert found.messages == (USER, REPLY)
    assert found.problems[0].line == 3


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"model": "m", "messages": rows}])
def test_a_truncated_document_keeps_every_whole_message(indent: int | None, wrap: Any) -> None:
    text = json.dumps(wrap([USER, REPLY, {"role": "user", "content": "cut off here"}]), indent=indent)
    found = read_transcript(text[: text.index("cut off")].encode())
    assert found.messages == (USER, REPLY)
    assert found.problems


def test_a_document_cut_between_messages_says_so() -> None:
    found = read_transcript(json.dumps([USER, REPLY])[:-1].encode())
    assert found.messages == (USER, REPLY)
    assert "cut off" in found.problems[0].what


def test_damage_inside_a_document_costs_one_message() -> None:
    third = {"role": "user", "content": "after"}
    text = json.dumps([USER, REPLY, third], indent=1).replace('"hi"', "hi")
    found = read_transcript(text.encode())
    assert found.messages == (USER, third)
    assert "not JSON" in found.problems[0].what


def test_pieces_of_a_damaged_message_are_not_taken_for_messages() -> None:
    broken = {"role": "user", "content": [{"type": "text", "text": "piece"}, {"type": "text", "text": "DAMAGE"}]}
    text = json.dumps([USER, broken, REPLY], indent=1).replace('"DAMAGE"', "DAMAGE")
    found = read_transcript(text.encode())
    assert found.messages == (USER, REPLY)
    assert [str(problem) for problem in found.problems] == [
        "line 6: not JSON (Expecting value)",
        "line 6: messages after the damage that could be read: 1",
    ]


def test_objects_printed_over_several_lines_one_after_another_are_rows() -> None:
    data = b"\n".join(json.dumps(message, indent=2).encode() for message in (USER, REPLY, USER))
    found = read_transcript(data)
    assert (found.messages, found.problems) == ((USER, REPLY, USER), ())


def test_two_objects_on_one_line_are_both_read() -> None:
    found = read_transcript(json.dumps(USER).encode() + row(REPLY) + row(USER))
    assert found.messages == (USER, REPLY, USER)


def test_broken_utf8_is_replaced_and_reported_on_its_line() -> None:
    found = read_transcript(row(USER) + b'{"role": "user", "content": "caf\xe9"}\n')
    assert found.messages[1]["content"] == "caf�"
    assert found.problems[0].line == 2
    assert "UTF-8" in found.problems[0].what


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_says_how_to_decode(encoding: str) -> None:
    message = {"role": "user", "content": "灯亮着吗？"}
    found = read_transcript(json.dumps([message], ensure_ascii=False).encode(encoding))
    assert (found.messages, found.problems) == ((message,), ())


def test_big_endian_text_with_its_mark_is_read() -> None:
    found = read_transcript(b"\xfe\xff" + (json.dumps(USER) + "\n").encode("utf-16-be"))
    assert (found.messages, found.problems) == ((USER,), ())


def test_windows_line_ends_are_no_damage() -> None:
    found = read_transcript((row(USER) + row(REPLY)).replace(b"\n", b"\r\n"))
    assert (found.messages, found.problems) == ((USER, REPLY), ())


def test_a_line_separator_inside_a_text_does_not_end_the_line() -> None:
    message = {"role": "user", "content": "a\u2028b\x85c"}
    found = read_transcript((json.dumps(message, ensure_ascii=False) + "\n").encode() + row(REPLY))
    assert found.messages == (message, REPLY)


def test_nul_bytes_are_taken_out_and_reported() -> None:
    found = read_transcript(row(USER) + b"\0\0\0\0" + row(REPLY))
    assert found.messages == (USER, REPLY)
    assert [str(problem) for problem in found.problems] == ["line 2: NUL bytes were taken out"]


def test_half_a_character_becomes_a_replacement_that_can_be_encoded() -> None:
    found = read_transcript(b'{"role": "user", "content": "\\ud83d!"}\n' + row(REPLY))
    assert found.messages[0]["content"] == "�!"
    assert found.problems[0].line == 1
    whole = read_transcript(b'{"role": "user", "content": "\\ud83d\\ude00"}\n' + row(REPLY))
    assert (whole.messages[0]["content"], whole.problems) == ("😀", ())


@pytest.mark.parametrize("odd", [5, None, "text", [1], True])
def test_rows_that_are_no_objects_are_reported(odd: Any) -> None:
    found = read_transcript(row(USER) + row(odd) + row(REPLY))
    assert found.messages == (USER, REPLY)
    assert [problem.line for problem in found.problems] == [2]


def test_a_row_without_a_role_is_reported() -> None:
    assert reports(row(USER) + row({"content": "?"})) == ["line 2: a message without a role was left out"]


def test_an_unknown_role_is_kept_and_reported() -> None:
    found = read_transcript(row(USER) + row({"role": "oracle", "content": "?"}))
    assert found.messages[1] == {"role": "oracle", "content": "?"}
    assert [str(problem) for problem in found.problems] == ["line 2: unknown role 'oracle'; kept as it is"]


@pytest.mark.parametrize(
    ("odd", "taken"),
    [(7, "7"), (1.5, "1.5"), (False, "false"), ({"a": 1}, '{"a": 1}'), ([3], [{"type": "text", "text": "3"}])],
)
def test_content_of_an_odd_type_is_taken_as_text_and_reported(odd: Any, taken: Any) -> None:
    found = read_transcript(row(USER) + row({"role": "user", "content": odd}))
    assert found.messages[1]["content"] == taken
    assert [problem.line for problem in found.problems] == [2]


def test_nesting_that_would_exhaust_the_stack_is_reported() -> None:
    for depth in (200, 200_000):
        deep = b'{"role": "user", "content": ' + b"[" * depth + b"]" * depth + b"}\n"
        assert "nested" in reports(row(USER) + deep)[0]


def test_a_number_too_long_for_python_is_reported() -> None:
    assert "number" in reports(row(USER) + b'{"role": "user", "content": ' + b"9" * 5000 + b"}\n")[0]


def test_numbers_json_does_not_know_become_text() -> None:
    found = read_transcript(b'{"role": "user", "content": "x", "score": NaN}\n' + row(REPLY))
    assert found.messages[0]["score"] == "NaN"


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (b"", "an empty file"),
        (b" \n\n", "an empty file"),
        (b"Dear diary,\ntoday", "begin b'Dear diary"),
        (b"\x89PNG\r\n\x1a\n\0\0", "begin b'\\x89PNG"),
        (b"[]", "begin b'[]'"),
        (b'{"name": "clew", "version": "1"}', "keys name, version"),
        (b'{\n "name": "clew"\n}', "keys name"),
        (b'{"messages": []}', "begin b'{\"messages\": []}'"),
        (b'{"model": "m", "messages": []}', "a JSON object with model and no messages"),
        (b'{"type": "summary", "summary": "x", "leafUuid": "y"}', "of type 'summary'"),
        (b"3\n4\n", "2 values"),
        (b"\xff\xfe", "begin b'\\xff\\xfe'"),
    ],
)
def test_what_is_no_transcript_is_refused_with_what_was_seen_and_what_is_accepted(data: bytes, seen: str) -> None:
    with pytest.raises(UnreadableTranscript) as refused:
        read_transcript(data)
    assert seen in str(refused.value)
    for accepted in ("OpenAI", "Anthropic", "Claude Code", "Codex", "Hermes"):
        assert accepted in str(refused.value)


# ── Whatever the bytes ──


def read_or_refuse(data: bytes) -> Transcript | None:
    try:
        found = read_transcript(data)
    except UnreadableTranscript:
        return None
    assert found.messages
    assert all(isinstance(message["role"], str) for message in found.messages)
    assert all(isinstance(message["content"], str | list | None) for message in found.messages)
    assert all(problem.line >= 1 for problem in found.problems)
    json.dumps(found.messages, ensure_ascii=False).encode()  # can be written and sent
    for dialect in DIALECTS:
        validate_messages(found.messages, dialect)
    return found


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read_or_refuse(data)


keys = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "message",
        "messages",
        "uuid",
        "parentUuid",
        "payload",
        "tool_calls",
        "id",
        "function",
        "name",
        "arguments",
        "input",
        "call_id",
        "output",
        "summary",
        "isSidechain",
        "isMeta",
        "tool_use_id",
        "tool_call_id",
        "source",
        "attachment",
        "prompt",
        "system",
        "model",
        "action",
        "num_turns",
    ]
)
words = st.sampled_from(
    [
        "user",
        "assistant",
        "system",
        "tool",
        "message",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "reasoning",
        "response_item",
        "event_msg",
        "compacted",
        "session_meta",
        "thread_rolled_back",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "image",
        "attachment",
        "queued_command",
        "base64",
        "session_meta",
        "{}",
        "c1",
        "c2",
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | words | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.dictionaries(keys, values, max_size=6) | values, max_size=5), st.booleans())
def test_any_json_is_read_or_refused(rows: list[Any], as_lines: bool) -> None:
    read_or_refuse(b"".join(map(row, rows)) if as_lines else json.dumps(rows).encode())


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(WHOLE), st.data())
def test_a_cut_anywhere_is_read_or_refused(whole: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(whole)))
    read_or_refuse(whole[:start])
    read_or_refuse(whole[start:])


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(WHOLE), st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=6))
def test_flipped_bits_are_read_or_refused(whole: bytes, flips: list[tuple[int, int]]) -> None:
    damaged = bytearray(whole)
    for place, mask in flips:
        damaged[place % len(damaged)] ^= mask
    read_or_refuse(bytes(damaged))


@settings(deadline=None)
@given(st.sampled_from([whole for whole in WHOLE if whole.count(b"\n") > 3]), st.data())
def test_lines_repeated_lost_or_shuffled_are_read_or_refused(whole: bytes, data: st.DataObject) -> None:
    rows = whole.splitlines(keepends=True)
    read_or_refuse(b"".join(data.draw(st.lists(st.sampled_from(rows), max_size=2 * len(rows)))))


@settings(deadline=None)
@given(st.data())
def test_a_cut_in_jsonl_loses_only_what_is_after_it(data: st.DataObject) -> None:
    rows = [row({"role": "user", "content": text}) for text in data.draw(st.lists(st.text(), min_size=1, max_size=6))]
    whole = b"".join(rows)
    cut = data.draw(st.integers(len(rows[0]), len(whole)))
    found = read_transcript(whole[:cut])
    complete = whole[:cut].count(b"\n")
    assert [m["content"] for m in found.messages[:complete]] == [json.loads(r)["content"] for r in rows[:complete]]

"""Exact strings are found by kind, and ranked by how likely they are needed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.engines.importance import Kind, Seen, exact_strings, worth
from clew.facts.messages import message, read_message


def found(text, role="assistant"):
    return {string: seen.kind for string, seen in exact_strings([message(role, text)]).items()}


@pytest.mark.parametrize(
    ("text", "string", "kind"),
    [
        ("see src/app/parse.py:12 now", "src/app/parse.py", Kind.PATH),
        ("open /etc/hosts.", "/etc/hosts", Kind.PATH),
        (r"in D:\work\app\main.cs now", r"D:\work\app\main.cs", Kind.PATH),
        ("edit parse.py", "parse.py", Kind.PATH),
        ("call `resolve_scope(x)`", "resolve_scope", Kind.NAME),
        ("class TokenStream:", "TokenStream", Kind.NAME),
        ("branch manual-commit", "manual-commit", Kind.NAME),
        ("raises ValueError here", "ValueError", Kind.ERROR),
        ("at https://example.org/a?b=1.", "https://example.org/a?b=1", Kind.URL),
        ("commit 07fa992e", "07fa992e", Kind.HASH),
        ("version v1.2.3", "v1.2.3", Kind.VALUE),
        ("timeout=300", "timeout=300", Kind.VALUE),
        ('"port": 8080', "port=8080", Kind.VALUE),
    ],
)
def test_each_kind_is_found(text, string, kind):
    assert found(text)[string] is kind


@pytest.mark.parametrize("text", ["and/or", "12/24", "the quick brown fox", "2026", "a-b", "...", "//", "x"])
def test_ordinary_words_are_none(text):
    assert found(text) == {}


def test_arguments_are_read_as_what_they_say_not_as_json():
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "run", "arguments": '{"command": "cat\\nmy_script.py"}'},
    }
    strings = exact_strings([read_message({"role": "assistant", "content": None, "tool_calls": [call]})])
    assert "my_script.py" in strings
    assert not any(string.startswith("nmy") for string in strings)


def test_what_the_model_used_and_what_is_recent_is_worth_more():
    plain = Seen(Kind.NAME, last=50)
    assert worth(Seen(Kind.NAME, last=50, model=2), 100) > worth(plain, 100)
    assert worth(Seen(Kind.NAME, last=99), 100) > worth(plain, 100)
    assert worth(Seen(Kind.NAME, last=50, person=True), 100) > worth(plain, 100)


def test_what_an_earlier_summary_carried_comes_along():
    assert exact_strings([], [("old_name", Kind.NAME)])["old_name"].model == 1


@given(st.text())
def test_any_text_can_be_searched(text):
    exact_strings([message("user", text)])

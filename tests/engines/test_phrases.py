"""Demands are found in any script, as whole words, with the line they stand in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.engines.ledger import constraints_in
from clew.engines.phrases import Phrases
from clew.engines.talk import questions_in


@pytest.mark.parametrize(
    "said",
    [
        "You must run the linter.", "NEVER push to main!", "use tabs only", "Please don't rename it", "Don’t rename it",
        "do not touch prod", "make sure it is fast", "必须使用 UTF-8", "不要改动接口", "只能读取配置",
        "必ずテストを実行して",
        "반드시 테스트를 실행하세요", "Никогда не удаляй файл", "Das darf nie passieren", "Il doit rester petit",
    ],
)  # fmt: skip
def test_a_demand_is_found_whatever_the_language(said):
    assert constraints_in(f"hello there\n{said}\nthanks") == [said]


@pytest.mark.parametrize(
    "said", ["the mustard is good", "commonly used", "list the files", "how does it work", "好的，谢谢"]
)
def test_words_inside_others_are_no_demand(said):
    assert constraints_in(said) == []


def test_of_a_very_long_line_only_the_sentence_is_taken():
    line = "It was a long day. " * 40 + "You must keep the log. " + "And so it went. " * 40
    assert constraints_in(line) == ["You must keep the log."]


@given(st.text(), st.sampled_from(["never do X", "不要", "only"]))
def test_any_text_can_be_searched_and_what_is_found_is_verbatim(text, demand):
    for said in constraints_in(f"{text}\n{demand}\n{text}"):
        assert said in f"{text}\n{demand}\n{text}"


def test_a_demand_is_found_among_capitals_that_have_no_small_letter():
    assert constraints_in("İİİ you must go\nİ") == ["İİİ you must go"]


def test_a_phrase_counts_once_for_its_sentence():
    assert Phrases("only", "never").sentences("only this, never that. And more.") == ["only this, never that."]


def test_questions_are_found():
    assert questions_in("Fine. Where is the config file?\nWhy does it fail？ ok") == [
        "Where is the config file?",
        "Why does it fail?",
    ]

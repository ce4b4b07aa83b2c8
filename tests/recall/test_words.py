"""Which words a text has, the same for what is indexed and what is asked for."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.recall.words import LONGEST, camel_parts, fold, pair_of, pieces_of, words_of


def terms(text: str) -> set[str]:
    return {term.decode() for term in words_of(text).terms}


def test_words_are_runs_of_letters_and_digits_whatever_stands_between() -> None:
    assert terms("get_tip(src/clew/turn.py) -- v2!") == {"get", "tip", "src", "clew", "turn", "py", "v2"}


def test_a_camel_case_word_is_one_word_and_gives_its_parts_too() -> None:
    assert terms("getCompressionTip HTTPServer") == {
        "getcompressiontip", "get", "compression", "tip", "httpserver", "http", "server",
    }  # fmt: skip


def test_long_encoded_data_gives_one_short_term_and_no_parts() -> None:
    assert terms("aB" * 500) == {("ab" * 500)[:LONGEST]}


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Café", "cafe"),
        ("ＣＡＦＥ", "cafe"),
        ("cafe\u0301", "CAFÉ"),
        ("Straße", "STRASSE"),
        ("ﾊﾟｿｺﾝ", "パソコン"),
        ("①", "1"),
    ],
)
def test_case_width_and_latin_accents_make_no_difference(written: str, asked: str) -> None:
    assert fold(written) == fold(asked)


def test_letters_that_only_look_accented_stay_what_they_are() -> None:
    assert fold("Ёй") == "ёй"
    assert fold("が") == "が"
    assert fold("한국") == "한국"


def test_cjk_gives_every_character_and_every_two_that_touch() -> None:
    assert terms("压缩率。高 abc") == {"压", "缩", "率", "压缩", "缩率", "高", "abc"}


def test_latin_inside_cjk_is_a_word_of_its_own() -> None:
    assert terms("使用Python编写") == {"使", "用", "使用", "python", "编", "写", "编写"}


def test_neighbours_are_paired_across_separators() -> None:
    assert words_of("src/core").pairs == {pair_of("src", "core")}
    assert words_of("用python").pairs == {pair_of("用", "python")}


def test_the_hash_of_a_pair_never_changes() -> None:
    assert pair_of("src", "core") == 2_455_629_516


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_a_text_and_its_decomposed_spelling_have_the_same_words(text: str) -> None:
    assert [piece.text for piece in pieces_of(unicodedata.normalize("NFD", text))] == [
        piece.text for piece in pieces_of(unicodedata.normalize("NFC", text))
    ]


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_plain_ascii_gets_the_same_words_by_the_fast_way_and_the_general_one(text: str) -> None:
    pieces = [piece.text for piece in pieces_of(text)]
    assert words_of(text).terms == {piece.encode() for piece in pieces} | {part.encode() for part in camel_parts(text)}
    assert words_of(text).pairs == {pair_of(one, two) for one, two in pairwise(pieces)}

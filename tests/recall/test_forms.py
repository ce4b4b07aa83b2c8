"""A word is also found in its other forms, and never as another word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.recall.forms import forms_of

FAMILIES = ["paint paints painted painting", "make makes making", "plan plans planned planning", "try tries tried",
            "box boxes boxed", "rate rates rated rating"]  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_each_form_of_a_word_leads_to_the_others(family: str) -> None:
    words = family.split()
    for word in words:
        assert {*words} <= {word, *forms_of(word)}, word


def test_what_is_no_english_word_has_no_other_form() -> None:
    for text in ("压缩", "été", "v2", "get_tip", "a1b2c3d", "x" * 40, "ok", ""):
        assert forms_of(text) == ()


def test_a_word_that_only_ends_like_a_form_keeps_its_letters() -> None:
    assert "thi" not in forms_of("thing")
    assert "acces" not in forms_of("access")


@given(st.from_regex(r"[a-z]{3,20}", fullmatch=True))
def test_a_word_is_not_a_form_of_itself_and_its_forms_are_few(word: str) -> None:
    forms = forms_of(word)
    assert word not in forms
    assert len(set(forms)) == len(forms) <= 24
    assert all(len(form) >= 3 for form in forms)

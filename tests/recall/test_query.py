"""What a question asks for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.recall.query import MOST_WORDS, Phrase, Prefix, Word, read_query
from clew.recall.words import pieces_of


def phrase(text: str, is_open: bool = False) -> Phrase:
    return Phrase(tuple(pieces_of(text)), is_open)


def test_a_plain_word_is_looked_for_as_it_is_folded() -> None:
    assert read_query("Compaction").units == (Word("compaction"),)
    assert read_query("Café").units == (Word("cafe"),)


def test_words_that_say_nothing_are_left_out_unless_nothing_else_is_left() -> None:
    assert read_query("what did we decide about the parser?").units == (Word("decide"), Word("parser"))
    assert read_query("what is it").units == (Word("what"), Word("is"), Word("it"))


def test_inside_quotes_every_word_counts() -> None:
    assert read_query('"to be or not"').units == (phrase("to be or not"),)
    assert read_query("“to be”").units == (phrase("to be"),)


def test_a_quote_that_is_not_closed_reaches_to_the_end() -> None:
    assert read_query('"to be').units == (phrase("to be"),)


def test_identifiers_and_paths_are_phrases_of_their_pieces() -> None:
    assert read_query("get_compression_tip").units == (phrase("get compression tip"),)
    assert read_query("src/clew/core/turn.py").units == (phrase("src clew core turn py"),)
    assert read_query("foo.bar()").units == (phrase("foo bar"),)
    assert read_query("getCompressionTip").units == (Word("getcompressiontip"),)


def test_a_star_at_the_end_asks_for_a_beginning() -> None:
    assert read_query("compress*").units == (Prefix("compress"),)
    assert read_query("src/clew/tur*").units == (phrase("src clew tur", is_open=True),)


def test_a_minus_before_a_word_or_a_phrase_leaves_it_out() -> None:
    query = read_query('parser -tests -"old parser" -src/old')
    assert query.units == (Word("parser"),)
    assert query.without == (Word("tests"), phrase("old parser"), phrase("src old"))


def test_a_minus_elsewhere_is_only_a_sign() -> None:
    assert read_query("well-known").units == (phrase("well known"),)
    assert read_query("--verbose").units == (Word("verbose"),)
    assert read_query("a - b").without == ()


def test_one_and_two_cjk_characters_are_terms_and_up_to_four_a_phrase() -> None:
    assert read_query("压").units == (Word("压"),)
    assert read_query("压缩").units == (Word("压缩"),)
    assert read_query("上下文").units == (phrase("上下文"),)


def test_a_question_without_spaces_is_also_looked_for_in_parts() -> None:
    assert read_query("压缩的上下文").units == (phrase("压缩的上下文"), Word("压缩"), Word("上下"), Word("下文"))


def test_a_page_of_text_is_not_looked_for_word_by_word() -> None:
    query = read_query(" ".join(f"word{n}" for n in range(1_000)))
    assert len(query.units) == MOST_WORDS
    assert "1,000" in query.notes[0]


def test_of_a_page_the_words_it_repeats_come_first_and_its_signs_mean_nothing() -> None:
    page = 'rm -rf "old parser" src/core/turn.py ' + " ".join(f"word{n}" for n in range(70)) + " parser 压缩窗口"
    query = read_query(page)
    assert query.units[0] == Word("parser")
    assert query.stress[0] > query.stress[1] == 1.0
    assert query.without == ()
    assert all(isinstance(unit, Word) for unit in query.units)
    assert {Word("rf"), Word("turn"), Word("压缩"), Word("缩窗")} <= set(query.units)


def test_a_long_quotation_is_still_one_phrase() -> None:
    (unit,) = read_query('"' + "so it goes on " * 30 + '"').units
    assert isinstance(unit, Phrase)


def test_a_possessive_is_its_word() -> None:
    assert read_query("Caroline's identity").units == (Word("caroline"), Word("identity"))


def test_nothing_but_signs_asks_for_nothing() -> None:
    for text in ("", "  ", "?!", '""', "-", "*", "_"):
        assert read_query(text).units == ()


@given(st.text())
def test_every_question_can_be_read(text: str) -> None:
    query = read_query(text)
    assert len(query.units) <= MOST_WORDS
    assert bool(query.units or query.without) == bool(pieces_of(text))

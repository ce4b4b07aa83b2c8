"""Credentials are gone from everything that leaves, and nothing else changes."""

from __future__ import annotations

from hypothesis import given, settings

from clew.core.pairs import exchanges
from clew.engines.importance import exact_strings
from clew.engines.veil import veil, veil_results
from clew.facts.messages import read_messages
from tests.histories import SECRET, legal_histories, odd_histories


@settings(max_examples=50, deadline=None)
@given(legal_histories())
def test_no_secret_is_left_in_words_arguments_results_or_strings(history):
    veiled = veil(exchanges(read_messages(history)))
    messages = veil_results(veiled)
    assert SECRET not in str([(said.text, [call.arguments for call in said.calls]) for said in messages])
    assert not any(SECRET[9:] in string for string in exact_strings(messages))


@given(odd_histories)
def test_a_history_without_secrets_is_left_as_it_is(history):
    before = exchanges(read_messages(history))
    assert veil(before) == before
    assert veil_results(before) == [said for exchange in before for said in exchange.messages]


def test_a_text_that_holds_the_separator_is_veiled_too():
    odd = [{"role": "user", "content": f"a\n\x00\nb {SECRET}"}, {"role": "user", "content": "plain"}]
    veiled = veil(exchanges(read_messages(odd)))
    assert [exchange.said.text for exchange in veiled] == ["a\n\x00\nb [REDACTED]", "plain"]

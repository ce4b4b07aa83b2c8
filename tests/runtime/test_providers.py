"""Whom clew talks to: as set, or by which key is in the environment; a missing one is said with what to do."""

from __future__ import annotations

import pytest

from clew.runtime.providers import main_model, summariser
from clew.runtime.settings import BadSettings, Settings

KEYS = {"OPENAI_API_KEY": "sk-openai-1234567890", "OPENROUTER_API_KEY": "sk-or-1234567890"}


def test_the_first_key_there_is_chooses_the_provider() -> None:
    who = main_model(Settings({}), KEYS)
    assert (who.endpoint.provider, who.endpoint.dialect, who.model) == ("openai", "responses", "gpt-5")
    assert who.endpoint.key is not None
    assert who.endpoint.key.reveal() == KEYS["OPENAI_API_KEY"]
    assert "sk-openai" not in repr(who)


def test_what_is_set_goes_before_what_is_there() -> None:
    settings = Settings({"model.provider": "openrouter", "model.default": "qwen/qwen3-coder"})
    who = main_model(settings, KEYS)
    assert (who.endpoint.host, who.model) == ("openrouter.ai", "qwen/qwen3-coder")
    assert main_model(settings, KEYS, model="other").model == "other"


def test_an_address_alone_is_a_server_of_ones_own_or_a_known_one() -> None:
    own = main_model(Settings({"model.base_url": "http://127.0.0.1:9/v1", "model.default": "m"}), {})
    assert (own.endpoint.provider, own.endpoint.dialect, own.endpoint.key) == ("local", "chat", None)
    known = main_model(
        Settings({"model.base_url": "https://api.anthropic.com/v1"}), {"ANTHROPIC_API_KEY": "sk-ant-12345678"}
    )
    assert (known.endpoint.provider, known.endpoint.dialect) == ("anthropic", "anthropic")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({}, r"no model to talk to: none of ANTHROPIC_API_KEY.*clew config set model\.base_url"),
        ({"model.provider": "antropic"}, "no provider 'antropic'; choose one of anthropic"),
        ({"model.provider": "groq"}, "no model is named for groq"),
    ],
)
def test_what_is_missing_is_said(values: dict[str, str], told: str) -> None:
    with pytest.raises(BadSettings, match=told):
        main_model(Settings(values), {})


def test_summaries_are_the_main_models_unless_another_is_set() -> None:
    main = main_model(Settings({}), KEYS)
    assert summariser(Settings({}), main, KEYS) == main
    small = summariser(Settings({"auxiliary.compression.model": "gpt-5-nano"}), main, KEYS)
    assert (small.model, small.endpoint.provider) == ("gpt-5-nano", "openai")

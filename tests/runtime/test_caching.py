"""Cache points are placed in whatever form a caller has, and only there."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import clew
from clew.facts.exchange import Prompt
from clew.facts.messages import read_messages

LONG = "Rules of the house. " * 400
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "x"}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": LONG},
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "nothing there"},
    {"role": "assistant", "content": "Nothing."},
    {"role": "user", "content": "Again."},
]
ANTHROPIC = {
    "model": "claude-opus-5",
    "max_tokens": 100,
    "system": LONG,
    "messages": [{"role": "user", "content": "Look."}],
    "tools": [{"name": "look", "input_schema": {"type": "object"}}],
}


def marks(value: Any) -> int:
    return json.dumps(value).count('"cache_control"')


@pytest.mark.parametrize(
    "given",
    [CHAT, {"model": "anthropic/claude-opus-5", "messages": CHAT}, ANTHROPIC],
    ids=["list", "chat", "anthropic"],
)
@pytest.mark.parametrize("provider", ["anthropic", "openrouter"])
def test_the_same_kind_comes_back_with_marks_and_nothing_else_changed(given: Any, provider: str) -> None:
    before = copy.deepcopy(given)
    placed = clew.place_cache_points(given, provider)
    assert given == before
    assert type(placed) is type(given)
    assert 1 <= marks(placed) <= 4
    assert clew.place_cache_points(placed, provider) == placed
    if isinstance(given, dict):
        assert placed.keys() == given.keys()


def test_a_provider_that_needs_no_telling_gets_what_was_handed_in() -> None:
    assert clew.place_cache_points(CHAT, "deepseek") == CHAT
    assert clew.place_cache_points(ANTHROPIC, "deepseek") == ANTHROPIC


def test_a_prompt_stays_a_prompt() -> None:
    prompt = Prompt(LONG, read_messages(CHAT[1:]), model="claude-opus-5")
    assert isinstance(clew.place_cache_points(prompt), Prompt)

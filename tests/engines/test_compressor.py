"""Single cases of the default engine that generated histories rarely hit."""

from __future__ import annotations

import pytest

from clew import ContextCompressor, compact, validate_messages
from clew.core.speaker import HANDOFF_READ, is_handoff
from clew.facts.messages import read_messages
from tests.histories import SECRET


def step(n: int, words: int = 300) -> list[dict]:
    call = {"id": f"c{n}", "type": "function", "function": {"name": "read_file", "arguments": f'{{"path": "f{n}.py"}}'}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "name": "read_file", "content": f"w{n} " * words},
    ]


def chat(n: int, words: int = 150) -> list[dict]:
    return [
        {"role": "user", "content": f"ask {n} " + "u " * words},
        {"role": "assistant", "content": f"say {n} " + "a " * words},
    ]


LONG_RUN = [{"role": "user", "content": "Only this one request, for hours."}] + [
    said for n in range(60) for said in step(n)
]
LONG_CHAT = [said for n in range(60) for said in chat(n)]


def roles(history: list[dict]) -> list[str]:
    return [said["role"] for said in history]


def test_the_one_request_of_a_long_run_is_brought_forward_and_stands_there_once():
    made = compact(LONG_RUN, context_length=16_000).messages
    assert [said["content"] for said in made if said["role"] == "user"][1:] == ["Only this one request, for hours."]
    assert is_handoff(read_messages(made)[0])
    assert validate_messages(made, "anthropic") == []


def test_a_bridge_keeps_the_roles_alternating_and_never_piles_up():
    engine = ContextCompressor(16_000)
    made = LONG_RUN
    for n in range(3):
        made = engine.compress(made)
        assert roles(made)[:3] == ["user", "assistant", "user"]
        assert [said["content"] for said in made].count(HANDOFF_READ) == 1
        made = made + [said for k in range(60) for said in step(1_000 * (n + 1) + k)]


@pytest.mark.parametrize("first", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("last", [0, 1, 4, 5, 20])
def test_no_two_neighbours_share_a_role_when_none_did_before(first, last):
    engine = ContextCompressor(16_000, protect_first_n=first, protect_last_n=last)
    made = LONG_CHAT
    for _ in range(3):
        made = engine.compress(made)
        assert all(one != two for one, two in zip(roles(made), roles(made)[1:], strict=False))
        more = LONG_CHAT if made[-1]["role"] == "assistant" else LONG_CHAT[1:]
        made = made + more


def test_what_would_grow_or_hardly_shrink_stays_as_it_is():
    history = [said for n in range(8) for said in chat(n, words=60)]
    done = compact(history, context_length=8_000, protect_last_n=2)
    assert done.messages == history
    assert done.tokens_after == done.tokens_before
    assert any("too little to be worth it" in line for line in done.report)


def test_a_secret_in_the_newest_request_is_not_copied_into_the_summary():
    history = [*LONG_CHAT, {"role": "user", "content": f"log in with {SECRET} now"}]
    done = compact(history, context_length=16_000)
    assert SECRET not in done.summary
    assert "[REDACTED]" in done.summary
    assert done.messages[-1] == history[-1]


def test_every_demand_of_the_middle_stands_in_the_digest():
    history = [
        said for n in range(60) for said in ({"role": "user", "content": f"You must keep column c{n}."}, chat(n)[1])
    ]
    done = compact(history, context_length=64_000)
    assert len(done.dropped) > 40
    left = [history[place]["content"] for place in done.dropped if history[place]["role"] == "user"]
    assert [said for said in left if said not in done.summary] == []


def test_the_head_is_protected_once_and_then_decays():
    engine = ContextCompressor(16_000)
    once = engine.compress(LONG_CHAT)
    assert once[:2] == LONG_CHAT[:2]
    twice = engine.compress(once + LONG_CHAT)
    assert is_handoff(read_messages(twice)[0])
    assert "ask 0" in twice[0]["content"]


def test_the_system_prompt_gets_its_note_once_and_keeps_its_bytes_after_that():
    system = {"role": "system", "content": "You are careful."}
    once = compact([system, *LONG_CHAT], context_length=16_000).messages
    assert once[0]["content"].startswith("You are careful.\n\n[Note:")
    twice = compact([*once, *LONG_CHAT], context_length=16_000).messages
    assert twice[0] == once[0]


def test_numbers_of_actions_go_on_over_passes():
    engine = ContextCompressor(16_000)
    first = engine.compacted(LONG_RUN)
    more = [said for n in range(100, 160) for said in step(n)]
    second = engine.compacted(first.messages + more)
    assert f"{len(first.dropped) // 2}. READ" in first.summary
    total = (len(first.dropped) + len(second.dropped)) // 2
    assert f"{total}. READ" in second.summary


def test_what_a_model_wrote_without_any_of_the_headings_is_no_summary_and_rules_write_one():
    history = [{"role": "user", "content": "Never touch prod.py."}]
    history += [{"role": "assistant", "content": f"Step {n}: " + "done. " * 400} for n in range(60)]
    history += [{"role": "user", "content": "Now finish."}]
    useless = compact(history, context_length=32_000, summarise=lambda prompt: "def main():\n    print('hello')\n" * 40)
    assert "print('hello')" not in useless.summary
    assert "Never touch prod.py." in str(useless.messages)
    assert any("by rules" in line for line in useless.report)

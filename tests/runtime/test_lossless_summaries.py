"""The summaries of the lossless engine: checked, veiled, by rules where no model answers, and written again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clew import LosslessEngine, estimate_tokens, open_store
from clew.core.redact import redact
from clew.store.store import Store
from tests.histories import SECRET
from tests.runtime.lossless_histories import (
    SMALL,
    big,
    blocks,
    grown,
    problems,
    proof,
    rows_of,
    summary,
    turn,
    turns,
)

# Summaries


def test_without_a_model_texts_are_marked_and_written_again_when_one_answers(tmp_path: Path) -> None:
    said = turns(100)
    with open_store(tmp_path / "my.db") as store:
        down = LosslessEngine(SMALL, store)
        down.on_session_start("s")
        live = grown(down, said)
        down.remember(live)
        old = store.nodes.leaves(down.session or "")
        assert {(node.made_by, node.degraded) for node in old} == {("rules", True)}
        engine = LosslessEngine(SMALL, store, summary)
        engine.on_session_start("s")
        session = store.nodes.hosted("s") or ""
        for _ in range(20):
            engine.compress(said)
            if not store.nodes.ailing(session, 1, degraded=True):
                break
        new = store.nodes.leaves(session)[: len(old)]
        assert [(node.first, node.last) for node in new] == [(node.first, node.last) for node in old]
        assert all("a model wrote this" in node.text for node in new)
        archived = store.nodes.find(session, old[0].id)
        assert archived is not None
        assert archived.text == old[0].text
        assert archived.replaced_by == new[0].id
        assert proof(engine) == []
        assert rows_of(engine) == said


@pytest.mark.parametrize(
    "answer",
    ["", "   ", None, RuntimeError("no"), "word " * 30_000],
    ids=["empty", "blank", "none", "raises", "endless"],
)
def test_what_is_no_summary_is_never_published_as_one(answer: Any) -> None:
    times = 0

    def summarise(prompt: str) -> Any:
        nonlocal times
        times += 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    engine = LosslessEngine(SMALL, summarise=summarise)
    made = engine.compress(turns(100))
    assert times == 1 or (isinstance(answer, str) and answer.strip())  # who fails is not asked for every leaf
    leaves = engine.store.nodes.leaves(engine.session or "")
    assert leaves
    assert all(leaf.made_by == "rules" and leaf.degraded for leaf in leaves)
    assert "src/part_" in str(made[0]["content"])


def test_an_async_summariser_is_waited_for() -> None:
    async def summarise(prompt: str) -> str:
        await asyncio.sleep(0)
        return summary(prompt)

    made = LosslessEngine(SMALL, summarise=summarise).compress(turns(60))
    assert "a model wrote this" in blocks(made)[0]


def test_a_model_s_summary_is_checked_and_every_demand_is_put_back() -> None:
    def summarise(prompt: str) -> str:
        return "## Relevant Files\n- /never/there/at_all.py\n\n## Goal\nfine"

    said = [{"role": "user", "content": "You must never touch prod.py."}, *turns(60)]
    text = "\n".join(blocks(LosslessEngine(SMALL, summarise=summarise).compress(said)))
    assert "You must never touch prod.py." in text
    assert "/never/there/at_all.py" not in text


def test_every_demand_of_a_person_is_in_the_window_after_many_compactions() -> None:
    said: list[dict[str, Any]] = []
    for n in range(60):
        said += [{"role": "user", "content": f"You must never rename table_{n}."}, *turn(n)[1:], *turn(n + 500)]
    live = grown(LosslessEngine(64_000), said)
    shown = "\n".join(str(one["content"]) for one in live)
    assert [n for n in range(60) if f"You must never rename table_{n}." not in shown] == []


def test_a_summariser_with_a_small_window_is_fed_in_parts() -> None:
    prompts: list[str] = []

    def summarise(prompt: str) -> str:
        prompts.append(prompt)
        return summary(prompt)

    said = [{"role": "user", "content": "Read: " + "alpha beta gamma " * 12_000}, *turns(20)]
    engine = LosslessEngine(SMALL, summarise=summarise)
    engine.compress(said)
    assert max(estimate_tokens([{"role": "user", "content": prompt}]) for prompt in prompts) < SMALL
    assert len(prompts) > 2


def test_credentials_reach_neither_summariser_nor_summary() -> None:
    prompts: list[str] = []
    said = [
        {"role": "user", "content": f"The key is {SECRET}."},
        *big(1, f"OPENAI_API_KEY={SECRET}\n" * 60),
        *turns(60),
    ]
    for summarise in (None, lambda prompt: prompts.append(prompt) or f"## Goal\nuse {SECRET}"):
        engine = LosslessEngine(SMALL, summarise=summarise)
        made = engine.compress([*said, {"role": "user", "content": "go on"}])
        assert SECRET not in str(made)
        assert all(SECRET not in node.text for node in engine.store.nodes.leaves(engine.session or ""))
    assert prompts
    assert SECRET not in "".join(prompts)
    assert redact(SECRET) != SECRET


def test_a_focus_reaches_the_summariser_and_pinned_texts_stay_word_for_word() -> None:
    prompts: list[str] = []
    engine = LosslessEngine(SMALL, summarise=lambda prompt: prompts.append(prompt) or summary(prompt))
    pins = ("The port is 8443,\nand stays it.", "part_7")
    made = engine.compress(turns(60), focus_topic="the parser of dates", pinned=pins)
    assert "the parser of dates" in prompts[0]
    assert all(any(pin in str(one["content"]) for one in made) for pin in pins)
    assert problems(made) == []
    again = engine.compress([*made, *turns(60, start=60)], pinned=pins)
    assert all(sum(pin in str(one["content"]) for one in again) >= 1 for pin in pins)
    assert sum("PINNED BY THE USER" in str(one["content"]) for one in again) == 1
    short = engine.compress([{"role": "user", "content": "hi"}], pinned=pins[:1])
    assert pins[0] in str(short[0]["content"])


def test_a_summary_of_another_engine_becomes_the_leaf_of_what_it_stands_for(store: Store) -> None:
    from clew import ContextCompressor

    said = turns(60, 100)
    session = store.open_session()
    store.append(session, said)
    handoff = ContextCompressor(SMALL).compress(said)
    session = store.continue_session(session, handoff, upto=len(said))
    store.append(session, turns(60, 100, start=60))
    engine = LosslessEngine(SMALL, store)
    engine.on_session_start(session)
    made = engine.compress([one.message for one in store.messages(session)])
    leaves = store.nodes.leaves(session)
    assert leaves[0].made_by == "handoff"
    assert leaves[0].first == 0
    assert store.nodes.flaws(session) == []
    assert problems(made) == []

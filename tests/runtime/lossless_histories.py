"""Histories for the lossless engine: turns of an agent with facts planted in them."""

from __future__ import annotations

import json
from typing import Any

from clew.engines.lossless.blocks import node_of
from clew.facts.messages import read_message
from clew.runtime.lossless import LosslessEngine
from clew.wire.legal import validate_messages

Message = dict[str, Any]
SMALL = 16_000
FILLER = " so it goes on and on in the usual way of things and nothing is decided here"


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": function}


def turn(number: int, words: int = 30) -> list[Message]:
    """A person, a call, its result, an answer; each with something of its own in it."""
    where, tested = f"src/part_{number}/main_{number}.py", f"pytest -k case_{number}"
    failed = f"Exit code 1\nE{number}Error: value_{number} is not known\n"
    answer = f"Step {number} is done: deploy_key_{number} was renamed."
    return [
        {"role": "user", "content": f"Step {number}: look at {where}." + FILLER * (words // 8)},
        {"role": "assistant", "content": None, "tool_calls": [call(number, "terminal", command=tested)]},
        result(number, "terminal", failed + FILLER * (words // 4)),
        {"role": "assistant", "content": answer + FILLER * (words // 8)},
    ]


def result(number: int, name: str, content: str) -> Message:
    return {"role": "tool", "tool_call_id": f"call_{number}", "name": name, "content": content}


def turns(count: int, words: int = 30, start: int = 0) -> list[Message]:
    return [said for number in range(start, start + count) for said in turn(number, words)]


def grown(engine: LosslessEngine, said: list[Message], by: int = 4) -> list[Message]:
    """What a host has in its window after saying all this, compacting whenever the engine asks for it."""
    live: list[Message] = []
    for start in range(0, len(said), by):
        live += said[start : start + by]
        if engine.should_compress_preflight(live):
            live = engine.compress(live)
            assert problems(live) == []
    return live


def problems(messages: list[Message]) -> list[str]:
    return [wrong for dialect in ("openai", "anthropic", "responses") for wrong in validate_messages(messages, dialect)]


def rows_of(engine: LosslessEngine) -> list[Message]:
    """Everything in the engine's log, in order."""
    assert engine.session is not None
    return [said.message for said in engine.store.history(engine.session)]


def count_rows(engine: LosslessEngine) -> int:
    """How many rows the log has in all, edited ones and summaries of clew's own apart."""
    with engine.store.database.read() as work:
        return int(work.all("SELECT COUNT(*) FROM message WHERE derived = 0")[0][0])


def proof(engine: LosslessEngine) -> list[str]:
    """What is wrong with the coverage; nothing, it is hoped."""
    assert engine.session is not None
    return engine.store.nodes.flaws(engine.session)


def blocks(messages: list[dict[str, Any]]) -> list[str]:
    return [said["content"] for said in messages if node_of(read_message(said))]


def summary(prompt: str) -> str:
    return "## Goal\nport the parser\n\n## Key Decisions\n- a model wrote this"


def big(number: int, text: str) -> list[dict[str, Any]]:
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call(number, "read_file", path=f"data_{number}.json")],
    }
    return [asked, {"role": "tool", "tool_call_id": f"call_{number}", "name": "read_file", "content": text}]

"""The contract of an engine: what every host may rely on, whichever strategy is behind it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from clew.core.speaker import newest_said_by_person
from clew.engines.plugin import ContextEngine
from clew.facts.messages import read_messages
from clew.wire.legal import validate_messages


def check_engine(engine: ContextEngine | Callable[[], ContextEngine]) -> None:
    """Hold an engine to the contract; raises an AssertionError that says what is broken.

    Takes an engine, or what makes one: its class, a function.

    >>> from clew import ContextCompressor
    >>> check_engine(ContextCompressor(context_length=32_000))
    """
    make = partial(copy.deepcopy, engine) if isinstance(engine, ContextEngine) else engine
    engine = make()
    assert isinstance(engine, ContextEngine), "an engine is a subclass of clew.ContextEngine"
    assert isinstance(engine.name, str), "name is a property that returns the word used in the config"
    assert engine.name, "name is empty"
    _check_counters(engine)
    _check_lifecycle(engine)
    _check_tools(engine)
    for history in _histories():
        _check_compress(make(), history)


def _check_counters(engine: ContextEngine) -> None:
    for name in ("last_prompt_tokens", "last_completion_tokens", "last_total_tokens", "compression_count"):
        assert getattr(engine, name) == 0, f"{name} is 0 before anything happened"
    for name in ("threshold_tokens", "context_length"):
        assert isinstance(getattr(engine, name), int), f"{name} is a number of tokens"
    engine.update_from_response({})
    engine.update_from_response({"prompt_tokens": 1_200, "completion_tokens": 30, "total_tokens": 1_230})
    assert not engine.should_compress(1), "one token is no reason to compact"
    engine.should_compress()
    status = engine.get_status()
    for key in ("last_prompt_tokens", "threshold_tokens", "context_length", "usage_percent", "compression_count"):
        assert key in status, f"get_status() lacks {key}"


def _check_lifecycle(engine: ContextEngine) -> None:
    engine.on_session_start("session-1", platform="test", conversation_id="conversation-1")
    engine.update_model("some-model", 64_000)
    assert engine.context_length == 64_000, "update_model sets context_length"
    engine.on_session_start("session-2", boundary_reason="compression", old_session_id="session-1")
    engine.on_session_reset()
    assert engine.compression_count == 0, "on_session_reset clears the counters"
    engine.on_session_end("session-2", [])


def _check_tools(engine: ContextEngine) -> None:
    for schema in engine.get_tool_schemas():
        named = schema.get("function", schema)
        assert named.get("name"), f"a tool without a name: {schema}"
        assert isinstance(named.get("parameters"), dict), f"the tool {named['name']} has no parameters"
    answer = engine.handle_tool_call("no_such_tool", {})
    assert isinstance(json.loads(answer), dict), "handle_tool_call answers with a JSON object, also for unknown tools"


def _check_compress(engine: ContextEngine, history: list[dict[str, Any]]) -> None:
    before = copy.deepcopy(history)
    for focus in (None, "the parser"):
        made = engine.compress(history, focus_topic=focus)
        assert history == before, "compress changed the list it was given"
        assert isinstance(made, list), "compress returns a list"
        assert all(isinstance(said, dict) and "role" in said for said in made), "compress returns messages with roles"
        if not history:
            continue
        for dialect in ("openai", "anthropic"):
            problems = validate_messages(made, dialect)
            assert not problems, f"not legal for {dialect} after compress: {problems[0]}"
        asked = newest_said_by_person(read_messages(history))
        assert asked is None or history[asked] in made, "the newest user message has to stay as it was"
        again = engine.compress(made)
        assert not validate_messages(again), "a second pass has to leave a legal history too"


def _histories() -> list[list[dict[str, Any]]]:
    """Nothing, one message, a chat, a long run of tools, a call in flight."""
    user: dict[str, Any] = {"role": "user", "content": "Fix the parser. Never touch prod.py."}
    talk: list[dict[str, Any]] = []
    for n in range(40):
        call = {
            "id": f"c{n}",
            "type": "function",
            "function": {"name": "read_file", "arguments": f'{{"path": "f{n}.py"}}'},
        }
        talk += [
            {"role": "user", "content": f"Step {n}, please."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "name": "read_file", "content": f"line of file {n}\n" * 400},
            {"role": "assistant", "content": f"Step {n} is done, on to the next one."},
        ]
    return [[], [user], [user, talk[3]], [user, talk[3], *talk], [user, talk[3], *talk, *talk[:2]]]

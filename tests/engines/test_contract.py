"""The contract for engines: the built-in keeps it, the documents' example runs, and a broken engine is named."""

from __future__ import annotations

import json

import pytest

from clew import ContextCompressor, ContextEngine
from clew.testing import check_engine


@pytest.mark.parametrize("window", [8_000, 32_000, 200_000])
def test_the_default_engine_keeps_the_contract(window):
    check_engine(ContextCompressor(window))
    check_engine(lambda: ContextCompressor(window))
    check_engine(lambda: ContextCompressor(window, summarise=lambda prompt: "## Goal\nfix the parser"))


class LCMEngine(ContextEngine):
    """The engine that the plug-in documents show, with its tools."""

    @property
    def name(self) -> str:
        return "lcm"

    def update_from_response(self, usage: dict) -> None:
        self.last_prompt_tokens = usage.get("prompt_tokens", 0)

    def should_compress(self, prompt_tokens: int = None) -> bool:  # noqa: RUF013 as the documents spell it
        return (prompt_tokens or self.last_prompt_tokens) > self.threshold_tokens

    def compress(self, messages: list, current_tokens: int = None, focus_topic: str = None) -> list:  # noqa: RUF013
        return messages

    def get_tool_schemas(self):
        query = {"query": {"type": "string", "description": "Search query"}}
        parameters = {"type": "object", "properties": query, "required": ["query"]}
        return [{"name": "lcm_grep", "description": "Search the context knowledge graph", "parameters": parameters}]

    def handle_tool_call(self, name, args, **kwargs):
        if name == "lcm_grep":
            return json.dumps({"results": [args["query"]]})
        return json.dumps({"error": f"Unknown tool: {name}"})


def test_an_engine_written_by_the_documents_runs():
    engine = LCMEngine(context_length=200000)
    assert isinstance(engine, ContextEngine)
    assert engine.name == "lcm"
    assert (engine.context_length, engine.threshold_tokens) == (200_000, 100_000)
    made = engine.compress([{"role": "user", "content": "hello"}])
    assert isinstance(made, list)
    assert all("role" in m for m in made)
    assert json.loads(engine.handle_tool_call("lcm_grep", {"query": "x"})) == {"results": ["x"]}
    check_engine(lambda: LCMEngine(context_length=200000))


def test_a_general_plug_in_can_register_it():
    class Context:
        def register_context_engine(self, engine):
            self.engine = engine

    def register(ctx):
        engine = LCMEngine(context_length=200000)
        ctx.register_context_engine(engine)

    context = Context()
    register(context)
    assert context.engine.get_status()["context_length"] == 200_000


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda self, messages, current_tokens=None, focus_topic=None: messages[1:], "newest user message|not legal"),
        (lambda self, messages, current_tokens=None, focus_topic=None: messages.clear() or [], "changed the list"),
        (lambda self, messages, current_tokens=None, focus_topic=None: None, "returns a list"),
    ],
)
def test_a_broken_engine_is_named_with_what_is_broken(broken, says):
    engine = type("Broken", (LCMEngine,), {"compress": broken})
    with pytest.raises(AssertionError, match=says):
        check_engine(lambda: engine(context_length=64_000))

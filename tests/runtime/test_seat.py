"""The engine's seat: what a plug-in hears and in which order, its tools, its failures, its slowness, the hooks."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from clew import ContextEngine
from clew.core.effects import Consult, Silent
from clew.engines.compressor import Compressor
from clew.engines.hosted import Hosted
from clew.facts.messages import ToolCall, message
from clew.facts.model import Policy
from clew.facts.usage import Usage
from clew.runtime.beside import Beside
from clew.runtime.hooks import AFTER, BEFORE, Hooks
from clew.runtime.scales import Scale
from clew.runtime.seat import Seat
from tests.runtime.bringing import brought

OWN = Compressor(Policy(), Scale())


class Recorder(ContextEngine):
    """Writes down what it hears."""

    def __init__(self) -> None:
        super().__init__(16_000)
        self.heard: list[Any] = []

    @property
    def name(self) -> str:
        return "recorder"

    def update_from_response(self, usage: dict[str, Any]) -> None:
        self.heard.append(("usage", usage.get("prompt_tokens")))

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return False

    def compress(self, messages: Any, current_tokens: Any = None, focus_topic: Any = None) -> Any:
        return messages

    def on_session_start(self, session_id: str, **facts: Any) -> None:
        self.heard.append(("start", session_id, facts))

    def on_session_end(self, session_id: str, messages: Any) -> None:
        self.heard.append(("end", session_id, len(messages)))

    def on_session_reset(self) -> None:
        self.heard.append(("reset",))

    def update_model(self, model: str, context_length: int, **more: Any) -> None:
        self.heard.append(("model", model, context_length))

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        bare = {"name": "find", "description": "Find.", "parameters": {"type": "object"}}
        return [bare, {"type": "function", "function": {**bare, "name": "taken"}}, {"description": "no name"}]

    def handle_tool_call(self, name: str, args: dict[str, Any], **more: Any) -> str:
        return json.dumps({"name": name, "args": args, "messages": len(more["messages"])})


def seat(plugin: ContextEngine, notes: list[str] | None = None, **more: Any) -> Seat:
    note = [].append if notes is None else notes.append
    return Seat(Hosted("recorder", plugin, Scale(), OWN), plugin=brought(plugin), name="recorder", note=note, **more)


def test_a_plug_in_hears_everything_in_order_and_a_compaction_as_a_switch():
    plugin = Recorder()

    async def through() -> None:
        here = seat(plugin)
        await here.talks_to("m", 32_000, api_key="", provider="p")
        await here.begin("a.0", model="m", context_length=32_000, old_session_id="", boundary_reason="")
        await here.heard(Usage(input=5, cache_read=7, output=3))
        await here.heard(None)
        await here.went_on("a.0", "a.1", tokens_before=9, tokens_after=4)
        await here.end("a.1", [message("user", "hi")])
        await here.reset()
        here.close()

    asyncio.run(through())
    assert plugin.heard == [
        ("model", "m", 32_000),
        ("start", "a.0", {"model": "m", "context_length": 32_000}),
        ("usage", 12),
        ("usage", None),
        (
            "start",
            "a.1",
            {
                "model": "m",
                "context_length": 32_000,
                "boundary_reason": "compression",
                "old_session_id": "a.0",
                "tokens_before": 9,
                "tokens_after": 4,
            },
        ),
        ("end", "a.1", 1),
        ("reset",),
    ]


def test_its_tools_are_offered_and_answered_and_no_name_stands_twice():
    async def through() -> tuple[Any, Any, Any]:
        here = seat(Recorder())
        offered = await here.offer({"taken"})
        call = ToolCall("c1", "find", '{"words": "x"}', {})
        found = await here.run(call, lambda: [message("user", "a"), message("assistant", "b")])
        other = await here.run(ToolCall("c2", "terminal", "{}", {}), list)
        here.close()
        return offered, found, other

    offered, found, other = asyncio.run(through())
    assert [tool["function"]["name"] for tool in offered] == ["find"]
    assert (found.call_id, json.loads(found.text)) == ("c1", {"name": "find", "args": {"words": "x"}, "messages": 2})
    assert other is None


def test_one_that_fails_is_named_with_the_reason_and_the_conversation_goes_on():
    class Broken(Recorder):
        def on_session_start(self, session_id: str, **facts: Any) -> None:
            raise RuntimeError("no disk")

        def handle_tool_call(self, name: str, args: dict[str, Any], **more: Any) -> str:
            raise KeyError(name)

    notes: list[str] = []

    async def through() -> Any:
        here = seat(Broken(), notes)
        await here.begin("a.0")
        await here.offer(set())
        answer = await here.run(ToolCall("c", "find", "{}", {}), list)
        here.close()
        return answer

    answer = asyncio.run(through())
    assert len(notes) == 1
    assert "recorder" in notes[0]
    assert "on_session_start" in notes[0]
    assert "no disk" in notes[0]
    assert "recorder failed: KeyError" in answer.text


def test_a_question_that_takes_too_long_is_answered_for_and_the_next_one_is_asked_anew():
    async def through() -> tuple[Any, Any, float]:
        beside = Beside()
        began = time.monotonic()
        late = await beside.consult(Consult("slow", lambda: time.sleep(2), 0.05))
        waited = time.monotonic() - began
        answer = await beside.ask(lambda: 42, 5.0)
        beside.close()
        return late, answer, waited

    late, answer, waited = asyncio.run(through())
    assert isinstance(late, Silent)
    assert "0.05 s" in late.why
    assert answer == 42
    assert waited < 1.5


def test_questions_are_answered_in_their_order_while_the_loop_goes_on():
    async def through() -> tuple[list[int], int]:
        beside, answers, ticks = Beside(), [], 0

        async def ask(number: int) -> None:
            answers.append(await beside.ask(lambda: (time.sleep(0.02), number)[1], 5.0))

        asking = asyncio.gather(*(ask(number) for number in range(5)))
        while not asking.done():
            ticks += 1
            await asyncio.sleep(0.005)
        beside.close()
        return answers, ticks

    answers, ticks = asyncio.run(through())
    assert answers == [0, 1, 2, 3, 4]
    assert ticks > 3


def command(tmp_path: Path, code: int, says: str = "") -> str:
    """A hook that keeps the facts it was given."""
    script = tmp_path / f"hook{code}.py"
    script.write_text(
        "import sys, pathlib\n"
        f"pathlib.Path({str(tmp_path / 'facts')!r}).write_text(sys.stdin.read())\n"
        f"print({says!r}, file=sys.stderr)\n"
        f"sys.exit({code})\n"
    )
    return f"{sys.executable} {script}"


def test_a_command_may_object_by_exit_code_2_and_is_given_the_facts(tmp_path):
    hooks = Hooks({BEFORE: command(tmp_path, 2, "not during the demo")})
    assert hooks.objection({"session": "a.0", "messages": 9}) == "not during the demo"
    assert json.loads((tmp_path / "facts").read_text()) == {"event": BEFORE, "session": "a.0", "messages": 9}
    assert Hooks({BEFORE: command(tmp_path, 0, "fine")}).objection({}) == ""


def test_functions_are_heard_too_and_nobody_is_asked_where_nobody_is_hooked_in(tmp_path):
    assert (
        Hooks(functions={BEFORE: [lambda **facts: None, lambda **facts: facts["why"]]}).objection({"why": "no"}) == "no"
    )
    assert not Hooks().hears(BEFORE)
    assert Seat(OWN).engine is OWN
    assert Seat(OWN, hooks=Hooks({BEFORE: "true"})).engine is not OWN


def test_a_command_that_fails_is_told_and_forbids_nothing(tmp_path):
    notes: list[str] = []

    async def through() -> None:
        here = Seat(OWN, hooks=Hooks({AFTER: command(tmp_path, 3, "no mail")}), note=notes.append)
        await here.went_on("a.0", "a.1")
        here.close()

    asyncio.run(through())
    assert len(notes) == 1
    assert "no mail" in notes[0]
    assert json.loads((tmp_path / "facts").read_text())["old_session"] == "a.0"


def test_what_a_plug_in_registered_besides_is_there_too():
    from dataclasses import replace

    from clew.runtime.plugins.context import Command, Tool

    heard: list[Any] = []
    loaded = replace(
        brought(Recorder()),
        tools={
            "count": Tool("count", {"parameters": {"type": "object"}}, lambda args: f"{args['n']} counted", "Count.")
        },
        commands={"trail": Command("trail", lambda rest: f"trail of {rest}")},
        hooks={
            "pre_llm_call": [lambda user_message: {"context": f"about {user_message}"}, lambda **facts: None],
            "post_llm_call": [lambda assistant_response, **facts: heard.append(assistant_response)],
        },
    )

    async def through() -> list[Any]:
        here = Seat(OWN, plugin=loaded, hooks=Hooks(functions=loaded.hooks))
        offered = [tool["function"]["name"] for tool in await here.offer(set())]
        counted = await here.run(ToolCall("c", "count", '{"n": 3}', {}), list)
        context = await here.before_turn("ports", [])
        await here.after_turn("ports", [message("assistant", "5433")])
        told = await here.command("trail", "x")
        here.close()
        return [offered, counted.text, context, told]

    assert asyncio.run(through()) == [["find", "taken", "count"], "3 counted", "about ports", "trail of x"]
    assert heard == ["5433"]


def test_a_plug_in_may_choose_what_one_request_carries_and_whatever_it_breaks_changes_nothing():
    messages = tuple(message("assistant" if n % 2 else "user", f"number {n}") for n in range(5))
    notes: list[str] = []

    def choosing(answer: Any) -> Any:
        def choose(self: Any, request_messages: Any, *, budget_tokens: int = 0) -> Any:
            return answer(request_messages)

        return type("Choosing", (Recorder,), {"select_context": choose})()

    async def chosen(plugin: ContextEngine) -> tuple[Any, ...]:
        here = seat(plugin, notes)
        kept = await here.selected(messages, 1_000)
        here.close()
        return kept

    assert asyncio.run(chosen(choosing(lambda given: given[-3:]))) == messages[-3:]
    assert asyncio.run(chosen(Recorder())) is messages
    assert notes == []
    for broken in (lambda given: None, lambda given: [], lambda given: ["x"], lambda given: given[9]):
        assert asyncio.run(chosen(choosing(broken))) == messages
    assert len(notes) == 2

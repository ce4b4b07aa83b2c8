"""Engines that others bring: what they return is made legal, what they break is named, and clew steps in."""

from __future__ import annotations

from typing import Any

import pytest

from clew import ContextEngine
from clew.core.effects import Consult, Silent
from clew.engines.compressor import Compressor
from clew.engines.guarded import Guarded
from clew.engines.hosted import Hosted, fitting
from clew.facts.budget import share_out
from clew.facts.messages import read_messages
from clew.facts.model import Policy, Window
from clew.facts.session import Measured, Session
from clew.runtime.drive import drive
from clew.runtime.scales import Scale

POLICY, SCALE = Policy(protect_last_n=2), Scale()
BUDGET = share_out(Window(16_000), POLICY)


class Plain(ContextEngine):
    """Keeps the newest two, and notes what it was asked."""

    def __init__(self) -> None:
        super().__init__(16_000)
        self.asked: list[Any] = []

    @property
    def name(self) -> str:
        return "plain"

    def update_from_response(self, usage: dict[str, Any]) -> None: ...

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        self.asked.append(prompt_tokens)
        return (prompt_tokens or 0) > 100

    def compress(self, messages: Any, current_tokens: Any = None, focus_topic: Any = None) -> Any:
        self.asked.append((len(messages), current_tokens, focus_topic))
        return messages[-2:]


def hosted(plugin: ContextEngine) -> Hosted:
    return Hosted("plain", plugin, SCALE, Compressor(POLICY, SCALE))


def consult(wish: Consult) -> Any:
    assert wish.limit > 0
    try:
        return wish.question()
    except Exception as trouble:
        return Silent(str(trouble))


HANDS = {Consult: consult}
HISTORY = read_messages(
    [{"role": "assistant" if n % 2 else "user", "content": f"message {n} " + "word " * 50} for n in range(20)]
)
LONG = read_messages(
    [{"role": "assistant" if n % 2 else "user", "content": f"message {n} " + "word " * 900} for n in range(20)]
)


def changed(**methods: Any) -> ContextEngine:
    return type("Changed", (Plain,), methods)()


def test_it_decides_when_and_is_shown_every_turn():
    plugin = Plain()
    session = Session("s")
    assert drive(hosted(plugin).is_due(session, 101, BUDGET), HANDS)
    assert not drive(hosted(plugin).is_due(session, 100, BUDGET), HANDS)
    assert plugin.asked == [101, 100]


def test_what_it_kept_is_the_very_message_and_the_rest_is_told_as_left():
    done = drive(hosted(Plain()).make_room(HISTORY, BUDGET), HANDS)
    assert done.messages == HISTORY[-2:]
    assert (done.kept, done.dropped) == ((18, 19), tuple(range(18)))
    assert all(a is b for a, b in zip(done.messages, HISTORY[-2:], strict=True))


def test_results_carry_their_tool_under_both_names_and_come_back_as_they_were():
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    history = read_messages(
        [
            {"role": "user", "content": "words " * 400},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "name": "look", "content": "seen"},
        ]
    )
    seen: list[Any] = []

    def compress(self: Any, messages: Any, **_: Any) -> Any:
        seen.extend(messages)
        return [{"role": "user", "content": "short"}, *messages[1:]]

    done = drive(hosted(changed(compress=compress)).make_room(history, BUDGET), HANDS)
    assert seen[2]["tool_name"] == seen[2]["name"] == "look"
    assert done.messages[1:] == history[1:]
    assert "tool_name" not in done.messages[2].raw


def test_an_orphaned_result_is_taken_out():
    orphan = {"role": "tool", "tool_call_id": "x", "content": "lost"}
    plugin = changed(compress=lambda self, messages, **_: [*messages[-2:], orphan])
    assert drive(hosted(plugin).make_room(HISTORY, BUDGET), HANDS).messages == HISTORY[-2:]


def test_what_is_larger_than_before_is_not_taken():
    plugin = changed(compress=lambda self, messages, **_: messages * 2)
    done = drive(hosted(plugin).make_room(HISTORY, BUDGET), HANDS)
    assert not done.progress
    assert done.messages == HISTORY


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (lambda self, messages, **_: 1 / 0, "division"),
        (lambda self, messages, **_: None, "NoneType"),
        (lambda self, messages, **_: [], "list"),
        (lambda self, messages, **_: ["text"], "list"),
        (lambda self, messages, **_: [{"content": "no role"}], "role"),
    ],
)
def test_one_that_breaks_is_named_with_the_reason_and_clews_own_makes_the_room(broken, named):
    done = drive(hosted(changed(compress=broken)).make_room(LONG, BUDGET), HANDS)
    assert done.progress
    assert done.summary
    assert "plain" in done.notes[0]
    assert named in done.notes[0]


def test_one_that_frees_nothing_is_left_to_it_until_the_window_is_really_full():
    lazy = changed(compress=lambda self, messages, **_: messages)
    assert not drive(hosted(lazy).make_room(HISTORY, BUDGET), HANDS).progress
    full = drive(hosted(lazy).make_room(LONG, BUDGET), HANDS)
    assert full.progress
    assert "freed nothing" in full.notes[0]


def test_one_that_cannot_say_when_is_replaced_by_the_trigger():
    silent = changed(should_compress=lambda self, prompt_tokens=None: 1 / 0)
    assert drive(hosted(silent).is_due(Session("s"), BUDGET.trigger, BUDGET), HANDS)
    assert not drive(hosted(silent).is_due(Session("s"), BUDGET.trigger - 1, BUDGET), HANDS)


def test_one_that_would_rather_wait_for_a_real_count_does():
    waits = changed(should_defer_preflight_to_real_usage=lambda self, rough: True)
    assert not drive(hosted(waits).is_due(Session("s"), 5_000, BUDGET), HANDS)
    assert drive(hosted(waits).is_due(Session("s", measured=Measured(5_000, 0)), 5_000, BUDGET), HANDS)


def test_what_is_pinned_is_put_in_front_when_the_engine_lost_it_and_never_shown_to_it_twice():
    seen: list[str] = []

    def compress(self: Any, messages: Any, **_: Any) -> Any:
        seen.extend(said["content"] for said in messages)
        return messages[-2:]

    engine = hosted(changed(compress=compress))
    first = drive(engine.make_room(HISTORY, BUDGET, pinned=("port 5433",)), HANDS)
    assert first.messages[0].text.startswith("[PINNED BY THE USER")
    assert "port 5433" in first.messages[0].text
    again = drive(engine.make_room((*first.messages, *HISTORY), BUDGET, pinned=("port 5433",)), HANDS)
    assert sum("port 5433" in said.text for said in again.messages) == 1
    assert not any("PINNED" in text for text in seen)


def test_a_method_gets_the_arguments_it_knows():
    assert fitting(lambda messages, current_tokens=None: current_tokens)([], current_tokens=5, force=True) == 5
    assert fitting(lambda messages, **more: sorted(more))([], current_tokens=5, force=True) == [
        "current_tokens",
        "force",
    ]


def test_whoever_objects_is_heard_before_anything_is_summed_up():
    heard: list[Any] = []

    def objection(messages: Any, focus: Any) -> str:
        heard.append((len(messages), focus))
        return "a release is being cut"

    done = drive(Guarded(Compressor(POLICY, SCALE), objection).make_room(LONG, BUDGET, focus="x"), HANDS)
    assert heard == [(20, "x")]
    assert not done.progress
    assert "a release is being cut" in done.notes[0]


def test_a_hook_that_fails_is_named_and_stops_nothing():
    done = drive(Guarded(Compressor(POLICY, SCALE), lambda messages, focus: str(1 / 0)).make_room(LONG, BUDGET), HANDS)
    assert done.progress
    assert "division" in done.notes[0]


def test_what_frees_next_to_nothing_is_not_worth_a_new_session():
    def compress(self: Any, messages: Any, **_: Any) -> Any:
        return [{**messages[0], "content": messages[0]["content"][:-20]}, *messages[1:]]

    assert not drive(hosted(changed(compress=compress)).make_room(HISTORY, BUDGET), HANDS).progress


def test_its_way_without_a_model_is_taken_where_that_is_enough():
    def prune(self: Any, messages: Any, current_tokens: Any = None) -> Any:
        return [{**said, "content": said["content"][:40]} for said in messages], 10_000

    engine = hosted(changed(prune_tool_results_only=prune, compress=lambda self, messages, **_: messages[-2:]))
    assert len(drive(engine.make_room(LONG, BUDGET), HANDS).messages) == 2, "not enough: it is asked to compress"
    short = drive(engine.make_room(HISTORY, BUDGET), HANDS)
    assert [len(said.text) for said in short.messages] == [40] * 20
    focused = drive(engine.make_room(HISTORY, BUDGET, focus="ports"), HANDS)
    assert len(focused.messages) == 2


def test_one_with_nothing_to_compact_says_so_and_is_not_asked():
    idle = changed(has_content_to_compress=lambda self, messages: False, compress=lambda self, messages, **_: [])
    done = drive(hosted(idle).make_room(HISTORY, BUDGET), HANDS)
    assert done.declined
    assert done.messages == HISTORY


def test_one_that_gives_its_reasons_is_asked_for_them():
    blocked = changed(should_compress_info=lambda self, tokens=None: (False, "cooling down"))
    assert not drive(hosted(blocked).is_due(Session("s"), 5_000, BUDGET), HANDS)

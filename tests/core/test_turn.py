"""The story of a turn, told by a scripted model: what was asked for, in which order, and what came of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from clew.core.effects import Append, CallModel, Learn, RunTools, Sleep, Spill, Tell
from clew.core.pictures import pictures_in
from clew.core.ports import Setup
from clew.core.room import make_room
from clew.core.state import ContextExhausted, Turn
from clew.core.turn import turn
from clew.engines.compressor import Compressor
from clew.facts.exchange import OutputTooLarge, PayloadTooLarge, PromptTooLong, RateLimited, Refused, Reply
from clew.facts.messages import message, read_message
from clew.facts.model import Model, Policy, ResultLimits, Window
from clew.facts.session import Compaction, Origin, Session
from clew.facts.usage import Usage
from clew.runtime.drive import adrive, drive
from clew.runtime.scales import Scale
from clew.testing import Script

SCALE, POLICY = Scale(), Policy(protect_last_n=2)


def setup(window: int = 16_000, **changes) -> Setup:
    made = Setup(Model("m", Window(window)), Compressor(POLICY, SCALE), SCALE.message, policy=POLICY)
    return replace(made, **changes)


def long_session(messages: int = 60) -> Session:
    session = Session("s")
    for n in range(messages):
        role = "assistant" if n % 2 else "user"
        said = message(role, f"{role} {n}: " + "the file src/app/parse.py has to stay small. " * 20)
        session = session.add(said, SCALE.message(said))
    return session


def calls(name: str, arguments: str = "{}") -> Reply:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return Reply(read_message({"role": "assistant", "content": None, "tool_calls": [call]}))


def kinds(script: Script) -> list[str]:
    return [type(wish).__name__ for wish in script.asked]


SAID = (message("user", "hello"),)


def test_a_plain_turn_writes_down_asks_and_writes_down():
    script = Script(["hi"])
    end = drive(turn(Session("s"), SAID, setup()), script.hands())
    assert kinds(script) == ["Append", "CallModel", "Append"]
    assert [said.text for said in end.session.messages] == ["hello", "hi"]


def test_tools_run_until_the_model_has_no_more_calls():
    script = Script([calls("terminal"), "done"], tools=lambda name, arguments: "42")
    end = drive(turn(Session("s"), SAID, setup()), script.hands())
    assert kinds(script) == ["Append", "CallModel", "Append", "RunTools", "Append", "CallModel", "Append"]
    assert [said.text for said in end.session.messages] == ["hello", "", "42", "done"]


def test_both_drivers_tell_the_same_story():
    plain, waiting = Script(["hi"]), Script(["hi"])
    one = drive(turn(Session("s"), SAID, setup()), plain.hands())
    two = asyncio.run(adrive(turn(Session("s"), SAID, setup()), waiting.hands()))
    assert one == two
    assert plain.asked == waiting.asked


def test_an_async_hand_works_under_both_drivers_and_inside_a_running_loop():
    async def later(wish):
        return Reply(message("assistant", "awaited"))

    def hands():
        return {**Script([]).hands(), CallModel: later}

    async def inside_a_loop():
        return drive(turn(Session("s"), SAID, setup()), hands())

    for end in (
        drive(turn(Session("s"), SAID, setup()), hands()),
        asyncio.run(adrive(turn(Session("s"), SAID, setup()), hands())),
        asyncio.run(inside_a_loop()),
    ):
        assert end.session.messages[-1].text == "awaited"


def test_a_full_window_goes_on_in_a_child_before_the_call():
    script = Script(["hi"])
    before = long_session()
    end = drive(turn(before, SAID, setup()), script.hands())
    assert kinds(script) == ["Append", "Continue", "Tell", "CallModel", "Append"]
    assert (end.session.origin, end.session.parent, end.session.compactions) == (Origin.COMPRESSION, "s", 1)
    assert end.session.counted < before.counted / 2
    assert script.prompts[0].messages[-1] == SAID[0]


def test_the_note_to_the_system_prompt_is_added_once():
    first = drive(turn(long_session(), SAID, setup()), Script(["x"]).hands()).session
    again = first
    for said in long_session().messages:
        again = again.add(said, SCALE.message(said))
    second = drive(turn(again, SAID, setup()), Script(["x"]).hands()).session
    assert second.compactions == 2
    assert first.system == second.system
    assert first.system.count("[Note:") == 1


def test_after_a_compaction_an_estimate_alone_fires_no_second_one():
    child = drive(turn(long_session(), SAID, setup()), Script(["x"]).hands()).session
    small_window = setup(window=8_000)  # by our own count it is too full for this one
    script = Script(["y"])
    drive(turn(child, SAID, small_window), script.hands())
    assert "Continue" not in kinds(script)


def test_a_report_that_says_full_does_fire():
    full = Reply(message("assistant", "x"), Usage(input=9_000))
    child = drive(turn(long_session(), SAID, setup()), Script([full]).hands()).session
    script = Script(["y"])
    drive(turn(child, (message("user", "more " * 300),), setup()), script.hands())
    assert "Continue" in kinds(script)


def test_output_too_large_asks_for_less_and_keeps_every_message():
    script = Script([OutputTooLarge(room=512), "hi"])
    drive(turn(Session("s"), SAID, setup()), script.hands())
    assert [prompt.max_output for prompt in script.prompts] == [None, 512]
    assert script.prompts[0].messages == script.prompts[1].messages
    assert "Continue" not in kinds(script)


def test_a_stated_limit_is_learned_and_made_room_for():
    script = Script([PromptTooLong(limit=9_000, used=12_000), "hi"])
    end = drive(turn(long_session(20), SAID, setup(window=64_000)), script.hands())
    assert [wish.window for wish in script.asked if isinstance(wish, Learn)] == [9_000]
    assert end.window.size == 9_000
    assert any("too long" in wish.text and "9,000" in wish.text for wish in script.asked if isinstance(wish, Tell))
    assert kinds(script).count("Continue") == 1


def test_a_guess_is_never_learned():
    script = Script([PromptTooLong(), "hi"])
    drive(turn(long_session(55), SAID, setup(window=20_000)), script.hands())
    assert not [wish for wish in script.asked if isinstance(wish, Learn)]
    assert "Continue" in kinds(script)


def test_a_rate_limit_waits_as_told():
    script = Script([RateLimited(retry_after=7.0), "hi"])
    drive(turn(Session("s"), SAID, setup()), script.hands())
    assert Sleep(7.0) in script.asked


def test_after_three_compactions_it_ends_with_advice_and_the_session_still_works():
    before = long_session()
    script = Script([PromptTooLong(limit=None)] * 9)
    with pytest.raises(ContextExhausted, match=r"/new.*/compress"):
        drive(turn(before, SAID, setup()), script.hands())
    assert kinds(script).count("Continue") <= 3
    assert drive(turn(before, SAID, setup()), Script(["fine"]).hands()).session.messages[-1].text == "fine"


def test_a_refusal_never_compacts():
    script = Script([Refused(why="bad schema")])
    with pytest.raises(ContextExhausted, match="bad schema"):
        drive(turn(long_session(10), SAID, setup()), script.hands())
    assert "Continue" not in kinds(script)


def test_too_long_at_a_tenth_of_the_window_is_not_believed():
    script = Script([PromptTooLong()])
    with pytest.raises(ContextExhausted, match="which no compaction explains"):
        drive(turn(Session("s"), SAID, setup()), script.hands())


def test_big_output_leaves_for_a_blob_before_it_enters_the_window():
    script = Script([calls("terminal"), "done"], tools=lambda name, arguments: "x" * 500_000)
    end = drive(turn(Session("s"), SAID, setup(limits=ResultLimits())), script.hands())
    assert [wish.call_id for wish in script.asked if isinstance(wish, Spill)] == ["c1"]
    assert "<persisted-output>" in end.session.messages[2].text


class Stuck:
    """An engine that finds nothing to free."""

    def is_due(self, session, weight, budget):
        yield from ()
        return weight >= budget.trigger

    def make_room(self, messages, budget, *, focus=None, pinned=()):
        yield from ()
        return Compaction(messages, tokens_before=9_000, tokens_after=9_000)


def test_nothing_left_to_free_is_said_once_and_not_tried_again_before_the_session_has_grown():
    script = Script(["a", "b", "c"])
    session = drive(turn(long_session(), SAID, setup(engine=Stuck())), script.hands()).session
    assert kinds(script).count("Tell") == 1
    session = drive(turn(session, SAID, setup(engine=Stuck())), script.hands()).session
    assert kinds(script).count("Tell") == 1
    drive(turn(session, (message("user", "word " * 2_500),), setup(engine=Stuck())), script.hands())
    assert kinds(script).count("Tell") == 2
    assert "Continue" not in kinds(script)


def test_a_person_can_ask_for_room_with_a_focus():
    now = Turn(long_session(), setup(), Window(16_000))
    script = Script([])
    end = drive(make_room(now, focus="parse.py"), script.hands())
    assert kinds(script) == ["Continue", "Tell"]
    assert end.session.counted < now.session.counted


def test_the_server_that_cut_the_prompt_is_named():
    script = Script([Reply(message("assistant", "x"), Usage(input=900))])
    drive(turn(long_session(20), SAID, setup(window=64_000)), script.hands())
    assert any("cut the rest" in wish.text for wish in script.asked if isinstance(wish, Tell))


def test_every_message_is_written_down_in_order():
    script = Script([calls("terminal"), "done"])
    end = drive(turn(Session("s"), SAID, setup()), script.hands())
    written = [said for wish in script.asked if isinstance(wish, Append) for said in wish.messages]
    assert tuple(written) == end.session.messages
    assert sum(isinstance(wish, RunTools) for wish in script.asked) == 1


def test_pictures_leave_a_body_that_is_too_large_and_stay_in_the_log():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    shown = tuple(read_message({"role": "user", "content": [picture]}) for _ in range(2))
    script = Script([PayloadTooLarge(), PayloadTooLarge(), "hi", "again"])
    end = drive(turn(Session("s"), shown, setup()), script.hands())
    assert [pictures_in(prompt.messages) for prompt in script.prompts] == [2, 1, 0]
    assert pictures_in(end.session.messages) == 2
    assert "Continue" not in kinds(script)
    drive(turn(end.session, SAID, setup(), before=end), script.hands())
    assert pictures_in(script.prompts[-1].messages) == 0, "what a turn found out holds for the next"


def test_the_model_with_the_larger_window_is_asked_when_three_compactions_did_not_help():
    larger = Model("larger", Window(1_000_000))
    script = Script([PromptTooLong(limit=None)] * 3 + ["fine"])
    end = drive(turn(long_session(), SAID, setup(larger=larger)), script.hands())
    assert [prompt.model for prompt in script.prompts][-2:] == ["m", "larger"]
    assert kinds(script).count("Continue") <= 3
    assert end.session.messages[-1].text == "fine"


def test_what_the_provider_counted_is_believed_at_once():
    script = Script([PromptTooLong(limit=20_000, used=30_000), "hi"])
    end = drive(turn(long_session(50), SAID, setup(window=32_000)), script.hands())
    assert end.factor > 2


def test_switched_off_nothing_is_compacted_until_a_person_asks():
    off = setup(policy=replace(POLICY, enabled=False))
    script = Script([PromptTooLong(limit=8_000)])
    with pytest.raises(ContextExhausted, match="switched off"):
        drive(turn(long_session(), SAID, off), script.hands())
    assert "Continue" not in kinds(script)
    asked = Script([])
    drive(make_room(Turn(long_session(), off, off.model.window)), asked.hands())
    assert "Continue" in kinds(asked)


def test_what_the_provider_did_on_the_way_does_not_fill_the_window():
    several = Reply(message("assistant", "x"), Usage(input=9_000, last_pass=1_500))
    end = drive(turn(Session("s"), SAID, setup()), Script([several]).hands())
    assert end.session.measured is not None
    assert end.session.measured.prompt == 1_500

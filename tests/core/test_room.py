"""How room is made: at once or ahead of time, what is said meanwhile, what is pinned, what a person hears."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clew.core.effects import CallModel, Continue, Prepare, Tell
from clew.core.ports import Setup
from clew.core.room import compacted, go_on, ordinal
from clew.core.state import Turn
from clew.core.turn import turn
from clew.engines.compressor import Compressor
from clew.facts.exchange import Reply
from clew.facts.messages import message
from clew.facts.model import Model, Policy, Window
from clew.facts.session import Compaction, Prepared, Session
from clew.runtime.drive import drive
from clew.runtime.scales import Scale
from clew.testing import Script

SCALE, POLICY = Scale(), Policy(protect_last_n=2)
SETUP = Setup(Model("m", Window(16_000)), Compressor(POLICY, SCALE), SCALE.message, policy=POLICY, ahead=True)
SAID = (message("user", "hello"),)


def session_of(tokens: int) -> Session:
    """A session that weighs at least so much, as clew counts."""
    session = Session("s")
    while session.counted < tokens:
        number = len(session.entries)
        said = message("assistant" if number % 2 else "user", f"{number}: " + "src/app/parse.py stays small. " * 20)
        session = session.add(said, SCALE.message(said))
    return session


class Kitchen:
    """Where compactions are prepared: the answers to give, in turn; what was asked for."""

    def __init__(self, *answers: Prepared | None) -> None:
        self.answers = list(answers)
        self.asked: list[Prepare] = []

    def __call__(self, wish: Prepare) -> Prepared | None:
        self.asked.append(wish)
        return self.answers.pop(0)


def prepared(session: Session, setup: Setup = SETUP) -> Prepared:
    now = Turn(session, setup, setup.model.window)
    return Prepared(session, drive(compacted(session, setup, now.budget), {}))


def told(session: Session, kitchen: Kitchen) -> tuple[Turn, Script]:
    script = Script(["hi"])
    return drive(turn(session, SAID, SETUP), {**script.hands(), Prepare: kitchen}), script


def kinds(script: Script) -> list[str]:
    return [type(wish).__name__ for wish in script.asked]


BUDGET = Turn(Session("s"), SETUP, SETUP.model.window).budget


def test_the_three_marks_are_in_their_order():
    assert BUDGET.soft < BUDGET.trigger < BUDGET.hard < BUDGET.window


def test_below_the_soft_mark_nothing_is_prepared():
    kitchen = Kitchen()
    told(session_of(BUDGET.soft - 800), kitchen)
    assert kitchen.asked == []


def test_from_the_soft_mark_on_a_compaction_is_prepared_and_not_taken():
    kitchen = Kitchen(None)
    end, script = told(session_of(BUDGET.soft + 100), kitchen)
    assert [(wish.due, wish.wait) for wish in kitchen.asked] == [(False, False)]
    assert kinds(script) == ["Append", "CallModel", "Append"]
    assert end.session.id == "s"


def test_one_that_is_due_and_not_there_yet_is_not_waited_for():
    kitchen = Kitchen(None)
    end, script = told(session_of(BUDGET.trigger + 100), kitchen)
    assert [(wish.due, wish.wait) for wish in kitchen.asked] == [(True, False)]
    assert end.session.id == "s"
    assert "Continue" not in kinds(script)


def test_one_that_is_there_is_swapped_in_and_what_was_said_meanwhile_comes_behind_it_in_order():
    before = session_of(BUDGET.soft + 100)
    ready = prepared(before)
    meanwhile = [message("user", "first aside"), message("assistant", "noted"), message("user", "x " * 900)]
    now = before
    for said in meanwhile:
        now = now.add(said, SCALE.message(said))
    end, script = told(now, Kitchen(ready))
    assert [wish.session for wish in script.asked if isinstance(wish, Continue)] == [before]
    assert end.session.messages == (*ready.compaction.messages, *meanwhile, *SAID, message("assistant", "hi"))
    assert end.session.parent == "s"


def test_past_the_hard_mark_the_turn_waits_for_it():
    before = session_of(BUDGET.hard + 100)
    kitchen = Kitchen(prepared(before))
    end, _ = told(before, kitchen)
    assert [wish.wait for wish in kitchen.asked] == [True]
    assert end.session.compactions == 1


def test_when_so_much_came_behind_it_that_the_window_is_still_full_room_is_made_at_once():
    before = session_of(BUDGET.soft + 100)
    ready = prepared(before)
    now = before
    for said in session_of(BUDGET.hard).messages:
        now = now.add(said, SCALE.message(said))
    end, script = told(now, Kitchen(ready))
    assert kinds(script).count("Continue") == 2
    assert end.session.counted < BUDGET.trigger


def test_where_nothing_works_beside_the_conversation_room_is_made_at_the_trigger():
    script = Script(["hi"])
    end = drive(turn(session_of(BUDGET.trigger + 100), SAID, replace(SETUP, ahead=False)), script.hands())
    assert kinds(script) == ["Append", "Continue", "Tell", "CallModel", "Append"]
    assert end.session.compactions == 1


def test_a_person_hears_of_it_in_one_line_and_from_the_second_time_on_what_to_do():
    now = Turn(session_of(BUDGET.trigger), SETUP, SETUP.model.window)
    ready = prepared(now.session)
    first, second = Script([]), Script([])
    drive(go_on(now, now.session, ready.compaction), first.hands())
    again = replace(now, session=replace(now.session, compactions=1))
    drive(go_on(again, again.session, ready.compaction), second.hands())
    (one,) = [wish.text for wish in first.asked if isinstance(wish, Tell)]
    (two,) = [wish.text for wish in second.asked if isinstance(wish, Tell)]
    assert one.startswith("compacted: ")
    assert "→" in one
    assert "/new" not in one
    assert "2nd time" in two
    assert "/new" in two


@pytest.mark.parametrize(
    ("number", "said"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (12, "12th"), (22, "22nd")]
)
def test_ordinals(number, said):
    assert ordinal(number) == said


PIN = "The port is 5433, and never touch prod.py."


def test_a_pinned_text_that_leaves_stands_word_for_word_behind_the_summary_and_once_however_often():
    session = replace(Session("s", pins=(PIN,)))
    for said in (message("user", PIN), *session_of(BUDGET.trigger).messages):
        session = session.add(said, SCALE.message(said))
    setup = replace(SETUP, engine=Compressor(replace(POLICY, protect_first_n=0), SCALE), ahead=False)
    for _ in range(4):
        end = drive(turn(session, SAID, setup), Script(["x"]).hands())
        texts = [said.text for said in end.session.messages]
        assert sum(text.count("[PINNED BY THE USER") for text in texts) == 1
        assert any(PIN in text.partition("[PINNED BY THE USER")[2] for text in texts)
        assert end.session.pins == (PIN,)
        session = end.session
        for said in session_of(BUDGET.trigger).messages:
            session = session.add(said, SCALE.message(said))


def test_a_pinned_text_that_stays_anyway_is_not_said_twice():
    session = session_of(BUDGET.trigger + 100)
    newest = message("user", PIN)
    session = replace(session.add(newest, SCALE.message(newest)), pins=(PIN,))
    done = prepared(session).compaction
    assert done.messages[-1].text == PIN
    assert not any("[PINNED BY THE USER" in said.text for said in done.messages)


def test_the_room_that_pins_take_is_not_given_to_anything_else():
    pins = tuple(f"{n} " + "word " * 150 for n in range(4))
    session = replace(session_of(BUDGET.trigger + 2_000), pins=pins)
    done = prepared(session).compaction
    assert SCALE.messages(done.messages) <= BUDGET.room * 4 // 5
    assert all(any(pin in said.text for said in done.messages) for pin in pins)


def test_the_reply_is_asked_for_with_the_system_prompt_that_the_child_opened_with():
    script = Script([Reply(message("assistant", "x"))])
    from clew.facts.session import Opened

    hands = {**script.hands(), Continue: lambda wish: Opened("new", "fresh memory")}
    end = drive(turn(session_of(BUDGET.trigger), SAID, replace(SETUP, ahead=False)), hands)
    (asked,) = [wish for wish in script.asked if isinstance(wish, CallModel)]
    assert asked.prompt.system == "fresh memory"
    assert end.setup.system_tokens == SCALE.message(message("system", "fresh memory"))


def test_a_pass_that_nobody_needed_and_that_freed_nothing_is_not_held_against_the_next():
    now = Turn(session_of(BUDGET.soft), SETUP, SETUP.model.window)
    idle = Compaction(now.session.messages, tokens_before=9, tokens_after=9, declined=True)
    script = Script([])
    after = drive(go_on(now, now.session, idle), script.hands())
    assert kinds(script) == []
    assert after.session == now.session

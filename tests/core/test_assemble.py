"""The prompt of a call: what the session holds, plus what is recalled for this turn and nowhere else."""

from __future__ import annotations

from dataclasses import replace

from clew.core.assemble import assemble
from clew.core.ports import Setup
from clew.facts.messages import message
from clew.facts.model import Model, Window
from clew.facts.session import Session

SETUP = Setup(Model("m", Window(64_000)), engine=None, count=lambda said: 1, tools=({"name": "t"},))
SESSION = Session("s", system="Be brief.").add(message("user", "one"), 1).add(message("assistant", "two"), 1)


def test_it_is_what_the_session_holds():
    prompt = assemble(SESSION, SETUP)
    assert (prompt.system, prompt.messages, prompt.tools) == ("Be brief.", SESSION.messages, ({"name": "t"},))


def test_each_prompt_extends_the_one_before():
    longer = SESSION.add(message("user", "three"), 1)
    assert assemble(longer, SETUP).messages[:2] == assemble(SESSION, SETUP).messages


def test_what_is_recalled_stands_behind_the_newest_message_and_leaves_the_session_alone():
    prompt = assemble(SESSION, SETUP, recalled="the port was 8080")
    assert prompt.messages[0] == SESSION.messages[0]
    assert "the port was 8080" in prompt.messages[-1].text
    assert "8080" not in str(SESSION.messages)


def test_the_output_cap_is_the_one_reserved_unless_it_was_lowered_for_this_call():
    reserved = replace(SETUP, model=Model("m", Window(64_000, reserved_output=4_000)))
    assert assemble(SESSION, SETUP).max_output is None
    assert assemble(SESSION, reserved).max_output == 4_000
    assert assemble(SESSION, reserved, max_output=500).max_output == 500

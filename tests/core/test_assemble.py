"""The prompt of a call: what the session holds, plus what is recalled for this turn and nowhere else."""

from __future__ import annotations

from dataclasses import replace

from clew.core.assemble import assemble, with_recalled
from clew.core.cache import place_cache_points
from clew.core.cache_marks import in_parts
from clew.core.ports import Setup
from clew.facts.messages import message, read_message
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
    asked = SESSION.add(message("user", "which port?"), 1)
    prompt = assemble(asked, SETUP)
    marked = place_cache_points(in_parts(prompt), "anthropic", minimum=0)
    sent = with_recalled(marked, "the port was 8080")
    assert sent.messages[:-1] == marked.messages[:-1]
    *before, recalled = sent.messages[-1].raw["content"]
    assert before == marked.messages[-1].raw["content"]
    assert "cache_control" in before[-1]
    assert recalled == {"type": "text", "text": "<recalled>\nthe port was 8080\n</recalled>"}
    assert assemble(asked, SETUP) == prompt


def test_what_is_recalled_behind_a_result_is_a_message_of_its_own():
    call = read_message({"role": "tool", "tool_call_id": "c", "content": "42"})
    prompt = assemble(SESSION.add(call, 1), SETUP)
    sent = with_recalled(prompt, "it was 41")
    assert sent.messages[:-1] == prompt.messages
    assert sent.messages[-1].role == "user"


def test_the_output_cap_is_the_one_reserved_unless_it_was_lowered_for_this_call():
    reserved = replace(SETUP, model=Model("m", Window(64_000, reserved_output=4_000)))
    assert assemble(SESSION, SETUP).max_output is None
    assert assemble(SESSION, reserved).max_output == 4_000
    assert assemble(SESSION, reserved, max_output=500).max_output == 500

"""Pictures leave a request that is too large in bytes, the oldest first; the conversation keeps them."""

from __future__ import annotations

import copy

from clew.core.pictures import next_keep, pictures_in, without_pictures
from clew.facts.messages import message, read_message


def shown(text: str):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    return read_message({"role": "user", "content": [{"type": "text", "text": text}, picture], "name": "ann"})


TALK = (shown("one"), message("assistant", "I see."), shown("two"), shown("three"))


def test_the_newest_keep_theirs_and_nothing_else_changes():
    before = copy.deepcopy([said.to_dict() for said in TALK])
    lighter = without_pictures(TALK, keep=1)
    assert [pictures_in([said]) for said in lighter] == [0, 0, 0, 1]
    assert lighter[0].text.startswith("one\n")
    assert "left out" in lighter[0].text
    assert lighter[0].raw["name"] == "ann"
    assert lighter[1] is TALK[1]
    assert [said.to_dict() for said in TALK] == before


def test_first_all_but_the_newest_leave_then_all():
    assert next_keep(TALK, None) == 1
    assert next_keep(TALK, 1) == 0
    assert next_keep((shown("only"),), None) == 0
    assert pictures_in(without_pictures(TALK, keep=0)) == 0

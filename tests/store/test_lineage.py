"""The arithmetic of hashes: what counts as the same message, and how one list follows from another."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clew.store.lineage import (
    Drop,
    Insert,
    Keep,
    Revise,
    line_up,
    link,
    links,
    pointers,
)
from clew.store.spelling import fingerprint, read_back, spelled

# surrogates and NUL included: agents cut text in the middle of an emoji
text = st.text(st.characters(), max_size=20)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text
json_values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4), max_leaves=12
)
messages = st.dictionaries(text.filter(lambda key: key != "cache_control"), json_values, max_size=4).flatmap(
    lambda rest: st.builds(lambda role, content: {**rest, "role": role, "content": content}, text, json_values)
)
prints = st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), max_size=12)


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same with the keys of every object in another order."""
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(inner, chance) for inner in value] if isinstance(value, list) else value


def marked(value: Any, chance: random.Random) -> Any:
    """The same with cache marks on some of its objects."""
    if isinstance(value, dict):
        made = {key: marked(inner, chance) for key, inner in value.items()}
        return {**made, "cache_control": {"type": "ephemeral"}} if chance.random() < 0.5 else made
    return [marked(inner, chance) for inner in value] if isinstance(value, list) else value


@given(messages)
def test_a_message_is_read_back_as_it_was_spelled(message: dict[str, Any]) -> None:
    back = read_back(spelled(message))
    assert back == message
    assert list(back) == list(message)
    assert spelled(back) == spelled(message)


@given(messages, st.randoms(use_true_random=False))
def test_the_order_of_keys_and_cache_marks_make_no_other_message(
    message: dict[str, Any], chance: random.Random
) -> None:
    bare = without_marks(message)
    assert fingerprint(shuffled(message, chance)) == fingerprint(message)
    assert fingerprint(marked(bare, chance)) == fingerprint(bare)


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_marks(inner) for key, inner in value.items() if key != "cache_control"}
    return [without_marks(inner) for inner in value] if isinstance(value, list) else value


@given(messages, messages)
def test_two_messages_that_differ_have_two_fingerprints(one: dict[str, Any], other: dict[str, Any]) -> None:
    one, other = without_marks(one), without_marks(other)
    assume(repr(ordered(one)) != repr(ordered(other)))  # in Python 1 == 1.0 == True
    assert fingerprint(one) != fingerprint(other)


@given(messages, st.data())
def test_any_change_inside_a_message_makes_another_fingerprint(message: dict[str, Any], data: st.DataObject) -> None:
    message = without_marks(message)
    changed = copy.deepcopy(message)
    key = data.draw(st.sampled_from(sorted(changed)))
    changed[key] = [changed[key]]
    assert fingerprint(changed) != fingerprint(message)
    assert fingerprint({**message, "one more": None}) != fingerprint(message)


def ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((key, ordered(inner)) for key, inner in value.items())
    return [ordered(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"role": "user", "content": "x"}, {"role": "user", "content": ["x"]}),
        ({"role": "user", "content": "x"}, {"role": "user", "content": "x", "name": None}),
        ({"role": "user", "content": "x"}, {"role": "user", "text": "x"}),
        ({"role": "a\0b", "content": "c"}, {"role": "a", "content": "b\0c"}),
        ({"role": "user", "content": "1"}, {"role": "user", "content": 1}),
        ({"role": "user", "content": True}, {"role": "user", "content": 1}),
        ({"role": "user", "content": '{"content":"x","role":"user"}'}, {"role": "user", "content": "x"}),
        ({"role": "user", "content": "\ud83e"}, {"role": "user", "content": "\ud83d"}),
        ({"role": "user", "content": "é"}, {"role": "user", "content": "e\u0301"}),
    ],
)
def test_what_looks_alike_is_not_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert fingerprint(one) != fingerprint(other)


def test_the_word_cache_control_in_a_text_is_text() -> None:
    one = {"role": "user", "content": "set cache_control", "n": 1}
    assert fingerprint(one) != fingerprint({**one, "content": "set"})
    assert fingerprint(one) == fingerprint({**one, "cache_control": {}})


@given(prints, prints)
def test_a_link_stands_for_all_before_it(one: list[bytes], other: list[bytes]) -> None:
    assert (links(b"", one)[-1:] == links(b"", other)[-1:]) == (one == other)
    assert links(b"", one + other) == links(b"", one) + links((links(b"", one) or [b""])[-1], other)
    assert len(links(b"", one)) == len(one)
    if one:
        assert links(b"", one)[0] == link(b"", one[0])


roles = st.lists(st.sampled_from(["user", "assistant"]), min_size=12, max_size=12)


@given(prints, prints, roles, roles)
def test_the_steps_rebuild_the_list_from_what_is_known(
    known: list[bytes], handed: list[bytes], known_roles: list[str], handed_roles: list[str]
) -> None:
    steps = line_up(known, handed, (known_roles, handed_roles))
    rebuilt, used = [], []
    for step in steps:
        match step:
            case Keep(old, new):
                assert known[old] == handed[new]
                used.append(old)
                rebuilt.append(known[old])
            case Revise(old, new):
                assert known[old] != handed[new], "what did not change is not revised"
                assert known_roles[old] == handed_roles[new], "an edit changes what was said, not who said it"
                used.append(old)
                rebuilt.append(handed[new])
            case Drop(old):
                used.append(old)
            case Insert(new):
                rebuilt.append(handed[new])
    assert rebuilt == handed
    assert used == list(range(len(known))), "every known message is accounted for, in order"


@given(prints, prints)
def test_more_behind_what_is_known_is_only_inserted(known: list[bytes], more: list[bytes]) -> None:
    roles = ["user"] * 24
    steps = line_up(known, known + more, (roles, roles))
    assert steps[: len(known)] == [Keep(n, n) for n in range(len(known))]
    assert steps[len(known) :] == [Insert(len(known) + n) for n in range(len(more))]


@given(prints, prints)
def test_pointers_lead_to_the_same_messages_in_order(known: list[bytes], wanted: list[bytes]) -> None:
    found = pointers(known, wanted)
    assert len(found) == len(wanted)
    places = [place for place in found if place is not None]
    assert places == sorted(set(places)), "each known message at most once, in order"
    assert all(known[place] == wanted[n] for n, place in enumerate(found) if place is not None)
    for n, place in enumerate(found):
        if place is None:  # there really is none left between its neighbours
            before = max((p for p in found[:n] if p is not None), default=-1)
            after = min((p for p in found[n:] if p is not None), default=len(known))
            assert wanted[n] not in known[before + 1 : after]


@given(prints, st.data())
def test_what_was_kept_is_pointed_to_not_copied(known: list[bytes], data: st.DataObject) -> None:
    head = data.draw(st.integers(0, len(known)))
    tail = data.draw(st.integers(0, len(known) - head))
    found = pointers(known, [*known[:head], b"summary", *known[len(known) - tail :]])
    assert found == [*range(head), None, *range(len(known) - tail, len(known))]


def test_a_shortened_message_that_looks_like_a_later_one_does_not_take_its_place() -> None:
    known = [b"output", b"said", b"[cleared]", b"last"]
    assert pointers(known, [b"[cleared]", b"said", b"[cleared]", b"last"]) == [None, 1, 2, 3]


def test_a_hole_with_more_behind_it_is_a_hole_and_no_run_of_edits() -> None:
    known = [bytes([n]) for n in range(20)]
    handed = [*known[:10], *known[12:], b"new", b"newer"]
    roles = ["user", "assistant"] * 10
    steps = [step for step in line_up(known, handed, (roles, roles)) if not isinstance(step, Keep)]
    assert steps == [Drop(10), Drop(11), Insert(18), Insert(19)]


def test_cleared_output_is_edited_in_place_though_all_of_it_looks_alike() -> None:
    known = [b"asked", b"one", b"said", b"[cleared]", b"said again", b"two"]
    handed = [b"asked", b"[cleared]", b"said", b"[cleared]", b"said again", b"[cleared]", b"new"]
    roles = ["user", "tool", "assistant", "tool", "assistant", "tool", "user"]
    assert line_up(known, handed, (roles, roles)) == [
        Keep(0, 0), Revise(1, 1), Keep(2, 2), Keep(3, 3), Keep(4, 4), Revise(5, 5), Insert(6),
    ]  # fmt: skip

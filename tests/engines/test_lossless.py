"""The parts of the lossless engine that need no store: shapes, stubs, what stays, when fewer words pay."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.effects import Summarise
from clew.core.pairs import exchanges
from clew.engines.digest import read_digest
from clew.engines.lossless.blocks import GUIDANCE, WITHOUT_MODEL, block, bridged, left_out_of, node_of
from clew.engines.lossless.condensing import FAN, FEWEST, Habits, due, pays
from clew.engines.lossless.cut import cut
from clew.engines.lossless.effects import Publish
from clew.engines.lossless.lossless import Lossless
from clew.engines.lossless.merging import merged
from clew.engines.lossless.seen import Seen, Shown
from clew.engines.lossless.shapes import MOST, shape_of
from clew.engines.lossless.shares import share
from clew.engines.lossless.stubs import BIG, stub_all
from clew.engines.lossless.telling import in_pieces
from clew.engines.lossless.texts import NOTHING, Writer, trimmed
from clew.facts.budget import share_out
from clew.facts.messages import message, read_message, read_messages
from clew.facts.model import Policy, Window
from clew.facts.node import Node, Row
from clew.runtime.drive import drive
from clew.runtime.scales import Scale
from tests.histories import SECRET, legal_histories

SCALE = Scale()
SHARES = share(share_out(Window(200_000), Policy()))


def node(number: int, tokens: int = 1_000, depth: int = 0, **more: Any) -> Node:
    made = Node(
        f"n{number:08x}", depth, number * 10, number * 10 + 9, 10, "a text", tokens, "a model", False, False, 0.0
    )
    return replace(made, **more)


def shown(history: list[dict[str, Any]]) -> tuple[Shown, ...]:
    return tuple(Shown(said, n, f"m{n}-00ff") for n, said in enumerate(read_messages(history)))


# Shapes


CALM = "start\n" + "all well\n" * 400
CODE = "import os\n\n" + "def one(a):\n    pass\n\nclass Two:\n    pass\n" * 40
NUMBERED = "     1→func Run(ctx) error {\n     2→}\n     3→func Stop() {\n" * 9


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (json.dumps({"rows": [{"id": 1}] * 900, "total": 900}), "JSON: {rows: 900 × object of 1, total: 900}"),
        (json.dumps([{"id": 1, "tags": []}] * 40), "JSON: 40 × {id: 1, tags: list of 0}"),
        ('{"a": 1}\n' * 300, "JSON lines: 300, the first {a: 1}"),
        ("name,size\n" + "x.py,3\n" * 200, "table of 201 lines, 2 columns: name, size; first row: x.py,3"),
        (CODE, "80 definitions: def one(a):; class Two:"),
        (NUMBERED, "definitions: func Run(ctx) error; func Stop()"),
        (CALM + "ValueError: bad rune\nthe end", "1 lines with errors, such as: ValueError: bad rune"),
        (CALM + "the end", "402 lines; begins: start; ends: the end"),
        ("{not json at all " * 90, "begins: {not json"),
        ("", "0 characters"),
    ],
)
def test_a_text_is_told_by_its_shape(text: str, told: str) -> None:
    assert told in shape_of(text)


@given(st.text(max_size=4_000))
def test_a_shape_is_short_whatever_the_text(text: str) -> None:
    assert len(shape_of(text)) <= MOST


def test_a_shape_holds_no_credential() -> None:
    for text in (json.dumps({"key": SECRET}), f"OPENAI_API_KEY={SECRET}\n" * 5, f"a,b\n{SECRET},2\n" * 9):
        assert SECRET not in shape_of(text)


# Stubs


@settings(max_examples=40)
@given(legal_histories())
def test_stubs_keep_every_message_in_its_place_and_name_what_they_stand_for(history: list[dict[str, Any]]) -> None:
    before = shown(history)
    after = stub_all(before, SCALE)
    assert [one.place for one in after] == [one.place for one in before]
    for old, new in zip(before, after, strict=True):
        if new.message is old.message:
            assert not old.message.is_result or len(old.message.text) <= BIG
            continue
        assert left_out_of(new.message) == old.place
        assert (new.message.role, new.message.call_id) == (old.message.role, old.message.call_id)
        assert [call.id for call in new.message.calls] == [call.id for call in old.message.calls]
        assert all(isinstance(json.loads(call.arguments), dict) for call in new.message.calls)
        assert SCALE.message(new.message) < SCALE.message(old.message)


def test_what_a_stub_would_not_shorten_stays() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "show", "arguments": "{}"}}
    history = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": " " * (BIG + 100)},
    ]
    assert stub_all(shown(history), SCALE) == list(shown(history))


# The cut


@settings(max_examples=40)
@given(legal_histories(least=3), st.sampled_from([8_000, 16_000]))
def test_the_cut_tears_no_exchange_apart_and_keeps_the_newest_request(
    history: list[dict[str, Any]], window: int
) -> None:
    where = cut(Seen(shown(history)), share(share_out(Window(window), Policy())), SCALE)
    both = [one.place for one in (*where.old, *where.tail)]
    assert both == [n for n, said in enumerate(history) if n >= len(where.system)]
    old, tail = ({one.place for one in part} for part in (where.old, where.tail))
    for exchange in exchanges(read_messages(history)):
        places = {place for place in exchange.places if place >= len(where.system)}
        assert places <= old or places <= tail
    assert where.tail


def test_a_result_that_stands_apart_from_its_call_is_not_cut_off() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "show", "arguments": "{}"}}
    history = [
        *({"role": role, "content": "word " * 200} for _ in range(6) for role in ("user", "assistant")),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant", "content": "word " * 600},
        {"role": "tool", "tool_call_id": "c", "content": "word " * 200},
        {"role": "assistant", "content": "word " * 100},
    ]
    where = cut(Seen(shown(history)), share(share_out(Window(8_000), Policy())), SCALE)
    assert where.tail[0].place == 12


def test_a_request_that_nodes_cover_is_brought_forward() -> None:
    history = [{"role": "user", "content": "Do it all."}]
    history += [{"role": "assistant", "content": f"part {n} " + "word " * 300} for n in range(60)]
    where = cut(Seen(shown(history), (node(0), node(1))), share(share_out(Window(16_000), Policy())), SCALE)
    assert where.asked is not None
    assert where.asked.message.text == "Do it all."
    assert where.old[0].place == 20
    assert where.upto == (where.tail[0].place or 0) - 1


# Blocks


def test_only_the_first_block_says_how_to_read_them_and_each_says_who_wrote_it() -> None:
    first, second = block(node(0)), block(node(7, made_by="rules"))
    assert first.splitlines()[:2] == ["[CONTEXT COMPACTION n00000000 | messages 0-9 (10)]", GUIDANCE]
    assert second.splitlines()[:2] == ["[CONTEXT COMPACTION n00000007 | messages 70-79 (10)]", WITHOUT_MODEL]
    assert node_of(message("user", second)) == "n00000007"
    assert node_of(message("user", "[CONTEXT COMPACTION — REFERENCE ONLY] …")) is None


def test_two_users_never_meet() -> None:
    for following in ([message("user", "go on")], [message("assistant", "well")], []):
        roles = [said.role for said in bridged(["one", "two", "three"], following)]
        assert all(one != two for one, two in zip(roles, roles[1:], strict=False))  # noqa: RUF007


@pytest.mark.parametrize("held", [0, 1_000, 40_000, 90_000])
def test_with_the_longest_of_everything_the_room_is_not_full(held: int) -> None:
    budget = share_out(Window(200_000), Policy())
    shares = share(budget, held)
    assert shares.blocks + shares.last + min(held, shares.request) < budget.room


# Fewer words


def test_blocks_that_fit_well_are_left_alone() -> None:
    few = [node(n) for n in range(20)]
    assert sum(one.tokens for one in few) < SHARES.relief
    assert due(few, SHARES, Habits(calls=10_000), forced=False) == []


def test_blocks_that_outgrow_their_share_are_told_in_fewer_words_the_heaviest_depth_first() -> None:
    many = [*(node(n, depth=1) for n in range(10)), *(node(n) for n in range(10, 60))]
    group = due(many, SHARES, Habits(calls=1), forced=False)
    assert group == many[10 : 10 + len(group)]
    assert FEWEST <= len(group) <= FAN
    old = [*(node(n, depth=1) for n in range(30)), *(node(n) for n in range(30, 50))]
    assert due(old, SHARES, Habits(calls=1), forced=False)[0] is old[0]


def test_no_more_are_told_in_fewer_words_than_it_takes() -> None:
    just = [node(n) for n in range(36)]  # 36,000 of 33,000
    assert len(due(just, SHARES, Habits(), forced=True)) == FEWEST


def test_where_no_run_is_long_enough_the_oldest_go_together_and_one_alone_stays() -> None:
    mixed = [node(n, tokens=9_000, depth=depth) for n, depth in enumerate([3, 2, 1, 0, 1, 0])]
    assert due(mixed, SHARES, Habits(calls=1), forced=False) == mixed[:FAN]
    assert due([node(0, tokens=90_000)], SHARES, Habits(calls=1), forced=False) == []


def test_between_the_two_marks_the_price_decides() -> None:
    some = [node(n) for n in range(40)]
    assert SHARES.relief < sum(one.tokens for one in some) < SHARES.blocks
    assert due(some, SHARES, Habits(calls=5), forced=False) == []
    assert due(some, SHARES, Habits(calls=500), forced=False)
    assert due(some, SHARES, Habits(calls=5, is_cached=False), forced=False)


def test_fewer_words_pay_sooner_the_more_calls_follow_and_the_less_is_written_anew() -> None:
    some = [node(n) for n in range(40)]
    assert not pays(some, some[:8], Habits(calls=40))
    assert pays(some, some[:8], Habits(calls=400))
    assert pays(some, some[-8:], Habits(calls=40))  # nothing stands behind them
    assert not pays(some, some[:8], Habits(read=0.01, calls=400))


def test_blocks_that_outgrew_their_share_come_well_below_it() -> None:
    engine = Lossless(SHARES, SCALE, Habits(calls=1), 200_000)
    many = tuple(node(n, text="## Key Decisions\n- we go on") for n in range(50))

    def publish(wish: Publish) -> Node:
        draft = wish.draft
        return replace(many[0], id=f"n{hash(draft.sources) & 0xFFFFFFFF:08x}", tokens=250, depth=1, last=draft.last)

    left = drive(engine._in_fewer_words(many, Writer(SCALE, 200_000, None, None)), {Publish: publish})
    assert sum(one.tokens for one in left) <= SHARES.relief


# Texts


def test_digests_together_keep_every_demand_and_the_latest_of_what_changes() -> None:
    one = "## Constraints & Preferences\n- Never touch prod.py.\n\n## Active State\n- branch: main\n\n"
    one += "## Relevant Files\n- created: b.py @5\n- changed: a.py @3"
    two = "## Constraints & Preferences\n- Always test.\n- Never touch prod.py.\n\n## Active State\n- branch: fix\n\n"
    two += "## Relevant Files\n- deleted: a.py @40"
    known = merged([read_digest(one), read_digest(two)]).ledger
    assert known.constraints == ("Never touch prod.py.", "Always test.")
    assert known.state == {"branch": "fix"}
    assert list(known.files.items()) == [("b.py @5", "created"), ("a.py @40", "deleted")]  # as they last happened


def test_where_rules_find_little_to_note_the_course_of_the_talk_is_told() -> None:
    said = [{"role": "assistant", "content": f"We go through hall {n}. " + "It is dark. " * 30} for n in range(60)]
    rows = [Row(n + 100, b"hash", 0.0, one) for n, one in enumerate(read_messages(said))]
    made = drive(Writer(SCALE, 100_000, None, None).leaf(rows, 500), {})
    assert made.degraded
    assert "- @100 assistant: We go through hall 0. It is dark." in made.text
    assert 350 < SCALE.text(made.text) <= 520
    assert read_digest(made.text).strings == ()  # it is told once, and not carried on


def test_a_text_over_one_that_rules_wrote_is_to_be_written_again_too() -> None:
    engine = Lossless(SHARES, SCALE, Habits(), 200_000, "a model")
    writer = Writer(SCALE, 200_000, "a model", None)
    hands = {Summarise: lambda wish: "## Goal\nport it"}
    for degraded in (True, False):
        made = drive(engine._over([node(0), node(1, degraded=degraded)], writer), hands)
        assert (made.made_by, made.degraded) == ("a model", degraded)


def test_a_text_has_no_empty_headings_and_no_task() -> None:
    assert (
        trimmed("## Active Task\n> do it\n\n## Goal\nport it\n\n## Blocked\nNone.\n\n## Key Decisions\n")
        == "## Goal\nport it"
    )
    assert trimmed("## Blocked\nNone.") == NOTHING


plain = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1, max_size=3_000)


@given(st.lists(plain, min_size=1, max_size=20), st.integers(20, 2_000))
def test_pieces_leave_nothing_out(texts: list[str], most: int) -> None:
    pieces = in_pieces(texts, most, SCALE)
    assert "".join(pieces).replace("\n\n", "") == "".join(texts)


def test_one_text_that_is_too_long_is_split_and_short_ones_go_together() -> None:
    pieces = in_pieces(["word " * 4_000, *["some more of it"] * 50], 1_000, SCALE)
    assert len(pieces) == 5
    assert max(map(SCALE.text, pieces)) <= 1_100


def test_an_old_reading_of_a_message_is_not_a_stub() -> None:
    said = read_message({"role": "user", "content": "I saw m12-3fa9 in the prompt"})
    assert left_out_of(said) is None

"""A host hands its list back, whole or compacted, edited or not: the store becomes what the list says, and no more."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.store.address import open_store
from clew.store.align import Aligned
from clew.store.check import findings
from clew.store.lineage import Drop, Insert, Keep, Revise, line_up
from clew.store.store import Store
from clew.store.trouble import NotFound
from tests.databases import new_schema

Message = dict[str, Any]

# A model of the store's meaning, small enough to be believed: lists, and what each step makes of them.


@dataclass(frozen=True)
class Session:
    opening: tuple[int, ...] = ()
    """What the session began with, as numbers of messages."""
    since: int = 0
    """From which place of the line on its view goes on."""


@dataclass(frozen=True)
class World:
    """One conversation. Every message has a number; texts by number; the line as numbers."""

    texts: tuple[Message, ...] = ()
    line: tuple[int, ...] = ()
    derived: frozenset[int] = frozenset()
    sessions: tuple[Session, ...] = (Session(),)
    handed: tuple[Message, ...] = field(default=(), repr=False)
    """Everything anyone ever handed in."""

    @property
    def view(self) -> tuple[Message, ...]:
        return self.spelled(self.shown)

    @property
    def whole(self) -> tuple[Message, ...]:
        return self.spelled((*self.sessions[0].opening, *self.line))

    @property
    def shown(self) -> tuple[int, ...]:
        return (*self.sessions[-1].opening, *self.line[self.sessions[-1].since :])

    def spelled(self, numbers: tuple[int, ...]) -> tuple[Message, ...]:
        return tuple(self.texts[n] for n in numbers)

    def append(self, messages: list[Message]) -> World:
        new = tuple(range(len(self.texts), len(self.texts) + len(messages)))
        return replace(
            self,
            texts=(*self.texts, *messages),
            line=(*self.line, *new),
            handed=(*self.handed, *messages),
        )

    def compact(self, summary: Message, head: int, tail: int, upto: int) -> World:
        """Keep `head` and `tail` of the first `upto` messages shown, with a summary between."""
        shown, tip = self.shown, self.sessions[-1]
        known, opened = shown[:upto], len(tip.opening)
        number = len(self.texts)
        opening = (*known[:head], number, *known[len(known) - tail :], *tip.opening[upto:])
        since = tip.since + max(0, min(upto, len(shown)) - opened)
        return replace(
            self,
            texts=(*self.texts, summary),
            derived=self.derived | {number},
            sessions=(*self.sessions, Session(opening, since)),
            handed=(*self.handed, summary),
        )

    def uncompact(self) -> World:
        return replace(self, sessions=self.sessions[:-1])

    def undo(self) -> World | None:
        """The person's last turn, with all behind it; None when there is none."""
        shown, opened = self.shown, len(self.sessions[-1].opening)
        asked = [n for n, m in enumerate(shown) if self.texts[m]["role"] == "user" and m not in self.derived]
        if len(self.sessions) > 1 and (not asked or asked[-1] < opened):
            return self.uncompact().undo()
        if not asked:
            return None
        keep = asked[-1]
        tip = self.sessions[-1]
        line = self.line[: tip.since + max(0, keep - opened)]
        return replace(
            self, line=line, sessions=(*self.sessions[:-1], replace(tip, opening=tip.opening[: min(keep, opened)]))
        )

    def align(self, handed: list[Message]) -> World:
        """The list is the view or the whole: what it shares the longer beginning with, else has less that differs."""
        view, whole = list(self.view), list(self.whole)
        is_view = len(self.sessions) > 1 and (
            (in_common(view, handed), -strangers(view, handed)) >= (in_common(whole, handed), -strangers(whole, handed))
        )
        shared = in_common(view if is_view else whole, handed)
        if shared == len(handed):
            return self
        known = self.shown if is_view else (*self.sessions[0].opening, *self.line)
        opened = len(self.sessions[-1 if is_view else 0].opening)
        return self.rewritten(is_view, known, opened, shared, handed)

    def rewritten(
        self, is_view: bool, known: tuple[int, ...], opened: int, shared: int, handed: list[Message]
    ) -> World:
        world = replace(self, handed=(*self.handed, *handed))
        opening = list(known[: min(shared, opened)])
        rest, said = known[shared:], handed[shared:]
        steps = line_up(
            [spelled(self.texts[n]) for n in rest],
            [spelled(message) for message in said],
            ([self.texts[n]["role"] for n in rest], [message["role"] for message in said]),
        )
        after = shared
        for step in steps:
            is_opening = after < opened
            match step:
                case Keep(old, _):
                    opening += [rest[old]] if is_opening else []
                case Revise(old, new):
                    world, number = world.revised(rest[old], said[new])
                    opening += [number] if is_opening else []
                case Drop(old) if is_view and is_opening:
                    pass
                case Drop(old):
                    world = world.dropped(rest[old])
                case Insert(new) if not is_opening:
                    behind = [n for n in known[after:] if n in world.line]
                    world, _ = world.put_in(said[new], world.line.index(behind[0]) if behind else len(world.line))
                case Insert(new) if is_view:
                    own = [n for n in known[after:opened] if n in world.line]
                    tip = world.sessions[-1]
                    world, number = world.put_in(said[new], world.line.index(own[0]) if own else tip.since)
                    opening.append(number)
                    if not own:
                        tip = world.sessions[-1]
                        world = replace(world, sessions=(*world.sessions[:-1], replace(tip, since=tip.since + 1)))
                case Insert(new):
                    opening.append(len(world.texts))
                    world = replace(world, texts=(*world.texts, said[new]))
            after += not isinstance(step, Insert)
        sessions = list(world.sessions)
        changed = -1 if is_view else 0
        sessions[changed] = replace(sessions[changed], opening=tuple(opening))
        return replace(world, sessions=tuple(sessions))

    def revised(self, old: int, message: Message) -> tuple[World, int]:
        new = len(self.texts)
        world = replace(
            self, texts=(*self.texts, message), derived=self.derived | ({new} if old in self.derived else set())
        )
        return world.renumbered(lambda n: (new,) if n == old else (n,)), new

    def dropped(self, old: int) -> World:
        where = self.line.index(old) if old in self.line else len(self.line)
        world = self.renumbered(lambda n: () if n == old else (n,))
        return replace(world, sessions=tuple(replace(s, since=s.since - (s.since > where)) for s in world.sessions))

    def put_in(self, message: Message, where: int) -> tuple[World, int]:
        new = len(self.texts)
        return replace(
            self,
            texts=(*self.texts, message),
            line=(*self.line[:where], new, *self.line[where:]),
            sessions=tuple(replace(s, since=s.since + (s.since > where)) for s in self.sessions),
        ), new

    def renumbered(self, change: Callable[[int], tuple[int, ...]]) -> World:
        return replace(
            self,
            line=tuple(n for old in self.line for n in change(old)),
            sessions=tuple(
                replace(s, opening=tuple(n for old in s.opening for n in change(old))) for s in self.sessions
            ),
        )


def spelled(message: Message) -> bytes:
    return json.dumps(message, sort_keys=True).encode()


def in_common(known: list[Message], handed: list[Message]) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(known, handed, strict=False)) if a != b), min(len(known), len(handed))
    )


def strangers(known: list[Message], handed: list[Message]) -> int:
    ours, theirs = Counter(map(spelled, known)), Counter(map(spelled, handed))
    return (ours - theirs).total() + (theirs - ours).total()


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


words = st.sampled_from(["yes", "go on", "stop", "why?", "ok"])
"""Few words, so that identical messages are the rule."""
messages = st.builds(
    lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "assistant", "tool"]), words
)
talks = st.lists(messages, max_size=5)


@st.composite
def edits(draw: st.DrawFn, before: list[Message]) -> list[Message]:
    """A list as a host may hand it back: edited in place, with a hole, with something put in, with more behind it."""
    made = list(before)
    for _ in range(draw(st.integers(0, 3))):
        match draw(st.sampled_from(["edit", "drop", "insert"])):
            case "edit" if made:
                place = draw(st.integers(0, len(made) - 1))
                made[place] = {**made[place], "content": draw(st.sampled_from(["[cleared]", "edited", "ok"]))}
            case "drop" if made:
                start = draw(st.integers(0, len(made) - 1))
                del made[start : start + draw(st.integers(1, 3))]
            case _:
                place = draw(st.integers(0, len(made)))
                made[place:place] = draw(st.lists(messages, min_size=1, max_size=2))
    return made + draw(talks)


def view_of(store: Store, session: str) -> list[Message]:
    return [said.message for said in store.messages(session)]


def line_of(store: Store, session: str) -> list[Message]:
    return [said.message for said in store.history(session)]


def every_row_of(store: Store, session: str) -> list[Message]:
    return [said.message for said in store.history(session, aside=True)]


def changes(done: Aligned) -> tuple[int, int, int]:
    return done.added, done.revised, done.dropped


class Case:
    """A conversation in a real store, beside the model of it."""

    def __init__(self, store: Store, session: str, world: World | None = None) -> None:
        self.store, self.session, self.world = store, session, world or World()

    def agrees(self) -> None:
        assert view_of(self.store, self.session) == list(self.world.view)
        assert line_of(self.store, self.session) == list(self.world.spelled(self.world.line))
        assert self.store.get_compression_tip(self.session) == self.session

    def nothing_is_lost(self, family: list[Message]) -> None:
        assert all(message in family for message in self.world.handed), "a message that was handed in is gone"

    def append(self, said: list[Message]) -> None:
        self.store.append(self.session, said)
        self.world = self.world.append(said)

    def compact(self, head: int, tail: int, later: int) -> None:
        upto = max(0, len(self.world.shown) - later)
        head = min(head, upto)
        tail = min(tail, upto - head)
        summary = user(f"[summary {len(self.world.texts)}]")
        self.world = self.world.compact(summary, head, tail, upto)
        made = self.world.spelled(self.world.sessions[-1].opening)[: head + 1 + tail]
        self.session = self.store.continue_session(self.session, made, upto=upto)

    def undo(self) -> None:
        world = self.world.undo()
        if world is None:
            with pytest.raises(NotFound):
                self.store.undo(self.session)
        else:
            self.session, _ = self.store.undo(self.session)
            self.world = world

    def undo_compaction(self) -> None:
        if len(self.world.sessions) > 1:
            self.session = self.store.undo_compaction(self.session)
            self.world = self.world.uncompact()

    def hand_back(self, handed: list[Message]) -> None:
        """What the list says is what is there; the same list again brings nothing."""
        before = self.world
        rows = len(every_row_of(self.store, self.session))
        done = self.store.align(self.session, handed)
        self.world = before.align(handed)
        assert tuple(handed) in (
            self.world.view, self.world.whole, before.view[: len(handed)], before.whole[: len(handed)]
        )  # fmt: skip
        added = len(every_row_of(self.store, self.session)) - rows
        assert added == done.added + done.revised, "a row for each message that is new, and none else"
        self.agrees()
        assert changes(self.store.align(self.session, handed)) == (0, 0, 0)
        assert len(every_row_of(self.store, self.session)) == rows + added

    def branch(self, upto: int) -> Case:
        numbers = self.world.shown[:upto]
        texts = self.world.spelled(numbers)
        derived = frozenset(n for n, number in enumerate(numbers) if number in self.world.derived)
        world = World(texts, derived=derived, sessions=(Session(tuple(range(len(texts)))),))
        return Case(self.store, self.store.branch(self.session, upto=upto), world)


STEPS = ["append", "replay", "hand back", "hand back", "hand back", "compact", "compact", "undo", "uncompact", "branch"]


def live(store: Store, data: st.DataObject, steps: int) -> None:
    """A life of conversations, each step drawn; after each the store agrees with the model."""
    cases = [Case(store, store.open_session())]
    cases[0].append(data.draw(st.lists(messages, min_size=3, max_size=8)))
    for _ in range(steps):
        case = data.draw(st.sampled_from(cases), "in conversation")
        match data.draw(st.sampled_from(STEPS)):
            case "append":
                case.append(data.draw(talks))
            case "replay":
                known = data.draw(st.sampled_from([case.world.view, case.world.whole]))
                prefix = list(known[: data.draw(st.integers(0, len(known)))])
                assert changes(store.align(case.session, prefix)) == (0, 0, 0)
            case "hand back":
                known = data.draw(st.sampled_from([case.world.view, case.world.whole]))
                case.hand_back(data.draw(edits(list(known))))
            case "compact":
                case.compact(*data.draw(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 2))))
            case "undo":
                case.undo()
            case "uncompact":
                case.undo_compaction()
            case "branch" if len(cases) < 3:
                cases.append(case.branch(data.draw(st.integers(0, 6))))
        for each in cases:
            each.agrees()
    everything = [message for each in cases for message in every_row_of(store, each.session)]
    for each in cases:
        each.nothing_is_lost(everything)


@pytest.mark.parametrize(("kind", "examples"), [("sqlite", 100), ("postgres", 15)])
def test_whatever_a_host_does_the_store_is_what_the_model_says(
    kind: str, examples: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = str(tmp_path / "store.db") if kind == "sqlite" else new_schema(request.getfixturevalue("postgres"))
    with open_store(url) as store:

        @given(st.data())
        @settings(max_examples=examples)
        def lives(data: st.DataObject) -> None:
            live(store, data, steps=10)

        lives()
        assert findings(store) == [], "and every hash and pointer fits"


# What agents really do, by name.


def worked(steps: int) -> list[Message]:
    """A person's request and many tool calls with their output."""
    made = [user("Port the parser.")]
    for n in range(steps):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "shell", "arguments": f'{{"n": {n}}}'}}
        made += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"output of step {n}\n" * 40},
        ]
    return made


def cleared(talk: list[Message], upto: int) -> list[Message]:
    """The same with old tool output taken out, as many hosts do to save room."""
    return [{**m, "content": "[cleared]"} if m["role"] == "tool" and n < upto else m for n, m in enumerate(talk)]


def rows_of(store: Store, session: str) -> int:
    return len(every_row_of(store, session))


def test_a_host_that_clears_old_output_and_replays_adds_its_revisions_once(store: Store) -> None:
    talk = worked(200)
    session = store.open_session()
    store.append(session, talk)
    edited = cleared(talk, upto=301)
    assert changes(store.align(session, edited)) == (0, 150, 0)
    for replayed in (edited, edited, edited[:77], edited[:1]):
        assert changes(store.align(session, replayed)) == (0, 0, 0)
    assert rows_of(store, session) == 401 + 150
    assert line_of(store, session) == edited
    assert changes(store.align(session, [*edited, assistant("done")])) == (1, 0, 0)
    assert changes(store.align(session, [*cleared(talk, upto=401), assistant("done")])) == (0, 50, 0)


def test_after_a_compaction_the_whole_list_cleared_from_its_beginning_adds_its_revisions_alone(store: Store) -> None:
    talk = worked(60)
    session = store.open_session()
    store.append(session, talk)
    child = store.continue_session(session, [talk[0], user("[summary]"), *talk[-4:]], upto=len(talk))
    edited = cleared(talk, upto=101)
    assert changes(store.align(child, edited)) == (0, 50, 0)
    assert changes(store.align(child, edited)) == (0, 0, 0)
    assert line_of(store, child) == edited
    assert view_of(store, child) == [talk[0], user("[summary]"), *talk[-4:]]
    edited_first = [user("Port the lexer."), *edited[1:]]
    assert changes(store.align(child, edited_first)) == (0, 1, 0)
    assert view_of(store, child)[0] == user("Port the lexer."), "what was kept follows the edit"


def test_the_view_with_an_edited_summary_is_taken_for_the_view(store: Store) -> None:
    talk = worked(10)
    session = store.open_session()
    store.append(session, talk)
    child = store.continue_session(session, [user("[summary]"), *talk[-2:]], upto=len(talk))
    handed = [user("[summary, shortened]"), *talk[-2:], assistant("on")]
    assert changes(store.align(child, handed)) == (1, 1, 0)
    assert view_of(store, child) == handed
    assert line_of(store, child) == [*talk, assistant("on")], "a summary is not part of what was said"


@pytest.mark.parametrize("place", range(4))
def test_what_is_put_in_stands_where_it_was_put_also_the_second_time(store: Store, place: int) -> None:
    talk = [user("a"), assistant("b"), user("c")]
    session = store.open_session()
    store.append(session, talk)
    for text in ("first", "second", "third"):
        talk.insert(place, user(text))
        store.align(session, talk)
        assert line_of(store, session) == talk
    talk[place] = user("edited")
    assert changes(store.align(session, talk)) == (0, 1, 0)
    assert line_of(store, session) == talk


def test_what_a_host_puts_beside_a_summary_is_shown_there_and_said_once(store: Store) -> None:
    talk = [user("a"), assistant("b"), user("c"), assistant("d")]
    session = store.open_session()
    store.append(session, talk)
    child = store.continue_session(session, [user("[summary]"), talk[3]], upto=4)
    store.append(child, [user("e")])
    handed = [user("before"), user("[summary]"), user("after"), talk[3], user("between"), user("e")]
    assert changes(store.align(child, handed)) == (3, 0, 0)
    assert view_of(store, child) == handed
    assert sorted(m["content"] for m in line_of(store, child)) == [
        "a",
        "after",
        "b",
        "before",
        "between",
        "c",
        "d",
        "e",
    ]
    back = store.undo_compaction(child)
    assert view_of(store, back) == line_of(store, child), "and nothing of it is lost when the compaction is undone"


def test_what_was_said_since_a_compaction_can_be_dropped_from_the_view(store: Store) -> None:
    talk = [user("a"), assistant("b"), user("c")]
    session = store.open_session()
    store.append(session, talk)
    child = store.continue_session(session, [user("[summary]"), talk[2]], upto=3)
    store.append(child, [assistant("d"), user("e"), assistant("f")])
    handed = [user("[summary]"), assistant("d"), assistant("f")]
    assert changes(store.align(child, handed)) == (0, 0, 2)
    assert view_of(store, child) == handed
    assert line_of(store, child) == [*talk, assistant("d"), assistant("f")], "what was kept is only no longer shown"
    assert user("e") in every_row_of(store, child)


def test_a_list_as_like_the_view_as_the_whole_is_taken_for_what_the_model_saw(store: Store) -> None:
    session = store.open_session()
    store.append(session, [user("a"), user("b")])
    child = store.continue_session(session, [user("a"), user("[summary]")], upto=2)
    store.align(child, [user("a"), user("[the host's summary]")])
    assert view_of(store, child) == [user("a"), user("[the host's summary]")]
    assert line_of(store, child) == [user("a"), user("b")]


def test_an_older_session_still_ends_where_it_ended_when_something_is_put_in_before(store: Store) -> None:
    talk = [user("a"), assistant("b"), user("c")]
    session = store.open_session()
    store.append(session, talk)
    child = store.continue_session(session, [user("[summary]")], upto=3)
    store.append(child, [assistant("d")])
    store.align(child, [talk[0], user("put in"), *talk[1:], assistant("d")])
    assert view_of(store, session) == [talk[0], user("put in"), *talk[1:]]
    assert view_of(store, child) == [user("[summary]"), assistant("d")]


def test_a_branch_edits_what_it_began_with_for_itself_alone(store: Store) -> None:
    talk = [user("a"), assistant("b"), user("c"), assistant("d")]
    session = store.open_session()
    store.append(session, talk)
    branch = store.branch(session)
    store.append(branch, [user("e")])
    handed = [user("A"), user("put in"), talk[1], talk[3], user("e"), assistant("f")]
    store.align(branch, handed)
    assert view_of(store, branch) == handed
    assert (view_of(store, session), line_of(store, session)) == (talk, talk)
    assert store.recognise(handed) == (branch, 6), "and is recognised by how it now begins"
    assert store.recognise(talk) == (session, 4)


def test_a_compacted_branch_knows_its_whole_list(store: Store) -> None:
    talk = worked(5)
    session = store.open_session()
    store.append(session, talk)
    branch = store.branch(session)
    more = [user("elsewhere"), assistant("yes"), user("on")]
    store.append(branch, more)
    child = store.continue_session(branch, [user("[summary]"), more[-1]], upto=len(talk) + 3)
    rows = rows_of(store, child)
    assert changes(store.align(child, [*talk, *more])) == (0, 0, 0)
    assert changes(store.align(child, [*talk, *more, assistant("new")])) == (1, 0, 0)
    assert rows_of(store, child) == rows + 1
    assert view_of(store, child) == [user("[summary]"), more[-1], assistant("new")]


def test_a_cache_mark_that_moves_is_no_edit(store: Store) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    parts: list[Message] = [{"role": "user", "content": [{"type": "text", "text": "a"}]}, user("b"), assistant("c")]
    session = store.open_session()
    store.append(session, parts)
    marked = [{"role": "user", "content": [{"type": "text", "text": "a", **mark}]}, {**user("b"), **mark}, parts[2]]
    assert changes(store.align(session, marked)) == (0, 0, 0)
    assert changes(store.align(session, [*marked[:2], {**parts[2], **mark}, user("d")])) == (1, 0, 0)
    assert view_of(store, session) == [*parts, user("d")]


def test_a_list_that_has_nothing_in_common_replaces_what_is_shown_and_loses_nothing(store: Store) -> None:
    session = store.open_session()
    store.append(session, [user("a"), assistant("b")])
    store.align(session, [{"role": "system", "content": "s"}, user("[the host's own summary]")])
    assert line_of(store, session) == [{"role": "system", "content": "s"}, user("[the host's own summary]")]
    assert user("a") in every_row_of(store, session)
    assert assistant("b") in every_row_of(store, session)


def test_nothing_is_written_of_a_list_with_a_bad_message(store: Store) -> None:
    session = store.open_session()
    store.append(session, [user("a")])
    with pytest.raises(ValueError, match="message 2"):
        store.align(session, [user("a"), user("b"), {"content": "no role"}])
    assert every_row_of(store, session) == [user("a")]


def test_recognise_finds_the_longest_beginning_in_long_lists(store: Store) -> None:
    talk = [user(f"{n}") for n in range(1_203)]
    short, long = store.open_session(), store.open_session()
    store.append(short, talk[:500])
    store.append(long, talk[:1_000])
    assert store.recognise(talk) == (long, 1_000)
    assert store.recognise(talk[:700]) == (long, 700)
    assert store.recognise([*talk[:500], user("other")]) in {(short, 500), (long, 500)}
    assert store.recognise([]) is None

"""The contract of a store: what everyone who keeps a conversation may rely on, whichever database is behind it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from decimal import Decimal
from functools import partial
from typing import Any

from clew.facts.session import Origin
from clew.facts.usage import Cost, Usage
from clew.store.leases import Purpose
from clew.store.ledger import By, Call
from clew.store.store import Store
from clew.store.trouble import NotFound, SessionBusy, StoreError
from clew.store.values import START, Mark, Stored

Message = dict[str, Any]
Open = Callable[[], Store]

PATIENCE = 10.0
"""Seconds the feed may take to show what was written: it waits for transactions of others that are still running."""


def check_store(open: Open) -> None:  # noqa: A002
    """Hold a store to the contract; raises an AssertionError that says what is broken.

    Takes what opens a store on an empty place. It is called many times, twice at once for two who share a store, and
    every time has to find what the times before left.

    >>> import clew, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_store(lambda: clew.open_store(f"{folder}/my.db"))
    """
    for section in (
        _messages_come_back_as_they_were,
        _what_was_said_survives_closing,
        _twins_stay_two,
        _a_replay_adds_nothing,
        _an_edit_is_a_revision,
        _nothing_appended_is_lost,
        _a_compaction_opens_one_child,
        _what_is_said_meanwhile_follows_the_summary,
        _the_second_compactor_changes_nothing,
        _a_message_is_stored_once,
        _turns_can_be_taken_back,
        _a_compaction_can_be_undone,
        _a_branch_shares_and_goes_its_own_way,
        _delegated_work_is_a_conversation_of_its_own,
        _a_write_lease_keeps_others_out,
        _a_compact_lease_lets_others_append,
        _a_lease_that_ran_out_goes_to_the_next,
        _big_output_lies_outside,
        _every_call_is_counted,
        _a_family_adds_up,
        _a_stated_window_only_shrinks,
        _a_known_beginning_is_recognised,
        _neighbours_stand_around,
        _what_is_not_there_is_said_so,
        _the_feed_shows_everything_once,
    ):
        try:
            section(open)
        except AssertionError:
            raise
        except Exception as error:
            what = section.__name__.strip("_").replace("_", " ")
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


# The log


def _messages_come_back_as_they_were(open_: Open) -> None:
    odd = odd_messages()
    with open_() as store:
        session = store.open_session(title="odd")
        store.append(session, odd)
        found = _view(store, session)
        _same(len(found), len(odd), "appended k messages, but not k came back")
        for back, message in zip(found, odd, strict=True):
            _same(back, message, "a message came back changed")
        _same([list(m) for m in found], [list(m) for m in odd], "the order of a message's keys changed")
        tools = [said.tool for said in store.messages(session) if said.role == "tool"]
        _same(tools, ["read_file", "shell"], "a tool's result has the name of its tool, from itself or from its call")


def _what_was_said_survives_closing(open_: Open) -> None:
    with open_() as store:
        session = store.open_session(title="Parser", cwd="/srv", model="m", tags=("a", "b"), system="Be \ud800 brief.")
        store.append(session, _talk(6))
        store.note(session, {"fruitless": 2})
        child = store.continue_session(session, [_summary(1), *_talk(6)[4:]], upto=6, state={"n": 1})
    with open_() as store:
        _same(_view(store, child), [_summary(1), *_talk(6)[4:]], "the compacted view is not there after reopening")
        _same(_line(store, child), _talk(6), "the history is not there after reopening")
        about = store.conversation(child)
        _same(
            (about.title, about.cwd, about.model, about.tags), ("Parser", "/srv", "m", ("a", "b")), "it forgot itself"
        )
        _same(store.session(child).system, "Be \ud800 brief.", "the system prompt is not there after reopening")
        _same(store.session(session).state, {"fruitless": 2}, "what note() kept is not there after reopening")
        _same(store.session(child).state, {"n": 1}, "the child's state is not there after reopening")
        assert about.id in [found.id for found in store.conversations()], "conversations() does not list it"
        _same(store.find(about.id[:-1]), [about.id], "find() does not know a conversation by its beginning")


def _twins_stay_two(open_: Open) -> None:
    twins = [_user("again"), _user("again"), _assistant("ok"), _user("again"), _assistant("ok")]
    with open_() as store:
        session = store.open_session()
        store.append(session, twins)
        stored = store.messages(session)
        _same([said.message for said in stored], twins, "identical messages became one")
        assert len({said.seq for said in stored}) == len(twins), "identical messages share a number"
        assert [said.place for said in stored] == sorted({said.place for said in stored}), "twins share a place"
        _same(store.align(session, twins).added, 0, "replaying identical messages added some")


def _a_replay_adds_nothing(open_: Open) -> None:
    talk = _talk(9)
    with open_() as store:
        session = store.open_session()
        store.append(session, talk)
        child = store.continue_session(session, [_summary(1), *talk[6:]], upto=9)
        store.append(child, [_user("on")])
        whole, seen = [*talk, _user("on")], [_summary(1), *talk[6:], _user("on")]
        rows = len(_log(store, session))
        for replayed in (whole, seen):
            for length in range(len(replayed) + 1):
                done = store.align(session, replayed[:length])
                _same((done.added, done.revised, done.dropped), (0, 0, 0), f"replaying {length} messages changed some")
        _same(len(_log(store, session)), rows, "a replay wrote rows")
        _same(store.align(session, [*whole, _assistant("new")]).added, 1, "one message was new behind the whole list")
        _same(store.align(child, [*seen, _assistant("new"), _user("newer")]).added, 1, "one was new behind the view")
        _same(_line(store, child), [*whole, _assistant("new"), _user("newer")], "what was new stands in its order")


def _an_edit_is_a_revision(open_: Open) -> None:
    talk = _talk(6)
    edited = [*talk[:2], _user("something else"), _user("put in between"), *talk[3:5]]
    with open_() as store:
        session = store.open_session()
        store.append(session, talk)
        done = store.align(session, edited)
        _same((done.added, done.revised, done.dropped), (1, 1, 1), "one put in, one edited and one dropped")
        _same(_line(store, session), edited, "the history reads as it was handed back")
        _same(_view(store, session), edited, "the model sees what was handed back")
        for message in talk:
            assert message in [said.message for said in _log(store, session)], (
                "an edit took the old text out of the log"
            )
        again = store.align(session, edited)
        _same((again.added, again.revised, again.dropped), (0, 0, 0), "the edited list, replayed, changed something")


def _nothing_appended_is_lost(open_: Open) -> None:
    with open_() as store:
        first = session = store.open_session()
        said = [_user(f"message {n}") for n in range(30)]
        for n, message in enumerate(said):
            live = store.append(first if n % 2 else session, [message])  # every other with an id long out of date
            _same(live, session, "append returns the live session")
            if n % 10 == 9:
                session = store.continue_session(session, [_summary(n)], upto=len(_view(store, session)))
        _same(_line(store, first), said, "appended k messages, but not k are there")
        _same(_view(store, session), [_summary(29)], "the newest session shows its summary and what was said since")


# The chain


def _a_compaction_opens_one_child(open_: Open) -> None:
    with open_() as store:
        parent = store.open_session(title="T", system="old")
        store.append(parent, _talk(10))
        child = store.continue_session(parent, [_summary(1), *_talk(10)[8:]], upto=10, system="new")
        before, after = store.sessions(parent)
        _same((before.id, before.end_reason), (parent, "compression"), "the old session ends with 'compression'")
        assert before.ended is not None, "the old session has no time at which it ended"
        _same((after.id, after.parent, after.origin), (child, parent, Origin.COMPRESSION), "one child follows it")
        _same((after.ended, after.system), (None, "new"), "the child lives, with the system prompt it was given")
        _same(before.system, "old", "the parent keeps its own system prompt")
        _same(store.conversation(child).title, "T", "what belongs to the conversation outlives a compaction")
        _same(_view(store, parent), _talk(10), "the old session can still be read as it was")
        _same(_view(store, child), [_summary(1), *_talk(10)[8:]], "the child shows the compacted messages")
        for depth in range(3):
            child = store.continue_session(child, [_summary(depth + 2)], upto=3)
        _same({store.get_compression_tip(one.id) for one in store.sessions(parent)}, {child}, "one tip, from any depth")
        _same(store.get_compression_tip(store.conversation(parent).id), child, "the conversation's id leads to its tip")


def _what_is_said_meanwhile_follows_the_summary(open_: Open) -> None:
    with open_() as store, open_() as other:
        session = store.open_session()
        store.append(session, _talk(8))
        upto = len(_view(store, session))
        meanwhile = [_user("one more thing"), _assistant("yes?")]
        other.append(session, meanwhile)  # while the summary is being made
        child = store.continue_session(session, [_summary(1), *_talk(8)[6:]], upto=upto)
        seen = [_summary(1), *_talk(8)[6:], *meanwhile]
        _same(_view(store, child), seen, "what was said while the summary was made follows it in order")
        _same(_view(store, session), _talk(8), "the old session ends where its summary does")
        grandchild = store.continue_session(child, [_summary(2)], upto=1)
        _same(_view(store, grandchild), [_summary(2), *seen[1:]], "what was not compacted follows the summary")
        _same(_line(store, child), [*_talk(8), *meanwhile], "the history has everything once")


def _the_second_compactor_changes_nothing(open_: Open) -> None:
    with open_() as store, open_() as other:
        session = store.open_session()
        store.append(session, _talk(4))
        child = store.continue_session(session, [_summary(1)], upto=4)
        before = (_view(store, child), len(_log(store, session)), store.sessions(session))
        _busy(lambda: other.continue_session(session, [_summary(2)], upto=4), "a second compactor")
        _same(
            (_view(store, child), len(_log(store, session)), store.sessions(session)),
            before,
            "the second compactor got SessionBusy and yet changed something",
        )


def _a_message_is_stored_once(open_: Open) -> None:
    with open_() as store:
        session = store.open_session()
        for n in range(10):
            store.append(session, _talk(6, f"round {n}"))
            seen = _view(store, session)
            session = store.continue_session(session, [_summary(n), *seen[-4:]], upto=len(seen))
        rows = _log(store, session)
        _same(len(rows), 10 * 6 + 10, "one row for each message and each summary, however often it was compacted")
        _same(
            [said.message for said in rows if said.derived], [_summary(n) for n in range(10)], "only summaries are new"
        )
        _same(len(_line(store, session)), 60, "summaries are not part of what was said")


def _turns_can_be_taken_back(open_: Open) -> None:
    talk = _talk(12)  # six turns
    with open_() as store:
        session = store.open_session()
        store.append(session, talk)
        live, taken = store.undo(session)
        _same((live, [said.message for said in taken]), (session, talk[10:]), "the last turn is taken back")
        _same(_view(store, session), talk[:10], "what was taken back is no longer shown")
        for n in range(3):  # the last two turns were said before three compactions
            session = store.continue_session(session, [_summary(n), *talk[6:10]], upto=len(_view(store, session)))
        live, taken = store.undo(session, turns=2)
        _same([said.message for said in taken], talk[6:10], "turns are taken back across compactions")
        _same((_view(store, live), _line(store, live)), (talk[:6], talk[:6]), "and the rest is there, uncompacted")
        assert all(message in [said.message for said in _log(store, live)] for message in talk), (
            "taken back is not lost"
        )
        _refused(NotFound, lambda: store.undo(live, turns=4), "more turns than there are cannot be taken back")
        _same(_view(store, live), talk[:6], "an undo that was refused changed something")
        store.append(session, [_user("anew")])
        _same(_line(store, live), [*talk[:6], _user("anew")], "the conversation goes on where the undo left it")


def _a_compaction_can_be_undone(open_: Open) -> None:
    with open_() as store:
        session = store.open_session()
        store.append(session, _talk(6))
        child = store.continue_session(session, [_summary(1)], upto=6)
        store.append(child, [_user("since")])
        _same(store.undo_compaction(child), session, "undoing a compaction leads back to its parent")
        _same(_view(store, session), [*_talk(6), _user("since")], "with everything that was said since")
        _same(store.get_compression_tip(child), session, "the id of the undone session leads to the live one")
        _same((store.session(session).ended, store.session(child).end_reason), (None, "undo"), "one lives, one ended")
        store.append(child, [_assistant("on")])
        again = store.continue_session(session, [_summary(2)], upto=8)
        assert again not in (session, child), "a new compaction opens a new session"
        _same(_view(store, again), [_summary(2)], "after an undo one can compact again")
        fresh = store.open_session()
        _refused(NotFound, lambda: store.undo_compaction(fresh), "there is no compaction to undo")


def _a_branch_shares_and_goes_its_own_way(open_: Open) -> None:
    talk = _talk(6)
    with open_() as store:
        session = store.open_session(title="T", system="S")
        store.append(session, talk)
        branch = store.branch(session, upto=4, title="other")
        _same((_view(store, branch), _log(store, branch)), (talk[:4], []), "a branch points to its beginning")
        store.append(branch, [_user("elsewhere")])
        store.append(session, [_user("on")])
        _same(_view(store, branch), [*talk[:4], _user("elsewhere")], "a branch goes its own way")
        _same(_view(store, session), [*talk, _user("on")], "what is said in a branch is not said in its parent")
        edited = [talk[0], _assistant("edited"), *talk[2:4], _user("elsewhere"), _assistant("and on")]
        done = store.align(branch, edited)
        _same((done.added, done.revised, done.dropped), (1, 1, 0), "a branch can edit what it began with")
        _same((_view(store, branch), _view(store, session)), (edited, [*talk, _user("on")]), "for itself alone")
        record = store.session(branch)
        _same(
            (record.origin, record.parent, record.system), (Origin.BRANCH, session, "S"), "it knows where it came from"
        )
        _same([child.id for child in store.children(session)], [record.conversation], "its parent knows it")


def _delegated_work_is_a_conversation_of_its_own(open_: Open) -> None:
    with open_() as store:
        session = store.open_session(cwd="/srv", model="big")
        store.append(session, _talk(2))
        child = store.continue_session(session, [_summary(1)], upto=2)
        helper = store.delegate(session, title="look it up", system="You look things up.", model="small")
        _same(_view(store, helper), [], "delegated work begins empty")
        record, about = store.session(helper), store.conversation(helper)
        _same((record.origin, record.parent), (Origin.DELEGATE, child), "it knows the live session it came from")
        _same((record.system, about.model, about.cwd), ("You look things up.", "small", "/srv"), "what it was given")
        _same([one.id for one in store.children(child)], [about.id], "its parent knows it")


# Leases


def _a_write_lease_keeps_others_out(open_: Open) -> None:
    with open_() as store, open_() as other:
        session = store.open_session()
        with store.hold(session):
            store.append(session, _talk(2))
            refused: tuple[Callable[[], object], ...] = (
                lambda: other.append(session, [_user("x")]),
                lambda: other.align(session, [*_talk(2), _user("x")]),
                lambda: other.continue_session(session, [_summary(1)], upto=2),
                lambda: other.undo(session),
                lambda: other.hold(session).__enter__(),
            )
            for attempt in refused:
                _busy(attempt, "someone else, while the lease to write is held,")
            _same((_view(other, session), len(_log(other, session))), (_talk(2), 2), "who was kept out changed nothing")
            assert other.open_session(), "a lease on one conversation is none on another"
        other.append(session, [_user("now")])
        _same(_view(store, session), [*_talk(2), _user("now")], "after the lease others can write")


def _a_compact_lease_lets_others_append(open_: Open) -> None:
    with open_() as store, open_() as other:
        session = store.open_session()
        store.append(session, _talk(4))
        with store.hold(session, Purpose.COMPACT):
            other.append(session, [_user("meanwhile")])
            _busy(lambda: other.continue_session(session, [_summary(0)], upto=4), "a second compactor")
            _busy(lambda: other.hold(session, Purpose.COMPACT).__enter__(), "a second compactor")
            child = store.continue_session(session, [_summary(1)], upto=4)
        _same(_view(store, child), [_summary(1), _user("meanwhile")], "what was appended meanwhile is there")
        other.continue_session(child, [_summary(2)], upto=2)


def _a_lease_that_ran_out_goes_to_the_next(open_: Open) -> None:
    with open_() as store, open_() as other:
        session = store.open_session()
        with ExitStack() as held:
            lease = held.enter_context(store.hold(session, seconds=0.01))
            time.sleep(0.05)
            lease.renew()  # late, but no one else came
            time.sleep(0.05)
            held.enter_context(other.hold(session, seconds=60))
            _busy(lease.renew, "who lost the lease and renews it")
            _busy(lambda: store.append(session, [_user("late")]), "who lost the lease and writes")
        store.append(session, [_user("then")])
        _same(
            _view(store, session),
            [_user("then")],
            "both leases are given back, and only what was acknowledged is there",
        )


# Blobs and the ledger


def _big_output_lies_outside(open_: Open) -> None:
    text = "".join(f"line {n} \ud800 ✓\n" for n in range(1, 5_001))
    with open_() as store:
        pointer = store.spill(text)
        name = pointer.removeprefix("blob:")
        assert pointer == f"blob:{name}", f"a pointer to a blob reads blob:<name>, not {pointer!r}"
        _same(store.spill(text), pointer, "the same text is kept once")
        session = store.open_session()
        store.append(session, [_user(f"the output is in {pointer}, lines 1-9")])
    with open_() as store:
        _same(store.messages(session)[0].blobs, (name,), "a message knows the blobs it points to")
        _same(store.read_blob(pointer), text.encode("utf-8", "surrogatepass"), "a blob comes back byte for byte")
        _same(store.read_blob(name), store.read_blob(pointer), "by its name as by its pointer")
        plain = store.spill("a\nb\nc\n")
        _same(store.read_lines(plain, offset=2, limit=1), "b\n", "lines are counted from 1")
        _same(store.read_lines(plain, offset=4), "", "behind the last line is nothing")
        for wrong in ("0" * 32, "blob:../../etc/passwd", ""):
            _refused(NotFound, partial(store.read_blob, wrong), "there is no such blob")


def _every_call_is_counted(open_: Open) -> None:
    calls = [
        Call(Usage(100, 10, 40, 5, 3), "big", "p", cost=Cost(Decimal("0.000001"), "2026-01-02"), tools=("a", "b")),
        Call(Usage(200, 20), "big", "p", purpose="summary", cost=Cost(Decimal("0.1"), "2026-01-01")),
        Call(Usage(7, 0), "new", "q", failed="overloaded"),
    ]
    with open_() as store:
        session = store.open_session()
        for call in calls:
            store.record(session, call)
        (all_,) = store.spent(By.ALL, conversation=session)
        _same((all_.calls, all_.failed), (3, 1), "a call that failed counts, and counts as failed")
        _same(all_.usage, Usage(307, 30, 40, 5, 3), "tokens are added up by bucket")
        _same((all_.cost, all_.unpriced), (Decimal("0.100001"), 1), "a price that is not known is not 0: it is said")
        _same(all_.priced, "2026-01-01", "the age of the oldest price is told")
        by_model = {row.key: row for row in store.spent(By.MODEL, conversation=session)}
        _same((by_model["big"].unpriced, by_model["new"].unpriced), (0, 1), "by model")
        _same(_calls(store, "tool", session), {"a": 1, "b": 1, "(none)": 2}, "by the tools that a reply asked for")
        _same(_calls(store, "purpose", session), {"turn": 2, "summary": 1}, "by what the call was for")
        child = store.continue_session(session, [], upto=0)
        store.record(child, calls[0])
        _same(_calls(store, "session", child), {session: 3, child: 1}, "by session")
        (nothing,) = store.spent(conversation=store.open_session())
        _same((nothing.calls, nothing.cost, nothing.unpriced), (0, Decimal(0), 0), "no call, no cost")


def _a_family_adds_up(open_: Open) -> None:
    with open_() as store:
        top = store.open_session()
        middle = store.delegate(top)
        top = store.continue_session(top, [], upto=0)
        bottom, second = store.delegate(middle), store.delegate(top)
        branch = store.branch(top)
        for n, session in enumerate((top, middle, bottom, second, branch)):
            store.record(session, Call(Usage(10**n), "m"))
        (family,) = store.spent(conversation=top, family=True)
        _same(family.usage.input, 1_111, "a family is what was delegated at any depth, and no branch")
        (alone,) = store.spent(conversation=top)
        _same(alone.usage.input, 1, "without its family a conversation has its own calls")
        _same(store.spent(conversation=middle, family=True)[0].usage.input, 110, "from the middle down")


# Finding again


def _a_stated_window_only_shrinks(open_: Open) -> None:
    with open_() as store:
        store.learn_window("https://api.example/v1", "m", 131_072, said="maximum context length is 131072")
        store.learn_window("https://api.example/v1", "m", 262_144, said="larger")
        store.learn_window("https://api.example/v1", "m", 3, said="a slip")
    with open_() as store:
        found = [(known.endpoint, known.model, known.window, known.said) for known in store.learned_windows()]
        wanted = [("https://api.example/v1", "m", 131_072, "maximum context length is 131072")]
        _same(found, wanted, "a window that was learned came back otherwise, or grew, or took a slip for one")
        _same(store.forget_window("https://api.example/v1", "m"), True, "a window that was learned was not forgotten")
        _same(store.learned_windows(), [], "a window that was forgotten is still there")


def _a_known_beginning_is_recognised(open_: Open) -> None:
    talk = [_user("a beginning no one else has"), *_talk(6)]
    with open_() as store:
        session = store.open_session()
        store.append(session, talk)
        _same(store.recognise([*talk, _user("new")]), (session, 7), "a list that goes on is recognised")
        _same(store.recognise(talk[:3]), (session, 3), "a beginning is recognised")
        _same(store.recognise([_user("never said by anyone"), *talk]), None, "what begins otherwise is not")
        child = store.continue_session(session, [_summary(1)], upto=7)
        _same(store.recognise(talk), (child, 7), "after a compaction it leads to the live session")
        store.undo(child)
        _same(store.recognise(talk), (session, 5), "what was taken back is not known any more")
        branch = store.branch(session)
        store.append(branch, [_user("other")])
        _same(store.recognise([*talk[:5], _user("other")]), (branch, 6), "a branch is known by all of it")


def _neighbours_stand_around(open_: Open) -> None:
    talk = _talk(7)
    with open_() as store:
        session = store.open_session()
        store.append(session, talk)
        store.continue_session(session, [_summary(1)], upto=4)
        third = store.messages(session)[3]
        found = store.neighbours(third.seq, before=2, after=10)
        _same([said.message for said in found], talk[1:7], "a message with those around it, no summaries between")
        _same(store.neighbours(third.seq, before=0, after=0), [third], "the message alone")
        _same(store.neighbours(1 << 40), [], "a message that is not there has no neighbours")
        page = [said.message for said in store.history(session, start=2, limit=3)]
        _same(page, talk[2:5], "history() begins at a place and ends at a limit")


def _what_is_not_there_is_said_so(open_: Open) -> None:
    with open_() as store:
        asked: tuple[Callable[[], object], ...] = (
            lambda: store.append("nowhere", [_user("x")]),
            lambda: store.messages("nowhere.0"),
            lambda: store.get_compression_tip("nowhere"),
            lambda: store.continue_session("nowhere", [], upto=0),
            lambda: store.record("nowhere", Call(Usage(), "m")),
        )
        for question in asked:
            _refused(NotFound, question, "there is no such session")
        named = store.open_session(id="named")
        _refused(SessionBusy, lambda: store.open_session(id="named"), "the id is taken")
        for wrong in ({"content": "no role"}, {"role": "user", "content": {1, 2}}):
            _refused(ValueError, partial(store.append, named, [_user("x"), wrong]), "this is no message")
        _same(_view(store, named), [], "of a list that could not be stored, a part was")


def _the_feed_shows_everything_once(open_: Open) -> None:
    with open_() as store:
        wanted = sorted(said.seq for one in store.conversations() for said in _log(store, one.id))
        mark, seen = _read_feed(store, START, len(wanted))
        _same(sorted(said.seq for said in seen), wanted, "the feed shows every message once: also edited, also derived")
        found = store.fetch([*wanted[:5], 1 << 40])
        _same(found, {said.seq: said for said in seen if said.seq in wanted[:5]}, "fetch() gives those there are")
        session = store.open_session()
        store.append(session, _talk(5))
        mark, more = _read_feed(store, mark, 5)
        _same([said.message for said in more], _talk(5), "behind a mark come the new messages alone, in their order")
        _same((store.behind(mark), store.after(mark, 10)), (0, []), "behind the last mark is nothing")


def _read_feed(store: Store, mark: Mark, count: int) -> tuple[Mark, list[Stored]]:
    seen: list[Stored] = []
    deadline = time.monotonic() + PATIENCE
    while len(seen) < count and time.monotonic() < deadline:
        part = store.after(mark, 7)
        assert [at for at, _ in part] == sorted(at for at, _ in part), "marks grow"
        if part:
            assert part[0][0] > mark, "the feed shows again what lies before its mark"
            mark = part[-1][0]
            seen += [said for _, said in part]
        else:
            time.sleep(0.02)
    return mark, seen


# Messages, and ways to ask


def odd_messages() -> list[Message]:
    """What agents really hand in, and what they should not: each has to come back as it was."""
    nested: Any = "bottom"
    for depth in range(60):
        nested = {"deeper": nested} if depth % 2 else [depth, nested]
    call = {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"cmd": "ls\\u0000"}'}}
    return [
        {"role": "system", "content": ""},
        {"content": "keys in another order", "role": "user"},
        {
            "role": "user",
            "content": "NUL \0, half an emoji \ud83d, a whole one 🧵, \u202eturned\u202c, 中文, e\u0301 é",
        },
        {
            "role": "user",
            "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:"}}],
        },
        {"role": "assistant", "content": None, "tool_calls": [{**call, "id": "c0"}], "reasoning_content": "…", "x": []},
        {"role": "tool", "tool_call_id": "c0", "name": "read_file", "content": "x\r\n" * 40_000},
        {"role": "assistant", "tool_calls": [call], "content": "y" * 700, "unknown": {"b": 1, "a": [True, None, 1.5]}},
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [{"type": "text", "text": "🧵\ud800" * 40_000}, {"n": nested}],
        },
        {
            "role": "user",
            "content": "blob:" + "0" * 32,
            "cache_control": {"type": "ephemeral"},
            "big": 10**40,
            "small": -1e-9,
        },
        {"role": "half a role \udfff", "content": "kept all the same", "": {"": ""}},
        {"role": "strange \0 role", "content": "this too"},
    ]


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _summary(number: int) -> Message:
    return _user(f"[summary {number}]")


def _talk(count: int, about: str = "talk") -> list[Message]:
    """A person and a model in turns."""
    return [(_assistant if n % 2 else _user)(f"{about} {n}") for n in range(count)]


def _view(store: Store, session: str) -> list[Message]:
    return [said.message for said in store.messages(session)]


def _line(store: Store, session: str) -> list[Message]:
    return [said.message for said in store.history(session)]


def _log(store: Store, session: str) -> list[Stored]:
    """Every row there is."""
    return list(store.history(session, aside=True))


def _calls(store: Store, by: str, conversation: str) -> dict[str, int]:
    return {row.key: row.calls for row in store.spent(by, conversation=conversation)}


def _same(found: object, wanted: object, told: str) -> None:
    assert found == wanted, f"{told}: expected {_short(wanted)}, found {_short(found)}"


def _short(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 400 else f"{text[:400]}…"


def _refused(kind: type[Exception], attempt: Callable[[], object], told: str) -> None:
    try:
        attempt()
    except kind:
        return
    except StoreError as error:
        raise AssertionError(f"{told}: expected {kind.__name__}, got {type(error).__name__}: {error}") from error
    raise AssertionError(f"{told}: expected {kind.__name__}, but it was accepted")


def _busy(attempt: Callable[[], object], who: str) -> None:
    _refused(SessionBusy, attempt, f"{who} has to get SessionBusy")

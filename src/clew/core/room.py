"""How is room made: at once, or ahead of time beside the conversation, which then goes on in a child session?"""

from __future__ import annotations

from dataclasses import replace

from clew.core.effects import Continue, Prepare, Tell, ask
from clew.core.ports import Asking, Setup
from clew.core.state import Story, Turn, exhausted
from clew.core.weigh import Weight, weigh
from clew.facts.budget import Budget
from clew.facts.messages import message
from clew.facts.session import Compaction, Opened, Origin, Session


def make_room(now: Turn, *, focus: str | None = None) -> Story[Turn]:
    """End this session and go on in its child, which opens with the summary and what was kept."""
    if now.tried.compactions >= now.setup.policy.max_compactions:
        raise exhausted(now, f"still full after {now.tried.compactions} compactions of one call")
    done = yield from compacted(now.session, now.setup, now.budget.counted_in(now.factor), focus=focus)
    return (yield from go_on(now, now.session, done))


def look_ahead(now: Turn, weight: Weight, *, due: bool) -> Story[Turn]:
    """From the soft mark on a summary is prepared beside the conversation; it is taken when it is due and there. Only
    past the hard mark does anyone wait for it."""
    pressing = weight.tokens >= now.budget.hard
    if not due and weight.tokens < now.budget.soft:
        return now
    ready = yield from ask(Prepare(now.session, now.budget.counted_in(now.factor), due=due, wait=due and pressing))
    if ready is None:
        return now
    now = yield from go_on(now, ready.session, ready.compaction)
    if pressing and weigh(now.session, now.setup, now.factor).tokens >= now.budget.hard:
        return (yield from make_room(now))  # much was said since it was prepared
    return now


def compacted(session: Session, setup: Setup, budget: Budget, *, focus: str | None = None) -> Asking:
    """What making room comes to. Nothing has changed yet."""
    pinned = sum(setup.count(message("user", text)) for text in session.pins)
    room = budget.holding(pinned)
    return setup.engine.make_room(session.messages, room, focus=focus, pinned=session.pins)


def go_on(now: Turn, before: Session, done: Compaction) -> Story[Turn]:
    """In the child of the session that was compacted; what was said since then comes behind."""
    for note in done.notes:
        yield from ask(Tell(note))
    now = replace(now, tried=replace(now.tried, compactions=now.tried.compactions + 1))
    if done.declined:
        return now
    if not done.progress:
        yield from ask(Tell("nothing more can leave the window; /new starts fresh, a larger window takes it all"))
        stuck = replace(now.session, fruitless=now.session.fruitless + 1, settled_at=now.session.counted)
        return replace(now, session=stuck)
    child = opened(before, (yield from ask(Continue(before, done))), done, now.setup)
    for entry in now.session.entries[len(before.entries) :]:
        child = child.add(entry.message, entry.tokens)
    child = replace(child, settled_at=child.counted)
    yield from ask(Tell(told(done, child)))
    setup = replace(now.setup, system_tokens=now.setup.count(message("system", child.system)))
    return replace(now, session=child, setup=setup)


def opened(parent: Session, new: Opened, done: Compaction, setup: Setup) -> Session:
    """The session that goes on after a compaction."""
    helped = done.freed >= setup.policy.min_progress * done.tokens_before
    child = Session(
        id=new.id,
        system=new.system,
        origin=Origin.COMPRESSION,
        parent=parent.id,
        compactions=parent.compactions + 1,
        fruitless=0 if helped else parent.fruitless + 1,
        pins=parent.pins,
    )
    for said in done.messages:
        child = child.add(said, setup.count(said))
    return child


def told(done: Compaction, child: Session) -> str:
    """What a person hears of it: one line, with a warning from the second time on."""
    left = f"{len(done.dropped):,} messages summed up" if done.dropped else "shortened"
    line = f"compacted: {left}, {done.tokens_before:,} → {done.tokens_after:,} tokens"
    if child.compactions < 2:
        return line
    return f"{line}; the {ordinal(child.compactions)} time here: details may blur, /new starts fresh"


def ordinal(number: int) -> str:
    """2nd, 3rd, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"

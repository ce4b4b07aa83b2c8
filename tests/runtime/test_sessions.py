"""A turn's wishes written to the store, and a session taken up again by another process."""

from __future__ import annotations

from clew.core.effects import Append, Spill
from clew.core.ports import Setup
from clew.core.turn import turn
from clew.engines.compressor import Compressor
from clew.facts.exchange import Reply
from clew.facts.messages import message
from clew.facts.model import Model, Policy, Window
from clew.facts.session import Origin
from clew.facts.usage import Usage
from clew.runtime.drive import drive
from clew.runtime.scales import Scale
from clew.runtime.sessions import hands, keep, load
from clew.store.check import findings
from clew.store.store import Store
from clew.testing import Script


def talk(store: Store, rounds: int) -> str:
    """A conversation of long turns in a small window, driven through the real core and engine on a real store."""
    scale = Scale()
    window = Window(16_000)
    setup = Setup(
        model=Model("m", window),
        engine=Compressor(Policy(), scale),
        count=scale.message,
        system_tokens=0,
        policy=Policy(),
    )
    id_ = store.open_session(title="long", system="be brief")
    for n in range(rounds):
        session = load(store, id_, scale.message)
        script = Script([Reply(message("assistant", f"answer {n}: " + f"detail {n} " * 400), Usage())])
        world = {**script.hands(), **hands(store)}
        session = drive(turn(session, [message("user", f"question {n}?")], setup), world).session
        keep(store, session)
        id_ = session.id
    return id_


def test_a_conversation_goes_on_through_compactions_and_nothing_is_lost(store: Store) -> None:
    tip = talk(store, 30)
    record = store.session(tip)
    assert record.number >= 2, "the window was small enough to be compacted at least twice"
    assert record.origin is Origin.COMPRESSION
    said = [one.message["content"] for one in store.history(tip)]
    assert [text.split(":")[0] for text in said] == [
        words for n in range(30) for words in (f"question {n}?", f"answer {n}")
    ]
    assert findings(store) == []


def test_another_process_takes_it_up_with_the_same_window_and_state(store: Store) -> None:
    scale = Scale()
    tip = talk(store, 12)
    first = load(store, tip, scale.message)
    assert first.messages[-1].text.startswith("answer 11")
    assert first.system == store.session(tip).system
    assert first.compactions == store.session(tip).number
    assert first.settled_at is not None
    root = tip.rsplit(".", 1)[0] + ".0"
    assert load(store, root, scale.message) == first, "an id from before the compactions opens the same session"


def test_big_output_is_spilled_and_pointed_to(store: Store) -> None:
    session = store.open_session()
    where = hands(store)[Spill](Spill("line\n" * 5, "call-1"))
    hands(store)[Append](Append(load(store, session, len), (message("user", f"see {where}"),)))
    assert store.messages(session)[-1].blobs == (where.removeprefix("blob:"),)
    assert store.read_lines(where, offset=2, limit=1) == "line\n"

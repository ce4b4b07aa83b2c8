"""Many conversations in one transaction, on both databases: each whole, and none in the way of another."""

from __future__ import annotations

import json
import time
from typing import Any

from clew.facts.session import Origin
from clew.facts.usage import Usage
from clew.store.chain import About
from clew.store.check import findings
from clew.store.ledger import Call
from clew.store.many import Align, Begin, Entry, Fork, GoOn, last_usage, spent_by_tag, write_many
from clew.store.store import Store
from clew.store.trouble import NotFound


def said(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(texts)]


def texts(store: Store, conversation: str) -> list[str]:
    tip = store.get_compression_tip(conversation)
    return [stored.message["content"] for stored in store.messages(tip)]


def test_conversations_begin_go_on_fork_are_edited_and_compacted_in_one_transaction(store: Store) -> None:
    about = About(model="m", tags=("key:ann",), source="gateway")
    call = Call(Usage(input=10, output=5, cache_read=3), "m")
    done = write_many(
        store,
        [
            Entry("b", said("one", "two"), call, Begin(about, "Be kind.")),
            Entry("a", said("x", "y"), call, Begin(about)),
            Entry("b", said("three"), call),
            Entry("a", said("z")),
        ],
    )
    assert done == [None] * 4
    assert write_many(store, [Entry("c", said("other"), call, Fork("b", 2))]) == [None]
    assert (texts(store, "b"), texts(store, "a")) == (["one", "two", "three"], ["x", "y", "z"])
    assert (texts(store, "c"), store.conversation("c").origin) == (["one", "two", "other"], Origin.BRANCH)
    assert store.session("b").system == "Be kind."
    assert write_many(store, [Entry("a", first=Align(said("x", "changed", "z")))]) == [None]
    assert texts(store, "a") == ["x", "changed", "z"]
    assert write_many(store, [Entry("b", said("four"), first=GoOn(said("[summary]")))]) == [None]
    assert texts(store, "b") == ["[summary]", "four"]
    assert store.sessions("b")[0].end_reason == "compression"
    assert last_usage(store, "b") == Usage(input=10, output=5, cache_read=3)
    assert last_usage(store, "nobody") is None
    ((tags, tokens, dollars),) = spent_by_tag(store, time.time() - 60)
    assert (json.loads(tags), tokens, dollars) == (["key:ann"], 72, 0.0)
    assert findings(store) == []


def test_one_that_cannot_be_written_keeps_no_other_from_it(store: Store) -> None:
    done = write_many(
        store,
        [
            Entry("a", said("one"), None, Begin(About())),
            Entry("nobody", said("lost")),
            Entry("b", said("two"), None, Begin(About())),
            Entry("b", [{"content": "no role"}]),
        ],
    )
    assert [type(error) for error in done][:3] == [type(None), NotFound, type(None)]
    assert isinstance(done[3], ValueError)
    assert (texts(store, "a"), texts(store, "b")) == (["one"], ["two"])

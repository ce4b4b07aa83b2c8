"""One index for both databases: the same answers from an SQLite file and from a PostgreSQL server."""

from __future__ import annotations

from clew.core.redact import redact
from clew.recall import shelves
from clew.recall.index import FRESH, Index
from clew.recall.search import search
from clew.store import chain, log
from clew.store.address import open_store
from tests.databases import new_schema

SLOW = {"role": "user", "content": "the slow word"}


def test_a_real_store_is_indexed_searched_proven_and_made_again(store_url: str) -> None:
    with open_store(store_url) as store:
        session = store.open_session()
        said = [
            {"role": "user", "content": f"number{n} of the parser, 压缩 in src/core/m{n % 7}.py"} for n in range(90)
        ]
        store.append(session, said[:40])
        index = Index(store.beside, store, redact)
        assert search(index, "parser").total == 40
        store.append(session, said[40:])
        assert len(said) > FRESH
        index.catch_up()
        for text, total in (
            ("number7", 1),
            ("number*", 90),
            ("src/core/m3.py", 13),
            ('"parser 压缩"', 90),
            ("缩", 90),
            ("parser -number5", 89),
            ("nowhere", 0),
        ):
            found = search(index, text)
            assert (found.total, found.exact, found.complete, found.searched) == (total, True, True, 90), text
        (hit,) = search(index, "number7").hits
        assert search(index, "parser", after=hit.at, before=hit.at + 1e6, role="user").total > 0
        assert search(index, "parser", before=hit.at - 1e6).searched == 0
        assert search(index, "parser", conversation=hit.conversation, role="tool").total == 0
        assert index.verify() == []
        assert index.remove([hit.seq]) == 1
        assert search(index, "number7").total == 0
        assert any("not in the index" in finding for finding in index.verify())
        assert index.rebuild() == 90
        assert index.verify() == []
        with store.beside.write() as work:
            shelves.grow_up(work)
            work.run("UPDATE recall_state SET young = 0")
        assert search(index, "number*").total == 90
        assert index.verify() == []
        assert index.size() > 0


def test_what_a_slower_transaction_holds_up_is_said_to_be_missing_and_then_found(postgres: str) -> None:
    url = new_schema(postgres)
    with open_store(url) as store, open_store(url) as other:
        session, slow = store.open_session(), store.open_session()
        index = Index(store.beside, store, redact)
        with other.database.write() as work:
            head = chain.head_of(work, slow)
            log.write(work, head.number, log.prepare([SLOW], other.shelf), log.end_of(work, head.number))
            store.append(session, [{"role": "user", "content": "the quick word"}])
            found = search(index, "quick")
            assert (found.total, found.complete) == (0, False), "it is there, but may not be read in order yet"
            assert "not indexed yet" in found.notes[0]
        assert [search(index, word).total for word in ("quick", "slow")] == [1, 1]
        assert search(index, "word").complete

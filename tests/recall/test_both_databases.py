"""One index for both databases: the same answers from an SQLite file and from a PostgreSQL server."""

from __future__ import annotations

from clew.core.redact import redact
from clew.recall import shelves
from clew.recall.index import FRESH, Index
from clew.recall.search import search
from clew.store.address import open_store


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

"""Transcripts are taken in once, whatever is read how often, and found again as one message each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clew.runtime.importing import import_transcript
from clew.runtime.recall import catch_up, search
from clew.store.address import open_store
from clew.store.check import findings
from clew.store.store import Store
from clew.wire.transcripts import Transcript, read_transcript
from tests.recordings import CORPUS, sample


def transcript(messages: list[dict[str, object]]) -> Transcript:
    return read_transcript(json.dumps(messages).encode())


def test_the_same_transcript_twice_is_stored_once_and_a_longer_one_adds_its_end(store: Store) -> None:
    messages = sample()
    first = import_transcript(store, transcript(messages[:300]), source="file")
    assert (first.messages, first.added) == (300, 300)
    assert import_transcript(store, transcript(messages[:300])).added == 0
    assert import_transcript(store, transcript(messages[:100])).added == 0
    longer = import_transcript(store, transcript(messages))
    assert (longer.conversation, longer.added) == (first.conversation, len(messages) - 300)
    assert [said.message for said in store.history(first.conversation)] == messages
    assert len(store.conversations()) == 1
    assert findings(store) == []


def test_two_transcripts_that_only_begin_alike_are_two_conversations(store: Store) -> None:
    messages = sample()[:50]
    import_transcript(store, transcript(messages))
    other = [*messages[:20], {"role": "user", "content": "something else entirely"}]
    assert import_transcript(store, transcript(other)).added == 21
    assert len(store.conversations()) == 2
    assert import_transcript(store, transcript(other)).added == 0
    assert import_transcript(store, transcript(messages)).added == 0


def test_after_ten_compactions_each_message_is_one_row_and_one_hit(store: Store) -> None:
    session = store.open_session()
    store.append(session, [{"role": "user", "content": "the first request"}])
    said = 1
    for n in range(10):
        store.append(session, [{"role": "user", "content": f"the word zebra{n} and quagga"}])
        said += 1
        seen = [one.message for one in store.messages(session)]
        summary = {"role": "user", "content": f"summary {n} of quagga"}
        session = store.continue_session(session, [seen[0], summary, seen[-1]], upto=len(seen))
    assert len(list(store.history(session))) == said
    found = search(store, "quagga", limit=50)
    assert (found.total, found.exact, found.complete) == (10, True, True)
    assert len({hit.seq for hit in found.hits}) == 10
    assert [search(store, f"zebra{n}").total for n in range(10)] == [1] * 10
    assert search(store, "quagga", limit=50, derived=True).total == 20


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of recorded conversations is not beside the project")
def test_every_conversation_of_the_corpus_imported_twice_is_stored_once(tmp_path: Path) -> None:
    files = sorted((CORPUS / "sessions").glob("*.jsonl"))
    with open_store(tmp_path / "store.db") as store:
        read = {}
        for path in files:
            read[path.name] = read_transcript(path.read_bytes())
            import_transcript(store, read[path.name], source=path.name)
        rows, conversations = store.behind((0, 0)), len(store.conversations())
        assert rows == sum(len(recorded.messages) for recorded in read.values())
        for path in files:
            assert import_transcript(store, read[path.name]).added == 0
        assert (store.behind((0, 0)), len(store.conversations())) == (rows, conversations)
        assert findings(store) == []
        longest = max(read.values(), key=lambda recorded: len(recorded.messages))
        found = store.recognise(longest.messages)
        assert found is not None
        assert [said.message for said in store.history(found[0])] == list(longest.messages)


def test_indexing_says_how_far_it_is(store: Store) -> None:
    import_transcript(store, transcript(sample()[:60]))
    heard: list[int] = []
    assert catch_up(store, heard.append) == 60
    assert heard
    assert heard[-1] == 60
    assert catch_up(store) == 0

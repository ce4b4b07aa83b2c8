"""What is found by meaning: made from the log in any steps, dropped, killed, forgotten and made again, without harm."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyroaring import BitMap

from clew.core.redact import redact
from clew.recall import vectors
from clew.recall.fuse import fused
from clew.recall.index import Index
from clew.recall.meaning import BITS, MISSING, WIDTH, encoder
from clew.recall.meant import FOREIGN, OTHER_MODEL
from clew.recall.nearness import Near, Nearness
from clew.recall.passages import LENGTH, MOST, passages_of
from clew.recall.search import search
from clew.store.address import open_store
from tests.recall.log import Log, Opened, plain

semantic = pytest.mark.skipif(encoder() is None, reason="clew[semantic] is not installed")
numbers = pytest.mark.skipif(find_spec("numpy") is None, reason="numpy, of clew[semantic], is not installed")

SAID = [
    "The cat sleeps on the warm roof all day.",
    "We drove the car to the garage because its brakes were worn.",
    "Please reserve a table at the restaurant for dinner tonight.",
    "The invoice was paid twice by the customer.",
    "Rain and thunder are expected over the weekend.",
]
EVERYONE = BitMap(range(1, 10_000))


def told(log: Log) -> Log:
    for text in SAID:
        log.say(text)
    return log


class Letters:
    """An encoder without weights: which of 256 pairs of letters a text has."""

    def __init__(self, name: str = "letters") -> None:
        self.name = name

    def bits(self, texts: Sequence[str]) -> list[bytes]:
        return [self._signs(text).to_bytes(WIDTH, "big") for text in texts]

    def vector(self, text: str) -> Any:
        import numpy as np

        signs = np.unpackbits(np.frombuffer(self._signs(text).to_bytes(WIDTH, "big"), dtype=np.uint8))
        return (signs.astype(np.float32) * 2 - 1) / BITS**0.5

    def reads(self, text: str) -> bool:
        return text.isascii()

    def _signs(self, text: str) -> int:
        signs = 0
        for one, two in pairwise(text):
            signs |= 1 << (ord(one) * 31 + ord(two)) % BITS
        return signs


def kept(index: Index) -> list[tuple[int, bytes]]:
    with index.database.read() as work:
        return [row for row in vectors.changed_since(work, -1) if row[1]]


def talk(log: Log, messages: int) -> Log:
    rnd = random.Random(messages)
    for _ in range(messages):
        log.say(" ".join(rnd.choices("ash birch cedar elm fir hazel larch maple oak pine rowan yew".split(), k=5)))
    return log


# Finding


@semantic
def test_what_is_meant_is_found_without_any_of_its_words(tmp_path: Path) -> None:
    log = told(Log())
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, encoder())  # type: ignore[arg-type]
        index.catch_up()
        assert nearness.build() == 5
        for question, seq in (("my automobile needs repair", 2), ("storm forecast", 5), ("pets napping outside", 1)):
            assert search(index, question, mode="words").total == 0
            found = search(index, question, nearness=nearness)
            assert (found.hits[0].seq, found.mode, found.complete, found.exact) == (seq, "hybrid", True, False)
            assert found.hits[0].snippet == SAID[seq - 1]
            assert search(index, question, mode="meaning", nearness=nearness).hits[0].seq == seq


@semantic
def test_what_is_like_nothing_that_was_said_is_not_found(tmp_path: Path) -> None:
    log = told(Log())
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, encoder())  # type: ignore[arg-type]
        index.catch_up()
        nearness.build()
        assert search(index, "quantum chromodynamics lattice", nearness=nearness).hits == ()


@semantic
def test_words_in_another_form_are_found_in_hybrid_mode_and_marked(tmp_path: Path) -> None:
    log = told(Log())
    seq = log.say("She painted the fence and planned a party.")
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, encoder())  # type: ignore[arg-type]
        index.catch_up()
        nearness.build()
        hit = search(index, "paint parties", nearness=nearness).hits[0]
        assert hit.seq == seq
        assert [hit.snippet[start:end] for start, end in hit.marks] == ["painted", "party"]
        assert search(index, "paint parties", mode="words").total == 0


@semantic
def test_a_question_in_chinese_is_looked_for_by_its_words_and_says_so(tmp_path: Path) -> None:
    log = told(Log())
    log.say("我们需要压缩上下文窗口")
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, encoder())  # type: ignore[arg-type]
        index.catch_up()
        nearness.build()
        found = search(index, "怎么压缩窗口呢", mode="hybrid", nearness=nearness)
        assert (found.mode, found.hits[0].seq, found.complete, found.notes) == ("words", 6, False, (FOREIGN,))
        assert search(index, "怎么压缩窗口呢", nearness=nearness).notes == ()


@semantic
def test_the_word_vectors_take_any_text(tmp_path: Path) -> None:
    known = encoder()
    assert known is not None
    bits = known.bits(["", "lone \ud800 surrogate", "x" * 50_000, "压缩", "\0"])
    assert [len(one) for one in bits] == [WIDTH] * 5
    assert known.vector("").tolist() == [0.0] * BITS
    assert abs(float((known.vector("a word") ** 2).sum()) - 1) < 1e-5


@numbers
def test_filters_and_what_is_left_out_hold_for_meaning_too(tmp_path: Path) -> None:
    log = Log()
    log.say("alpha beta gamma", conversation="a")
    log.say("alpha beta gamma", conversation="b", role="assistant")
    log.say("alpha beta gamma", conversation="b", derived=True)
    log.say("alpha beta delta", conversation="b")
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, Letters())
        index.catch_up()
        nearness.build()

        def found(text: str, **filters: Any) -> list[int]:
            hits = search(index, text, mode="meaning", nearness=nearness, **filters).hits
            return sorted(hit.seq for hit in hits)

        assert found("alpha beta gamma") == [1, 2, 4]
        assert found("alpha beta gamma", derived=True) == [1, 2, 3, 4]
        assert found("alpha beta gamma", conversation="b") == [2, 4]
        assert found("alpha beta gamma", role="assistant") == [2]
        assert found("alpha beta gamma -delta") == [1, 2]
        assert found("alpha beta gamma", limit=1) == [2]


@numbers
def test_one_word_a_path_or_a_quote_is_looked_for_as_it_stands(tmp_path: Path) -> None:
    log = talk(Log(), 20)
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, Letters())
        index.catch_up()
        nearness.build()
        for text in ("oak", '"oak pine"', "src/oak.py", "oa*"):
            assert search(index, text, nearness=nearness).mode == "words"
        assert search(index, "oak pine", nearness=nearness).mode == "hybrid"
        assert search(index, "oak pine", nearness=nearness, mode="words").mode == "words"


@numbers
def test_the_nearest_of_many_are_those_that_comparing_all_finds(tmp_path: Path) -> None:
    log = talk(Log(), 3_000)
    letters = Letters()
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, letters)
        index.catch_up()
        nearness.build()
        question = letters.vector("oak yew maple oak fir")
        alike = {stored.seq: float(letters.vector(stored.message["content"]) @ question) for stored in log.messages}
        for scope in (EVERYONE, BitMap(range(100, 130)), BitMap(range(5, 3_000, 2)), BitMap([7, 9_999])):
            near = nearness.nearest(question, scope, 20)
            best = sorted((alike[seq] for seq in scope if seq in alike), reverse=True)[:20]
            assert [round(one.likeness, 4) for one in near.values()] == [round(one, 4) for one in best]
            assert {*near} <= {*scope}


def test_words_count_twice_as_much_as_meaning_and_meaning_decides_between_equals() -> None:
    near = {1: Near(0.1, 0), 2: Near(0.5, 0), 3: Near(0.9, 0)}
    order = fused({1: 2.0, 2: 2.0, 3: 0.0, 4: 0.0}, near)
    assert sorted(order, key=lambda seq: -order[seq]) == [2, 1, 3, 4]
    assert fused({4: 0.0}, {}) == {4: 0.0}
    assert fused({}, near) == {}


# Without


def test_without_the_extra_a_search_works_and_says_so(tmp_path: Path) -> None:
    log = told(Log())
    with Opened(tmp_path, log) as index:
        found = search(index, "the brakes of the car", mode="hybrid", nearness=None)
        assert (found.hits[0].seq, found.mode, found.complete, found.notes) == (2, "words", False, (MISSING,))
        found = search(index, "the brakes of the car")
        assert (found.mode, found.complete, found.notes) == ("words", True, ())


def test_the_core_imports_nothing_of_the_extra() -> None:
    code = (
        "import sys, clew; from clew.runtime import recall; from clew.recall import search, nearness\n"
        "assert not {'numpy', 'tokenizers', 'wordllama'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@numbers
def test_words_lead_and_meaning_decides_between_those_with_the_same(tmp_path: Path) -> None:
    log = Log()
    log.say("lamp one zzz")
    log.say("xqxqxq", conversation="other")
    log.say("lamp two burning bright")
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, Letters())
        index.catch_up()
        nearness.build()
        found = search(index, "lamp burns brightly one two", mode="hybrid", nearness=nearness, limit=2)
        assert [hit.seq for hit in found.hits] == [3, 1]


@numbers
def test_a_hit_by_meaning_shows_the_passage_that_means_it(tmp_path: Path) -> None:
    log = Log()
    log.say("qqqq " * 300 + "burning bright in the night " * 30)
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, Letters())
        index.catch_up()
        nearness.build()
        (hit,) = search(index, "inthenight brightburning", mode="meaning", nearness=nearness).hits
        assert "burning" in hit.snippet
        assert hit.line is None


@numbers
def test_where_no_meanings_are_kept_words_are_searched(tmp_path: Path) -> None:
    log = told(Log())
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, Letters())
        assert search(index, "the brakes of the car", nearness=nearness).mode == "words"
        assert search(index, "the brakes of the car", nearness=nearness, mode="hybrid").mode == "hybrid"
        log.say("new brakes for the car")
        found = search(index, "the brakes of the car", nearness=nearness)
        assert (found.mode, found.complete) == ("hybrid", True)
        assert nearness.behind() == 0


# Building


@numbers
def test_meanings_made_in_any_steps_are_those_made_at_once_and_made_again(tmp_path: Path) -> None:
    log = talk(Log(), 700)
    log.say("")
    log.say("word " * 1_000)
    with Opened(tmp_path, log, name="once.db") as once, Opened(tmp_path, log, name="steps.db") as steps:
        for index in (once, steps):
            index.catch_up()
        assert Nearness(once, Letters()).build() == 702
        nearness, rnd = Nearness(steps, Letters()), random.Random(2)
        while nearness.build(rnd.choice((1, 7, 50, 200))):
            nearness.nearest(nearness.encoder.vector("oak"), EVERYONE, 5)
        assert kept(steps) == kept(once)
        assert nearness.progress().messages == 701
        before = search(steps, "oak pine larch", nearness=nearness, mode="hybrid")
        steps.rebuild()
        assert kept(steps) == []
        nearness.build()
        assert kept(steps) == kept(once)
        assert search(steps, "oak pine larch", nearness=nearness, mode="hybrid") == before
        assert steps.verify() == []


@numbers
def test_only_what_the_index_knows_gets_its_meaning(tmp_path: Path) -> None:
    log = talk(Log(), 30)
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, Letters())
        index.catch_up(12)
        assert nearness.build() == 12
        assert nearness.behind() == 18
        index.catch_up()
        done: list[int] = []
        assert nearness.build(progress=done.append) == done[-1] == 18


@numbers
def test_a_copy_in_memory_follows_what_is_kept(tmp_path: Path) -> None:
    log = talk(Log(), 600)
    with Opened(tmp_path, log) as index, Opened(tmp_path, log) as other:
        mine, theirs = Nearness(index, Letters()), Nearness(other, Letters())
        index.catch_up()
        mine.build()

        def alike() -> bool:
            fresh = Nearness(index, Letters())
            question = fresh.encoder.vector("oak pine fir")
            return mine.nearest(question, EVERYONE, 999) == fresh.nearest(question, EVERYONE, 999)

        assert alike()
        log.say("oak pine fir")
        other.catch_up()
        theirs.build()
        assert alike()
        log.forget(3, 300, 601)
        other.remove([300])
        assert alike()
        other.remove([3, 601])
        assert alike()
        other.drop()
        other.catch_up(40)
        theirs.build()
        assert alike()


KILLED = """
import os, sys
from pathlib import Path
from clew.recall import vectors
from clew.recall.nearness import Near, Nearness
from tests.recall.log import Log, Opened
from tests.recall.test_meaning import Letters, talk

log, left = talk(Log(), 400), int(sys.argv[2])
index = Opened(Path(sys.argv[1]), log).index
index.catch_up()
write = vectors._write
def dying(*told):
    global left
    write(*told)
    left -= 1
    if left < 0:
        os.kill(os.getpid(), 9)
vectors._write = dying
while Nearness(index, Letters()).build(30):
    pass
"""


@numbers
@pytest.mark.parametrize("steps", [0, 4])
def test_a_process_killed_while_it_builds_loses_nothing(tmp_path: Path, steps: int) -> None:
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(steps)], cwd=root, check=False)
    assert done.returncode == -9
    log = talk(Log(), 400)
    with Opened(tmp_path, log) as index, Opened(tmp_path, log, name="whole.db") as whole:
        nearness = Nearness(index, Letters())
        assert nearness.progress().messages == 30 * steps
        assert nearness.build() == 400 - 30 * steps
        whole.catch_up()
        Nearness(whole, Letters()).build()
        assert kept(index) == kept(whole)
        assert index.verify() == []


@numbers
def test_what_is_forgotten_has_no_meaning_left(tmp_path: Path) -> None:
    log = talk(Log(), 300)
    gone = log.say("unspeakable")
    with Opened(tmp_path, log) as index:
        nearness = Nearness(index, Letters())
        index.catch_up()
        nearness.build()
        (secret,) = Letters().bits(["unspeakable"])
        assert any(secret in data for _, data in kept(index))
        log.forget(gone, 2)
        index.remove([gone, 2])
        assert not any(secret in data for _, data in kept(index))
        assert nearness.progress().messages == 299
        assert nearness.build() == 0
        assert index.verify() == []
        index.database.settle()
        assert all(secret not in path.read_bytes() for path in index.database.files() if path.exists())


@numbers
def test_what_is_forgotten_while_its_meaning_is_made_does_not_come_back(tmp_path: Path) -> None:
    log = Log()
    log.say("unspeakable")
    with Opened(tmp_path, log) as index, Opened(tmp_path, log) as other:
        index.catch_up()
        letters = Letters()
        bits = letters.bits

        def forgotten_meanwhile(texts: Sequence[str]) -> list[bytes]:
            letters.bits = bits  # type: ignore[method-assign]
            log.forget(1)
            other.remove([1])
            return bits(texts)

        letters.bits = forgotten_meanwhile  # type: ignore[method-assign]
        assert Nearness(index, letters).build() == 0
        assert kept(index) == []


@numbers
def test_two_that_build_at_once_keep_nothing_twice(tmp_path: Path) -> None:
    log = talk(Log(), 50)
    with Opened(tmp_path, log) as index, Opened(tmp_path, log) as other:
        index.catch_up()
        mine, letters = Nearness(index, Letters()), Letters()
        bits = letters.bits

        def built_meanwhile(texts: Sequence[str]) -> list[bytes]:
            letters.bits = bits  # type: ignore[method-assign]
            assert mine.build(20) == 20
            return bits(texts)

        letters.bits = built_meanwhile  # type: ignore[method-assign]
        assert Nearness(other, letters).build() == 30
        assert sum(len(data) for _, data in kept(index)) == 50 * vectors.RECORD.size


@numbers
def test_meanings_of_another_model_are_noticed_and_made_again(tmp_path: Path) -> None:
    log = talk(Log(), 40)
    with Opened(tmp_path, log) as index:
        index.catch_up()
        Nearness(index, Letters("old")).build()
        nearness = Nearness(index, Letters("new"))
        assert nearness.behind() == 40
        found = search(index, "oak pine", mode="hybrid", nearness=nearness)
        assert (found.mode, found.complete, found.notes) == ("words", False, (OTHER_MODEL,))
        assert search(index, "oak pine", nearness=nearness).mode == "words"
        assert nearness.build(10) == 10
        assert nearness.progress()[0] == "new"
        assert nearness.progress().messages == 10
        assert nearness.build() == 30
        assert search(index, "oak pine", nearness=nearness).mode == "hybrid"


@numbers
def test_what_has_no_meaning_yet_is_told(tmp_path: Path) -> None:
    log = talk(Log(), 500)
    with Opened(tmp_path, log) as index:
        index.catch_up()
        nearness = Nearness(index, Letters())
        found = search(index, "oak pine", mode="hybrid", nearness=nearness)
        assert (found.mode, found.complete) == ("hybrid", False)
        assert found.notes[0].startswith("300 messages have no meaning kept yet")


@numbers
def test_verify_tells_of_meanings_without_a_message(tmp_path: Path) -> None:
    log = talk(Log(), 20)
    with Opened(tmp_path, log) as index:
        index.catch_up()
        Nearness(index, Letters()).build()
        with index.database.write() as work:
            vectors.add(work, vectors.read(work), "letters", (0, 20), {77: [bytes(WIDTH)]})
        assert index.verify() == ["1 messages with a meaning are not in the log, the first is 77"]


def test_a_long_message_is_kept_in_passages_and_credentials_in_none() -> None:
    log = Log()
    log.say("one two three " * 500 + "hunter2 " + "four " * 10_000, blob="from a blob")
    (stored,) = log.messages
    found = passages_of(stored, lambda text: text.replace("hunter2", "[REDACTED]"), log.read_blob)
    assert len(found) == MOST
    assert all(len(section.text) <= LENGTH for section in found)
    assert "".join(section.text for section in found[:3]).count("one two three") > 200
    assert not any("hunter2" in section.text for section in found)
    log.say("short", blob="from a blob")
    found = passages_of(log.messages[-1], plain, log.read_blob)
    assert [(section.text, section.blob) for section in found] == [("short", ""), ("from a blob", "blob-2")]


@numbers
def test_both_databases_keep_and_find_the_same(store_url: str) -> None:
    with open_store(store_url) as store:
        session = store.open_session()
        store.append(session, [{"role": "user", "content": text} for text in SAID * 60])
        index = Index(store.beside, store, redact)
        index.catch_up()
        nearness = Nearness(index, Letters())
        assert [nearness.build(100), nearness.build()] == [100, 200]
        found = search(index, "the warm roof of the car", nearness=nearness, mode="hybrid")
        assert (found.mode, found.complete, found.hits[0].snippet) == ("hybrid", True, SAID[0])
        gone = [hit.seq for hit in found.hits]
        index.remove(gone)
        assert nearness.progress().messages == 290
        again = search(index, "the warm roof of the car", nearness=nearness, mode="meaning")
        assert not {hit.seq for hit in again.hits} & {*gone}

"""The index is the log's own words: however it was made, killed, shared, or made again."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clew.recall.index import FRESH, YOUNG, Index
from clew.recall.postings import SPAN
from clew.recall.search import search
from clew.store.database import Work
from clew.store.sqlite import Sqlite
from clew.store.values import Mark
from tests.recall.log import Log, Opened, everything, plain

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "n", "st", "rk")]


def talk(log: Log, messages: int, seed: int = 1) -> Log:
    """Some messages with nothing special in them."""
    rnd = random.Random(seed)
    for _ in range(messages):
        log.say(
            " ".join(rnd.choices(WORDS, k=6)),
            role=rnd.choice(("user", "assistant")),
            conversation=f"c{rnd.randrange(5)}",
            at=float(rnd.randrange(10_000)),
            derived=rnd.random() < 0.1,
        )
    return log


def test_an_index_made_in_any_steps_is_the_index_made_at_once(tmp_path: Path) -> None:
    log = talk(Log(), 700)
    with Opened(tmp_path, log, name="at_once.db") as at_once, Opened(tmp_path, log, name="steps.db") as steps:
        at_once.catch_up()
        rnd = random.Random(2)
        while steps.catch_up(rnd.choice((1, 7, 50, 200))):
            pass
        assert everything(steps) == everything(at_once)
        assert steps.verify() == at_once.verify() == []


def test_a_store_that_outgrows_its_blocks_keeps_everything(tmp_path: Path) -> None:
    log = Log()
    for n in range(YOUNG + 50):
        log.say(f"w{n % 97} v{n}")
    with Opened(tmp_path, log, name="grown.db") as grown, Opened(tmp_path, log, name="at_once.db") as at_once:
        held, log.messages = log.messages, log.messages[: YOUNG - 5]
        grown.catch_up(YOUNG // 2)
        grown.catch_up()
        assert grown.state().young
        log.messages = held
        grown.catch_up(40)
        assert not grown.state().young
        grown.catch_up()
        at_once.catch_up()
        assert everything(grown) == everything(at_once)
        assert grown.verify() == []
        assert search(grown, "w13").total == sum(n % 97 == 13 for n in range(YOUNG + 50))


def test_numbers_far_from_each_other_are_kept_apart(tmp_path: Path) -> None:
    log = Log()
    for first in (5, SPAN - 1, SPAN, 3 * SPAN + 7, 900 * SPAN):
        log.next = first
        log.say("far apart")
    with Opened(tmp_path, log) as index:
        found = search(index, "far")
        assert sorted(hit.seq for hit in found.hits) == [stored.seq for stored in log.messages]
        assert search(index, '"far apart"').total == 5
        assert index.verify() == []


def test_a_search_finds_what_was_said_a_moment_ago(tmp_path: Path) -> None:
    log = Log()
    with Opened(tmp_path, log) as index:
        for n in range(3 * FRESH):
            log.say(f"number{n} again")
            assert search(index, f"number{n}").total == 1
        assert search(index, "again").total == 3 * FRESH
        assert index.verify() == []


def test_dropped_it_is_empty_and_rebuilt_it_is_what_it_was(tmp_path: Path) -> None:
    log = talk(Log(), 300)
    with Opened(tmp_path, log) as index:
        index.catch_up()
        before = everything(index)
        index.drop()
        assert everything(index) == {}
        assert index.behind() == 300
        done: list[int] = []
        assert index.rebuild(done.append) == 300
        assert done[-1] == 300
        assert everything(index) == before


def test_an_index_of_another_format_is_made_again(tmp_path: Path) -> None:
    log = talk(Log(), 30)
    with Opened(tmp_path, log) as index:
        index.catch_up()
        with index.database.write() as work:
            work.run("UPDATE recall_state SET format = 99")
        again = Index(index.database, log, plain)
        assert again.behind() == 30
        again.catch_up()
        assert again.verify() == []


class Failing(Sqlite):
    """A database that fails after so many writes."""

    left = 1_000_000

    @contextmanager
    def write(self) -> Iterator[Work]:
        with super().write() as work:
            work.many = self._counted(work.many)  # type: ignore[method-assign]
            work.run = self._counted(work.run)  # type: ignore[method-assign]
            yield work

    def _counted(self, change: Any) -> Any:
        def counting(*told: Any) -> Any:
            self.left -= 1
            if self.left < 0:
                raise OSError("no more")
            return change(*told)

        return counting


@pytest.mark.parametrize("writes", range(5))
def test_a_transaction_that_fails_anywhere_leaves_a_whole_index(tmp_path: Path, writes: int) -> None:
    log = talk(Log(), 90)
    database = Failing(tmp_path / "index.db", durable=False)
    index = Index(database, log, plain)
    index.catch_up(40)
    database.left = writes
    with pytest.raises(OSError, match="no more"):
        index.catch_up()
    assert index.verify() == []
    database.left = 1_000_000
    index.catch_up()
    assert index.verify() == []
    assert index.state().messages == 90
    database.close()


KILLED = """
import os, sys
from pathlib import Path
from clew.recall import shelves
from tests.recall.log import Log, Opened
from tests.recall.test_index import talk

log, left, write = talk(Log(), 400), int(sys.argv[2]), shelves.Work
index = Opened(Path(sys.argv[1]), log).index
add, settle = shelves.add, shelves.settle
def dying(kept):
    def run(*told):
        global left
        kept(*told)
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
    return run
shelves.add, shelves.settle = dying(add), dying(settle)
while index.catch_up(30):
    pass
"""


@pytest.mark.parametrize("steps", [0, 3, 4])
def test_a_process_killed_while_it_writes_leaves_a_whole_index(tmp_path: Path, steps: int) -> None:
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(steps)], cwd=root, check=False)
    assert done.returncode == -9
    log = talk(Log(), 400)
    with Opened(tmp_path, log) as index:
        assert index.state().messages == 30 * steps
        assert index.verify() == []
        index.catch_up()
        assert index.verify() == []
        assert index.state().messages == 400


def test_two_that_catch_up_at_once_index_nothing_twice(tmp_path: Path) -> None:
    log = talk(Log(), 600)
    opened = [Opened(tmp_path, log), Opened(tmp_path, log)]
    counts: list[int] = []

    def run(index: Index) -> None:
        for _ in range(30):
            counts.append(index.catch_up(20))

    threads = [threading.Thread(target=run, args=(one.index,)) for one in opened]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    index = opened[0].index
    index.catch_up()
    assert sum(counts) <= 600
    assert index.state().messages == 600
    assert index.verify() == []
    for one in opened:
        one.database.close()


@pytest.mark.parametrize("messages", [40, 500])
def test_what_is_removed_leaves_no_word_behind(tmp_path: Path, messages: int) -> None:
    log = talk(Log(), messages)
    gone = [log.say("unspeakable secret", derived=n == 1) for n in range(3)]
    with Opened(tmp_path, log) as index:
        index.catch_up()
        log.forget(*gone)
        assert index.remove([*gone, 10**6]) == 3
        assert not [key for key in everything(index) if b"unspeakable" in key or b"secret" in key]
        assert index.state().messages == messages
        assert index.verify() == []
        index.database.settle()
        written = b"".join(path.read_bytes() for path in index.database.files() if path.exists())
        assert b"unspeakable" not in written


def test_what_is_forgotten_while_another_indexes_it_is_not_indexed(tmp_path: Path) -> None:
    log = Log()
    log.say("unspeakable")
    with Opened(tmp_path, log) as index, Opened(tmp_path, log) as other:
        read = log.behind

        def forgotten_meanwhile(mark: Mark) -> int:
            log.behind = read  # type: ignore[method-assign]
            log.forget(1)
            other.remove([1])
            return 0

        log.behind = forgotten_meanwhile  # type: ignore[method-assign]
        index.catch_up()
        assert everything(index) == {}


def test_removing_the_very_first_words_leaves_room_for_new_ones(tmp_path: Path) -> None:
    log = Log()
    first = [log.say("aardvark") for _ in range(2 * FRESH)]
    with Opened(tmp_path, log) as index:
        index.catch_up()
        log.forget(*first)
        index.remove(first)
        assert everything(index) == {}
        for n in range(2 * FRESH):
            log.say(f"abacus zebra{n}")
        index.catch_up()
        assert index.verify() == []
        assert search(index, "abacus").total == 2 * FRESH


def test_credentials_are_nowhere_in_the_index(tmp_path: Path) -> None:
    log = Log()
    log.say("the key is hunter2 and no more", blob="again hunter2 in a blob")
    log.call("login", {"password": "hunter2"})
    with Opened(tmp_path, log, veil=lambda text: text.replace("hunter2", "[REDACTED]")) as index:
        index.catch_up()
        assert not [key for key in everything(index) if b"hunter" in key]
        assert search(index, "hunter2").total == 0
        assert search(index, "redacted").total == 2
        assert all("hunter2" not in hit.snippet for hit in search(index, "key login redacted").hits)


@pytest.mark.parametrize("messages", [60, 400])
def test_verify_tells_what_is_wrong(tmp_path: Path, messages: int) -> None:
    log = talk(Log(), messages)
    with Opened(tmp_path, log) as index:
        index.catch_up()
        held = log.messages
        log.messages = held[:-1]
        assert any("in the index are not in the log" in finding for finding in index.verify())
        log.messages = held
        log.messages[3] = log.messages[3]._replace(message={"role": "user", "content": "other words"})
        assert any("lack messages" in finding for finding in index.verify())
        assert any("do not have them" in finding for finding in index.verify())
        log.messages[3] = held[3]._replace(at=-1.0)
        assert any("times" in finding for finding in index.verify())
        with index.database.write() as work:
            work.run("UPDATE recall_state SET messages = 7")
        assert any("counts 7 messages" in finding for finding in index.verify())


def test_a_blob_that_cannot_be_read_hides_nothing_else(tmp_path: Path) -> None:
    log = Log()
    log.say("before", blob="lost words")
    log.say("behind")
    log.blobs.clear()
    with Opened(tmp_path, log) as index:
        assert search(index, "before").total == search(index, "behind").total == 1

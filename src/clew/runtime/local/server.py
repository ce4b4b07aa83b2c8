"""How is llama.cpp served on this machine? In a process of its own, so that no crash of it is ours."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Timer
from types import MappingProxyType

from clew.runtime.local.trouble import NoLocalModel

CHILD = Path(__file__).with_name("child.py")
START_TIME = 300.0
"""Seconds in which the weights have to be loaded: large ones come from a cold disk."""
NO_SAMPLING: Mapping[str, float] = MappingProxyType({})

_ERROR = re.compile(r"(?m)^\S+ E +(.+)$")
"""A line of llama.cpp's log that tells an error: time, level, words."""


@contextmanager
def running(
    weights: Path,
    log: Path,
    *,
    context: int,
    threads: int,
    key: str = "",
    sampling: Mapping[str, float] = NO_SAMPLING,
    patience: float = START_TIME,
) -> Iterator[str]:
    """The address, without the /v1, of a server that ends with this block or with this process, however that ends.

    Whoever asks it needs the `key`, if there is one; `sampling` holds where a request does not say otherwise.
    """
    if not weights.is_file():
        raise NoLocalModel(f"there is no file {weights}; name a GGUF file of a chat model")
    terms = {"weights": str(weights.resolve()), "context": context, "threads": threads, "key": key}
    command = [sys.executable, "-P", str(CHILD)]
    with (
        _fresh(log) as told,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told, text=True, bufsize=1
        ) as process,
    ):
        try:
            address = _started(process, json.dumps({**terms, "sampling": dict(sampling)}), patience)
            if not address:
                raise NoLocalModel(f"{weights.name} could not be served: {_why(process, log)}; the whole log: {log}")
            yield address
        finally:
            process.kill()


@contextmanager
def _fresh(log: Path) -> Iterator[int]:
    """A new file of that name; a server that writes to the last one goes on doing so, out of sight."""
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _started(process: subprocess.Popen[str], terms: str, patience: float) -> str:
    """What it says when it is ready; nothing when it has died. The terms go in by a pipe: no list of processes shows
    the key."""
    assert process.stdin is not None
    assert process.stdout is not None
    late = Event()

    def give_up() -> None:
        late.set()
        process.kill()

    end = Timer(patience, give_up)
    end.start()
    try:
        process.stdin.write(terms + "\n")
        address = process.stdout.readline().strip()
    except BrokenPipeError:
        address = ""
    finally:
        end.cancel()
    if late.is_set():
        raise NoLocalModel(f"the local model was not ready within {patience:.0f} seconds; a smaller file loads faster")
    return address


def _why(process: subprocess.Popen[str], log: Path) -> str:
    text = log.read_text(errors="replace").strip()
    told = list(dict.fromkeys(_ERROR.findall(text))) or text.splitlines()[-1:]
    return "; ".join(told)[-600:] or f"its process ended with code {process.wait()}"

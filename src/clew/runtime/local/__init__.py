"""A model on this machine, with no network and no key: `with serving() as local:` and talk to `local.who`."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

from clew.facts.model import SMALLEST_WINDOW
from clew.runtime.endpoints import Endpoint, Secret
from clew.runtime.home import home
from clew.runtime.local.server import NO_SAMPLING, running
from clew.runtime.local.trouble import NoLocalModel
from clew.runtime.local.weights import SAMPLING, small_model
from clew.runtime.providers import Who
from clew.wire.servers import read_llama

__all__ = ["CONTEXT", "LocalModel", "NoLocalModel", "serving"]

CONTEXT = 16_384
"""Tokens of the window that is asked for: two gigabytes of memory with a model of eight billion parameters. llama.cpp
serves no more than a model was trained for; the small one takes 8,192."""
WAIT = 30.0
"""Seconds for one answer about itself from a server that has loaded its model."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that is being served here."""

    who: Who
    window: int
    """Tokens, as the server states them."""
    takes_tools: bool
    """False: its template has no place for tools, and their schemas would be left out of the prompt without a word."""


@contextmanager
def serving(
    weights: Path | None = None,
    *,
    context: int | None = None,
    threads: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Iterator[LocalModel]:
    """The model of the file `weights`, or the small one, for as long as the block lasts. NoLocalModel says what to do.

    `tell` hears what takes a while, such as the small model being fetched the first time.
    """
    if find_spec("xllamacpp") is None:
        raise NoLocalModel("the local model is not installed; run: pip install 'clew[local]'")
    file = weights.expanduser() if weights else small_model(tell)
    key = secrets.token_urlsafe(24)  # a browser's pages and the other people of this machine reach 127.0.0.1 as well
    with running(
        file,
        home() / "local.log",
        context=context or CONTEXT,
        threads=threads or _threads(),
        key=key,
        sampling=NO_SAMPLING if weights else SAMPLING,
    ) as address:
        yield _described(address, file.stem, key)


def _threads() -> int:
    """One core is left for everyone else: llama.cpp's threads wait for each other, and the slowest sets the pace."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, allowed - 1)


def _described(address: str, name: str, key: str) -> LocalModel:
    asked = Request(f"{address}/props", headers={"authorization": f"Bearer {key}"})
    with build_opener(ProxyHandler({})).open(asked, timeout=WAIT) as answer:
        told = json.load(answer)
    (served,) = read_llama(told)
    window = served.window or 0
    if window < SMALLEST_WINDOW:
        raise NoLocalModel(f"{name} takes {window:,} tokens; choose a model that takes {SMALLEST_WINDOW:,} or more")
    can = told.get("chat_template_caps", {})
    endpoint = Endpoint("local", f"{address}/v1", dialect="chat", provider="local", key=Secret(key))
    return LocalModel(Who(name, endpoint), window, bool(can.get("supports_tools")))

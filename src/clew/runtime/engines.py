"""Which engine makes room in this chat? The one the settings name, put into its seat."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clew.engines.compressor import Compressor
from clew.engines.hosted import Hosted
from clew.facts.messages import read_messages
from clew.runtime.books import Books
from clew.runtime.home import home
from clew.runtime.hooks import AFTER, BEFORE, Hooks
from clew.runtime.plugins import BadPlugin, Host, Loaded, UnknownPlugin, load
from clew.runtime.providers import Who
from clew.runtime.scales import Scale
from clew.runtime.seat import Seat
from clew.runtime.settings import KEYS, BadSettings, Settings
from clew.runtime.summarising import Summariser
from clew.runtime.windows import window_of
from clew.runtime.works import Works

OWN = "compressor"
LOADING = 60.0
"""Seconds an engine may take to load."""
LONGEST_ANSWER = 8_000
"""Tokens, where a plug-in does not say how long an answer of its model may be."""


async def seated(
    settings: Settings,
    works: Works,
    writers: list[Who],
    *,
    window: int | None = None,
    cwd: Path,
    note: Callable[[str], None],
) -> Seat:
    """The seat of the engine named by `context.engine`; BadSettings when there is none of that name.

    `writers` are asked for summaries, the first who answers; `window` is that of the first, where it is known better
    than the catalog does.
    """
    scale = Scale()
    own = Compressor(settings.policy, scale, has_summariser=True, summariser_window=_window(works, writers[0], window))
    commands = {event: settings[f"hooks.{event}"] or "" for event in (BEFORE, AFTER)}
    name = settings["context.engine"]
    if name == OWN:
        return Seat(own, hooks=Hooks(commands, cwd=cwd), note=note)
    voice = _Voice(works, writers)
    config = {key: settings[key] for key in KEYS}
    project = cwd if settings["plugins.project"] else None
    try:
        loaded = await _loaded(name, Host(home(), voice.answer, config, note, project, works.store))
    except BadPlugin as why:
        note(f"⚠ {why}\nclew's own engine, {OWN}, takes its place")
        return Seat(own, hooks=Hooks(commands, cwd=cwd), note=note)
    for told in loaded.notes:
        note(f"{name}: {told}")
    hooks = Hooks(commands, loaded.hooks, cwd)
    voice.seat = Seat(Hosted(name, loaded.engine, scale, own), plugin=loaded, name=name, hooks=hooks, note=note)
    return voice.seat


async def _loaded(name: str, host: Host) -> Loaded:
    try:
        return await asyncio.wait_for(asyncio.to_thread(load, name, host), LOADING)
    except UnknownPlugin as why:
        raise BadSettings(f"context.engine: {why}") from None
    except TimeoutError:
        raise BadPlugin(f"the engine {name} took more than {LOADING:g} s to load") from None


class _Voice:
    """The summariser, as a plug-in asks it: from a thread of its own, waiting for the answer."""

    seat: Seat

    def __init__(self, works: Works, writers: list[Who]) -> None:
        books = Books(works.store, works.catalog)
        self._loop = asyncio.get_running_loop()
        self._summariser = Summariser(
            works.transport, writers, lambda who, answer: books.enter(self.seat.session, who, answer, "summary")
        )

    def answer(self, messages: list[dict[str, Any]], max_tokens: int | None = None) -> str:
        said = read_messages(messages)
        asking = self._summariser.answer(said, max_tokens or LONGEST_ANSWER)
        answer = asyncio.run_coroutine_threadsafe(asking, self._loop).result()
        if answer is None:
            raise RuntimeError("no model answered; it is asked again in a while")
        return answer


def _window(works: Works, writer: Who, stated: int | None) -> int:
    """Tokens that a prompt of the summariser may have."""
    provider, place = writer.endpoint.provider, writer.endpoint.base_url
    return window_of(
        writer.model, place, provider=provider, stated=stated, catalog=works.catalog, store=works.store
    ).size

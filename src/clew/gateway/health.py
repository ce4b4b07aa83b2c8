"""Is the gateway alive, and is it of use: can it write, can it reach its providers?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from clew.gateway.rules import Place
from clew.store.store import Store
from clew.store.trouble import StoreError

LASTS = 5.0
"""Seconds that an answer is good for: many may ask."""
WAIT = 3.0


class Health:
    """Looks, and remembers for a moment what it saw."""

    def __init__(self, store: Store, no_one_writes: Callable[[], bool]) -> None:
        self._store = store
        self._no_one_writes = no_one_writes
        self._seen: tuple[float, dict[str, str]] = (0.0, {})

    async def troubles(self, places: Iterable[Place]) -> dict[str, str]:
        """What is out of order, by its name; empty when all is well."""
        at, seen = self._seen
        if not at or time.monotonic() - at > LASTS:
            hosts = {place.base: place for place in places}.values()
            found = await asyncio.gather(self._store_trouble(), *(_unreachable(place) for place in hosts))
            seen = {name: why for name, why in found if why}
            self._seen = (time.monotonic(), seen)
        return {**seen, "scribe": "it is gone; another will take its place"} if self._no_one_writes() else seen

    async def _store_trouble(self) -> tuple[str, str]:
        try:
            await asyncio.to_thread(self._store.database.glance.one, "SELECT 1")
        except StoreError as wrong:
            return "store", str(wrong)
        return "store", ""


async def _unreachable(place: Place) -> tuple[str, str]:
    address = urlsplit(place.base)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        async with asyncio.timeout(WAIT):
            _, writer = await asyncio.open_connection(address.hostname, port)
        writer.close()
    except (OSError, TimeoutError) as wrong:
        return f"upstream {address.hostname}", type(wrong).__name__
    return f"upstream {address.hostname}", ""

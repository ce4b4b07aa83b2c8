"""How large is this model's window here? What is known of it, lowered by what its provider once stated."""

from __future__ import annotations

from clew.facts.model import Window
from clew.store.store import Store
from clew.wire.catalog import Catalog

UNKNOWN = 128_000
"""Tokens for a model no one knows: what most of today's take. Too large a guess costs one refused call, which is then
learned; too small a one would compact for nothing, for ever."""

MOST_OUTPUT = 4
"""A reply may take one part in so many of a window, however large a model's cap on it is."""


def window_of(
    model: str,
    endpoint: str,
    *,
    provider: str | None = None,
    stated: int | None = None,
    reserved_output: int = 0,
    catalog: Catalog,
    store: Store | None = None,
) -> Window:
    """The window to work in. `stated` is the person's own word, which is believed before the catalog's."""
    facts = catalog.find(model, provider)
    room = facts.room(reserved_output) if facts else None
    known = Window(stated, reserved_output) if stated else room or Window(UNKNOWN, reserved_output)
    learned = [
        one.window
        for one in (store.learned_windows() if store else ())
        if (one.endpoint, one.model) == (endpoint, model)
    ]
    size = min([known.size, *learned])
    return Window(size, min(known.reserved_output, size // MOST_OUTPUT))

"""Which engine makes room in this chat? The one the settings name, put into its seat."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from clew.engines.compressor import Compressor
from clew.runtime.hooks import AFTER, BEFORE, Hooks
from clew.runtime.scales import Scale
from clew.runtime.seat import Seat
from clew.runtime.settings import BadSettings, Settings


def seated(settings: Settings, *, summariser_window: int, cwd: Path, note: Callable[[str], None]) -> Seat:
    """The seat of the engine named by `context.engine`; BadSettings when there is none of that name."""
    own = Compressor(settings.policy, Scale(), has_summariser=True, summariser_window=summariser_window)
    commands = {event: settings[f"hooks.{event}"] or "" for event in (BEFORE, AFTER)}
    hooks = Hooks(commands, cwd=cwd)
    name = settings["context.engine"]
    if name != "compressor":
        raise BadSettings(f"there is no engine {name!r}; there is: compressor")
    return Seat(own, hooks=hooks, note=note)

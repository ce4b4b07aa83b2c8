"""A provider on this machine, for tests and for measuring: `ProviderSimulator`, and what can go wrong with it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clew.testing.simulator.accounts import Bill, Prices
    from clew.testing.simulator.endpoint import Asked
    from clew.testing.simulator.faults import (
        BrokenStream,
        Chunks,
        ContentType,
        Drip,
        Empty,
        Fault,
        HalfStream,
        HangUp,
        KeepAlives,
        Malformed,
        Reset,
        Stall,
        Status,
    )
    from clew.testing.simulator.script import Line
    from clew.testing.simulator.simulator import ProviderSimulator

__all__ = [
    "Asked",
    "Bill",
    "BrokenStream",
    "Chunks",
    "ContentType",
    "Drip",
    "Empty",
    "Fault",
    "HalfStream",
    "HangUp",
    "KeepAlives",
    "Line",
    "Malformed",
    "Prices",
    "ProviderSimulator",
    "Reset",
    "Stall",
    "Status",
]

_HOMES = {
    "Asked": "endpoint",
    "Bill": "accounts",
    "Line": "script",
    "Prices": "accounts",
    "ProviderSimulator": "simulator",
}


def __getattr__(name: str) -> Any:
    """Loaded when it is first used: the cache's rules are of use without a server."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'faults')}"), name)

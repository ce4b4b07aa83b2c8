"""For people who write engines, stores and agents: a scripted model, a simulated provider, and contracts to keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.testing.engine import check_engine
from clew.testing.script import Script
from clew.testing.store import check_store

if TYPE_CHECKING:
    from clew.testing.simulator import ProviderSimulator

__all__ = ["ProviderSimulator", "Script", "check_engine", "check_store"]


def __getattr__(name: str) -> Any:
    """The simulator is loaded when it is first used: it brings an HTTP server along."""
    if name != "ProviderSimulator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from clew.testing.simulator import ProviderSimulator
    except ModuleNotFoundError as error:
        if error.name != "uvicorn":
            raise
        raise ModuleNotFoundError("ProviderSimulator needs uvicorn; pip install uvicorn", name="uvicorn") from error
    return ProviderSimulator

"""For people who write engines and stores: a scripted model, and the contracts that each of them has to keep."""

from __future__ import annotations

from clew.testing.engine import check_engine
from clew.testing.script import Script
from clew.testing.store import check_store

__all__ = ["Script", "check_engine", "check_store"]

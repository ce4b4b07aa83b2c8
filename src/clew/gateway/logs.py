"""One line of JSON for each request: what happened, never what was said, never with what key."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import orjson

from clew.core.redact import redact

Log = Callable[..., None]


def to_stderr(event: str, **fields: Any) -> None:
    """Write one line. Fields that are None are left out."""
    sys.stderr.write(line(event, fields))


def line(event: str, fields: dict[str, Any]) -> str:
    """The line: `at` in seconds since 1970, the event, its fields; free text without anything like a credential."""
    kept = {name: redact(value) if name == "why" else value for name, value in fields.items() if value is not None}
    return orjson.dumps({"at": round(time.time(), 3), "event": event, **kept}, default=str).decode() + "\n"

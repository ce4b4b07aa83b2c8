"""When was that, and which moment does a person mean by `3d` or `2026-11-01 14:00`?"""

from __future__ import annotations

import re
import time
from datetime import datetime

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGO = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhdw])", re.IGNORECASE)
_STEPS = (
    (60, 1, "s"),
    (3_600, 60, "min"),
    (86_400, 3_600, "h"),
    (60 * 86_400, 86_400, "d"),
    (730 * 86_400, 2_629_746, "mo"),
)
"""Up to so many seconds, told in units of so many seconds."""


def age(at: float, now: float | None = None) -> str:
    """How long ago: `3 h ago`."""
    seconds = (time.time() if now is None else now) - at
    if seconds < 1:
        return "now"
    for most, unit, name in _STEPS:
        if seconds < most:
            return f"{int(seconds // unit)} {name} ago"
    return f"{int(seconds // 31_556_952)} y ago"


def moment(at: float) -> str:
    """The minute, on the clock of whoever looks."""
    when = _date(at)
    return when.strftime("%Y-%m-%d %H:%M") if when else "?"


def clock(at: float) -> str:
    """The second of the day."""
    when = _date(at)
    return when.strftime("%H:%M:%S") if when else "?"


def exact(at: float | None) -> str | None:
    """The same for a program: ISO 8601 with its offset."""
    when = None if at is None else _date(at)
    return when.isoformat(timespec="seconds") if when else None


def midnight(days_ago: int = 0, now: float | None = None) -> float:
    """When the day so many days ago began."""
    today = datetime.fromtimestamp(time.time() if now is None else now)
    return datetime.fromordinal(max(today.toordinal() - days_ago, 1)).timestamp()


def read_when(text: str, now: float | None = None) -> float:
    """A moment as people write it: a date, a date and a time, or how long ago. ValueError for anything else."""
    ago = _AGO.fullmatch(text.strip())
    if ago:
        return (time.time() if now is None else now) - float(ago[1]) * _SECONDS[ago[2].lower()]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{text!r} is no moment clew knows; write 2026-11-01, '2026-11-01 14:00', 3d or 12h") from None


def _date(at: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(at).astimezone()
    except (ValueError, OverflowError, OSError):  # a clock that was wrong by millennia
        return None

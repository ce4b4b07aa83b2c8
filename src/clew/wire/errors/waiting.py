"""How long does a provider ask us to wait? There is no clock here: a date is read against the reply's `date` header."""

from __future__ import annotations

import re
from calendar import timegm
from collections.abc import Iterator, Mapping
from email.utils import mktime_tz, parsedate_tz
from typing import Any

LONGEST = 31 * 86_400.0
"""Seconds. A longer wait is a moment misread."""
SECONDS = {"milli": 0.001, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
"""By how the unit begins."""
MILLISECONDS_FROM = 1e12
"""A moment since 1970 above this counts milliseconds."""


def seconds_to_wait(headers: Any, text: str, *, paced: bool) -> float | None:
    """What the headers or the words ask for; when `paced`, the reset of a quota counts as well."""
    named = _named(headers)
    now = _moment(named.get("date", ""))
    asked = (
        _number(named.get("retry-after-ms", ""), 0.001),
        _number(named.get("retry-after", "")),
        _until(named.get("retry-after", ""), now),
        _in_words(text),
        max(_resets(named, now), default=None) if paced else None,
    )
    return next((seconds for seconds in asked if seconds is not None and 0 <= seconds <= LONGEST), None)


def _named(headers: Any) -> dict[str, str]:
    """By their names in lower case; {} for whatever are no headers."""
    try:
        pairs = list(headers.items() if hasattr(headers, "items") else headers or ())[:200]
        return {_word(name).lower(): _word(value).strip()[:200] for name, value in pairs}
    except Exception:  # headers are of any client's type, and may fail in any way
        return {}


def _word(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _number(text: str, scale: float = 1.0) -> float | None:
    return float(text) * scale if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text, re.ASCII) else None


def _until(text: str, now: float | None) -> float | None:
    moment = _moment(text)
    return max(moment - now, 0.0) if moment is not None and now is not None else None


def _moment(text: str) -> float | None:
    """Seconds since 1970 of an HTTP date or of RFC 3339."""
    try:
        if found := _RFC_3339.match(text):
            year, month, day, hour, minute, second = (int(number) for number in found.groups()[:6])
            ahead = int(f"{found[7]}1") * (int(found[8]) * 3_600 + int(found[9]) * 60) if found[7] else 0
            return float(timegm((year, month, day, hour, minute, second)) - ahead)
        parsed = parsedate_tz(text) if text else None
        return float(mktime_tz(parsed)) if parsed else None
    except (ValueError, OverflowError, IndexError, TypeError):  # a fortieth of May
        return None


def _resets(named: Mapping[str, str], now: float | None) -> Iterator[float]:
    """The waits of the quotas that are used up, or of all when none says how much is left."""
    names = [name for name in named if "ratelimit" in name.replace("-", "") and "reset" in name]
    empty = [name for name in names if _number(named.get(name.replace("reset", "remaining"), "")) == 0]
    for name in empty or names:
        seconds = _reset(named[name], now)
        if seconds is not None:
            yield seconds


def _reset(text: str, now: float | None) -> float | None:
    """A duration such as "6m0s" or "12", or a moment."""
    if _DURATION.fullmatch(text):
        return _added_up(text)
    if not re.fullmatch(r"\d{10}(?:\d{3})?(?:\.\d{1,9})?", text, re.ASCII):
        return _number(text) if len(text) < 10 else _until(text, now)
    moment = float(text) / (1_000 if float(text) >= MILLISECONDS_FROM else 1)
    return max(moment - now, 0.0) if now is not None else None


def _in_words(text: str) -> float | None:
    if field := _FIELD.search(text):
        return _added_up(field[1]) if field[2] else float(field[1])
    asked = _ASKED.search(text)
    return _added_up(asked[1]) if asked else None


def _added_up(text: str) -> float:
    """ "1m30s" is 90."""
    return round(sum(float(number) * SECONDS[unit.lower()] for number, unit in _STEP.findall(text)), 6)


_AMOUNT = r"\d{1,9}(?:\.\d{1,12})?"
_STEP = re.compile(rf"({_AMOUNT})\s?(milli|ms|s|m|h|d)", re.I | re.ASCII)
_DURATION = re.compile(rf"(?:{_AMOUNT}(?:ms|s|m|h|d)){{1,5}}", re.I | re.ASCII)
_FIELD = re.compile(
    rf"(?:retry_?delay|retry[-_]?after(?:_seconds)?|resets_in_seconds)\W{{1,4}}({_AMOUNT}(s|ms)?)(?![\w.]*\d)",
    re.I | re.ASCII,
)
"""In a body: retryDelay, retry_after."""
_ASKED = re.compile(
    r"(?:again|retry|wait|resets?|available)\W{1,2}(?:(?:in|after|for|at least|about)\W{1,2}){0,3}"
    rf"((?:{_AMOUNT}\s?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])\s?){{1,4}})",
    re.I | re.ASCII,
)
"""In words: "try again in 4.77s", "retry after 7 seconds"."""
_RFC_3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[t ](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:z|([+-])(\d\d):(\d\d))?", re.I | re.ASCII
)

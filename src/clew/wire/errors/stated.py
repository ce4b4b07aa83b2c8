"""Which number of an error is the limit, which the prompt, which the output?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clew.wire.errors.lexicon import pattern
from clew.wire.errors.mentions import Mention, Standing, mentions


@dataclass(frozen=True, slots=True)
class Stated:
    """The numbers of an error, by what they stand for."""

    limit: int | None = None
    """Of the window, or of the prompt."""
    ceiling: int | None = None
    """Of the output alone."""
    used: int | None = None
    output: int | None = None
    elsewhere: int | None = None
    """A limit that counts something other than tokens and bytes."""
    size_limit: int | None = None
    """In bytes."""
    size: int | None = None

    @property
    def contradicts(self) -> bool:
        """Whether what was sent is more than what is allowed."""
        return self.limit is not None and (self.used or 0) + (self.output or 0) > self.limit


def read_numbers(text: str) -> Stated:
    """The numbers of a plain text.

    >>> stated = read_numbers("at most 8192 tokens, you requested 9000 (8000 in the messages, 1000 in the output)")
    >>> stated.limit, stated.used, stated.output
    (8192, 8000, 1000)
    """
    known, rest = _inequality(text)
    found = [mention for mention in mentions(rest) if mention.value >= 0]
    counted = [mention for mention in found if not mention.unit]
    limits = [mention for mention in counted if mention.standing == "limit"]
    windows = [limit.value for limit in limits if limit.measure != "output"]
    ceilings = [limit.value for limit in limits if limit.measure == "output"]
    used, output = _consumed(counted, only_output=bool(ceilings) and not windows)
    if windows and used is None and output is None:
        windows, used = _told_apart(windows, counted)
    return Stated(
        limit=known.limit or _first(windows),
        ceiling=_first(ceilings),
        used=known.used or used,
        output=known.output or output,
        elsewhere=_first([each.value for each in found if each.standing == "limit" and _THINGS.match(each.unit)]),
        size_limit=_bytes(found, "limit"),
        size=_bytes(found, "actual"),
    )


def _inequality(text: str) -> tuple[Stated, str]:
    """What "U + O > L" or "O > L - U" says by itself, and the text without it."""
    if found := _SUM.search(text):
        used, output, limit = (int(number) for number in found.groups())
    elif found := _DIFFERENCE.search(text):
        output, limit, used = (int(number) for number in found.groups())
    else:
        return Stated(), text
    return Stated(limit=limit, used=used, output=output), f"{text[: found.start()]} {text[found.end() :]}"


def _consumed(counted: Sequence[Mention], *, only_output: bool) -> tuple[int | None, int | None]:
    """The prompt's tokens and the output's."""
    actual = [each for each in counted if each.standing == "actual"]
    if only_output:
        return None, _first([each.value for each in actual])
    output = _first([each.value for each in actual if each.measure == "output"])
    total = _first([each.value for each in actual if each.measure == "total"])
    parts = {(each.value, each.part) for each in actual if each.part and each.measure == "input"}
    if parts:  # a set, because gateways say the same sentence twice
        return sum(value for value, _ in parts), output
    direct = [each.value for each in actual if each.measure in ("input", "window", "unknown")]
    if not direct and total is not None and output is not None and total > output:
        return total - output, output
    return _first(direct) or total, output


def _told_apart(windows: list[int], counted: Sequence[Mention]) -> tuple[list[int], int | None]:
    """Two limits are a limit and what went beyond it; so is the one number beside a limit that no word explains."""
    if len(set(windows)) > 1:
        return [min(windows)], max(windows)
    beyond = {each.value for each in counted if each.standing == "none" and each.value > windows[0]}
    return windows, beyond.pop() if len(beyond) == 1 else None


def _bytes(found: Sequence[Mention], standing: Standing) -> int | None:
    """Only an exact count: "5 MB" is rounded, and may mean either of two numbers."""
    return _first([each.value for each in found if each.standing == standing and each.unit.startswith("byte")])


def _first(values: Sequence[int]) -> int | None:
    return values[0] if values else None


_SUM = re.compile(r"(?<![\w.-])(\d{1,9})\s?\+\s?(\d{1,9})\s?(?:tokens\s)?(?:>=?|≥|exceeds?)\s?(\d{1,9})(?![\w.]*\w)")
_DIFFERENCE = re.compile(r"(?<![\w.-])(\d{1,9})\s?>=?\s?(\d{1,9})\s?-\s?(\d{1,9})(?![\w.]*\w)")
_THINGS = pattern(r"(?!bytes?|[kmg]i?b|%|percent)\w")

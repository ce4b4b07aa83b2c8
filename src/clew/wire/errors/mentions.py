"""What do the words beside a number say of it: is it what is allowed or what there was, and of what?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias, cast

from clew.wire.errors.lexicon import (
    ACTUAL,
    COMPARE,
    EXCEED,
    INPUT,
    LEAST,
    LIMIT,
    OUTPUT,
    TOKEN,
    TOTAL,
    UNITS,
    WINDOW,
    pattern,
)

Standing: TypeAlias = Literal["limit", "actual", "least", "delta", "code", "none"]
Measure: TypeAlias = Literal["window", "input", "output", "total", "unknown"]

NUMBERS = 20
"""Numbers read at each end of an error; those between are of a trace, a table or an echo."""
ERROR_NUMBERS = 4_096
"""A bare number in parentheses below this, where no tokens are spoken of, is the error's own: MiniMax ends
"context window exceeds limit (2013)" for overflows of any size."""


class Mention(NamedTuple):
    """A number of a text and what its neighbours say of it."""

    value: int
    standing: Standing
    measure: Measure
    part: str
    """The words of an enumeration it belongs to: "in the messages"."""
    unit: str
    """What it counts when that is not tokens."""


class _Place(NamedTuple):
    """Where a number stands: the words on both sides, up to the next number or the end of the sentence."""

    value: int
    left: str
    right: str
    before: str
    """The text before it, over the ends of sentences."""


def mentions(text: str) -> Iterator[Mention]:
    """The numbers of a plain text, in its order."""
    for place in _places(text):
        part = _PART_OUTPUT.match(place.right) or _PART_INPUT.match(place.right)
        unit = None if part else _UNIT.match(place.right)
        standing = _standing(place)
        yield Mention(
            place.value, standing, _measure(place, standing), part[0] if part else "", unit[1] if unit else ""
        )


def _places(text: str) -> Iterator[_Place]:
    found = list(_NUMBER.finditer(text))
    found = found if len(found) <= 2 * NUMBERS else [*found[:NUMBERS], *found[-NUMBERS:]]
    for place, number in enumerate(found):
        behind = found[place - 1].end() if place else 0
        ahead = found[place + 1].start() if place + 1 < len(found) else len(text)
        left = _SENTENCE_END.split(text[max(behind, number.start() - 160) : number.start()])[-1]
        scale = _SCALE.get(number[2] or "", 0)
        right = ("" if scale else number[2] or "") + text[number.end() : min(ahead, number.end() + 120)]
        value = int(float(number[1]) * (scale or 1))
        yield _Place(value, left, _SENTENCE_END.split(right)[0], text[max(number.start() - 200, 0) : number.start()])


def _standing(place: _Place) -> Standing:
    """Whether a number is what is allowed or what there was: what follows it decides before what precedes it."""
    left, right = place.left, place.right
    if _DELTA_BEFORE.search(left) or _DELTA_AFTER.match(right):
        return "delta"
    if _CODE.search(left) or _is_status(place) or _is_error_number(place):
        return "code"
    if _LIMIT_AFTER.match(right) or (_PER_AFTER.match(right) and not _ACTUAL.search(left)):
        return "limit"
    if _COMPARED_AFTER.match(right) or _TOO_MUCH_BEFORE.search(left):
        return "actual"
    cue = _last(_CUE, left)
    if cue is not None:
        return cast(Standing, cue.lastgroup)
    return _standing_without_cue(left, right)


def _is_status(place: _Place) -> bool:
    return 400 <= place.value <= 599 and bool(_AT_START.search(place.left)) and not place.right.startswith(" token")


def _is_error_number(place: _Place) -> bool:
    bare = place.value < ERROR_NUMBERS and _BARE.search(place.left)
    return bool(bare) and not _TOKEN.search(place.before) and not _TOKEN.search(place.right)


def _standing_without_cue(left: str, right: str) -> Standing:
    if _PART_INPUT.match(right) or _PART_OUTPUT.match(right) or _GIVEN_SOON.match(right):
        return "actual"
    if _ALLOWED_SOON.match(right):
        return "limit"
    noun = _last(_NOUN, left)
    if noun is not None and noun.lastgroup == "window":
        return "limit"
    return "actual" if noun is not None or _TOKEN.search(left) else "none"


def _measure(place: _Place, standing: Standing) -> Measure:
    """What a number counts: the nearest noun decides, the one right behind it first."""
    if _PART_OUTPUT.match(place.right):
        return "output"
    if _PART_INPUT.match(place.right):
        return "input"
    if standing == "limit" and _BOTH.search(place.left):
        return "window"
    nouns = _NOUN if standing == "actual" else _THING  # a limit is never on what was requested
    noun = _last(nouns, place.left) or (nouns.search(place.right) if standing == "limit" else None)
    if noun is None and not _EITHER.search(place.before):
        noun = _last(nouns, place.before)
    return cast(Measure, noun.lastgroup) if noun else "unknown"


def _last(words: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(words.finditer(text), key=re.Match.start, default=None)


_NUMBER = re.compile(
    r"(?<![a-z0-9_.#])(?<![a-z]-)(?<!\d[-:])(?<![a-z]/)(-?\d{1,12}(?:\.\d{1,6})?)(k|m|万|[kmg]b|m?s)?(?![a-z0-9_]|[.:-]\d)"
)
"""Not the digits of a model's name, a date, an hour, a version or an id."""
_SCALE = {"k": 1_000, "m": 1_000_000, "万": 10_000}
_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)|。")

_TOKENS = r"(?:input |prompt |output |total |completion )?(?:tokens?|jetons?|个 ?tokens?|トークン|토큰)"
_TOKEN = pattern(TOKEN)
_ACTUAL = pattern(ACTUAL)
_THING = pattern(f"(?P<output>{OUTPUT})|(?P<window>{WINDOW})|(?P<input>{INPUT})")
_NOUN = pattern(f"{_THING.pattern}|(?P<total>{TOTAL})")
_CUE = pattern(f"(?P<least>{LEAST})|(?P<actual>{ACTUAL})|(?P<limit>{LIMIT}|{EXCEED}|{COMPARE})")
_UNIT = pattern(rf"[\s)-]*(?:\w+ )?({UNITS})")

_BOTH = pattern(rf"(?:{INPUT})[^.]*(?:\+|and|plus|与|和)[^.]*(?:{OUTPUT})")
"""A limit on the sum is the window's."""
_EITHER = pattern(rf"(?:{INPUT})\W+(?:or|and|/)\W+(?:the )?(?:{OUTPUT})")
"""Advice that names both says nothing about the numbers behind it."""

_DELTA_BEFORE = pattern(r"\bby(?: about| at least)?\s*$|超出了?\s*$")
_DELTA_AFTER = pattern(rf"[\s)]*{_TOKENS} (?:over|too (?:many|long|large)|beyond|more than)\b")
_CODE = pattern(
    r"(?:\b(?:code|status|http|id|ref|line|version|retried|retries|attempts?|again in)|error)[\s:=(#]*$"
    r"|(?:retry|resets?|wait|delay)\w*[\s:=]+(?:after |for |in )?$"
)
"""The number of something that is not counted: a status, an id, a wait."""
_AT_START = pattern(r"(?:^|[-:<])\s?$")
_BARE = pattern(r"[a-z] \($")
_TOO_MUCH_BEFORE = pattern(rf"(?:{EXCEED})\w*\s?[:(]\s?$")
_LIMIT_AFTER = pattern(
    r"[\s-]*(?:tokens?|トークン|토큰)?[\s-]*"
    r"(?:maximum|max\b|limit|context|window|allowed|cap\b|supported|permitted|を超|[를을] ?초과)"
)
_PER_AFTER = pattern(r"\s*\w*\s*(?:/ ?|per )(?:min|day|hour|sec|month|week)")
_COMPARED_AFTER = pattern(
    rf"[\s)]*(?:{_TOKENS}|bytes|characters|pixels)?[\s),;:]*(?:(?:which|that|it|this|and|et|und|y|e|already) )?"
    r"(?:(?:is|are|was|were|has|would|does) )?(?:exceeds?\b|exceeding|exceeded (?:the|our|this|model|max|limit|context)"
    r"|>|≥|longer than|larger than|greater than|more than|bigger than|higher than|above|over\b|beyond|surpass|not less"
    r"|must (?:not exceed|be less|be <|be smaller)|cannot exceed|do(?:es)?(?: not|n't) fit|already fill"
    r"|超过|超出|を超|초과|превыш|dépass|überschreit|exced)"
)
_ALLOWED_SOON = pattern(
    rf"[\s)]*(?:{_TOKENS})?[\s)]*(?:\w+ )?(?:max(?:imum)?\b|allowed|permitted|supported|erlaubt|permitid|autoris)"
)
_GIVEN_SOON = pattern(
    rf"[\s)]*(?:{_TOKENS})?[\s),]*(?:were |was )?(?:given|requested|provided|received|sent|used|found)"
)
_PART_OUTPUT = pattern(
    r"[\s)]*(?:max_(?:new_|completion_|output_)?tokens|(?:output|completion|generated|response) tokens?"
    r"|(?:tokens? )?(?:in|for|of|from|as) (?:the |your |requested )?(?:output|completion|generat|response))"
)
_PART_INPUT = pattern(
    r"[\s)]*(?:(?:inputs?|prompt|messages?|functions?|tools?) tokens?"
    r"|(?:tokens? )?(?:in|for|of|from) (?:the |your )?(?:text |tool |image |audio |video |file |user |system )?"
    r"(?:inputs?|prompt|messages?|functions?|tools?|conversation)(?![a-z]))"
)

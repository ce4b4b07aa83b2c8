"""How does a text read when every number is digits alone, and every range its upper end?"""

from __future__ import annotations

import re
import unicodedata


def plain(text: str) -> str:
    """Lower case, in one line, without quotes.

    >>> plain('Range of `max_tokens` is [1, 8192]; you sent 128,000')
    'range of max_tokens is  limit 8192 ; you sent 128000'
    """
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    text = _BROKEN.sub("", text)
    text = _QUOTES.sub("", _SPACE.sub(" ", text))
    text = _SHORT_FORM.sub(r"\1", _STATUS.sub("", text))
    for grouped in _GROUPED:
        text = grouped.sub(lambda found: re.sub(r"\D", "", found[0]), text)
    return _RANGE.sub(_upper_end, text)


def _upper_end(found: re.Match[str]) -> str:
    number = int(found["list"] or found["to"] or found["between"] or found["dash"])
    left_out = found["close"] == ")" or "exclusive" in (found["open"] or "")
    return f" limit {number - left_out} "


_BROKEN = re.compile(r"(?<=\d),\n(?=\d{3}(?!\d))|(?<!\b[45]\d\d)(?<=\d)\n(?=\d)", re.ASCII)
"""Where a terminal wrapped a line inside a number; what looks like a status is none."""
_SPACE = re.compile(r"\s+")
_QUOTES = re.compile(r"[`\"“”*]|(?<![a-z])'|'(?![a-z])")
_SHORT_FORM = re.compile(r"\b(max|min|approx|ca|no)\.(?=\s)")
_STATUS = re.compile(
    r"^(?:\W*(?:\w*error\W+)?(?:(?:error )?code\W+|https?\W+|status\W+)?[1-5]\d\d(?![\w.,]*\w|\s*(?:tokens|\d{3}\b)))+",
    re.ASCII,
)
"""What SDKs write before the provider's words: "Error code: 400 -", "400 <400>"."""
_GROUPED = (
    re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3}){1,4}(?!\d)", re.ASCII),  # 128,000
    re.compile(r"(?<![\w.,])[1-9]\d{0,2}(?: \d{3}){1,4}(?!\d)", re.ASCII),  # 128 000
    re.compile(r"(?<![\w.,])[1-9]\d{0,2}(?:[_']\d{3}){1,4}(?!\d)", re.ASCII),  # 128_000
    re.compile(r"(?<![\w.,-])[1-9]\d{0,2}(?:\.\d{3}){1,4}(?![\d.]*\d|\s?(?:s|ms|sec|[kmg]i?b|%))", re.ASCII),  # 128.000
)
_RANGE = re.compile(
    r"[\[(]\s?[01]\s?[,;~-]\s?(?P<list>\d{1,12})\s?(?P<close>[\])])"
    r"|from [01](?: \(?inclusive\)?)? to (?P<to>\d{1,12})(?P<open> \(?exclusive\)?| \(?inclusive\)?)?"
    r"|between [01] and (?P<between>\d{1,12})"
    r"|(?<![\w.-])[01]\s?(?:-|~|–|to|至|到)\s?(?P<dash>\d{3,12})(?![\w-]|\.\d)",
    re.ASCII,
)

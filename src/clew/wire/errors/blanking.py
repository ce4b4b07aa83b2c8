"""What may be shown of a provider's words? A line of them, without keys and without names of accounts."""

from __future__ import annotations

import re

from clew.wire.errors.envelope import Told

SHOWN = 300
"""Characters."""


def shown(told: Told) -> str:
    """The provider's own words, those meant for people before a dump of fields; its codes where there are no words."""
    prose = [sentence for sentence in told.sentences if "{" not in sentence]
    text = " · ".join(prose or told.sentences or sorted(told.codes))[: 4 * SHOWN]
    blanked = _SECRET.sub("…", re.sub(r"\s+", " ", text).strip())
    return blanked if len(blanked) <= SHOWN else blanked[: SHOWN - 1] + "…"


_SECRET = re.compile(
    r"\b(?:bearer|basic)\s+[\w.~+/=-]{6,}"
    r"|\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|nvapi|key|org|proj|acct|user|req|toolu)[-_](?=[\w*-]*[\d*])[\w*-]{6,}"
    r"|\bapi[-_ ]?key['\"]?\s?[:=]\s?['\"]?[\w.-]{6,}"
    r"|\b(?:aiza|akia|asia|eyj)[\w.-]{12,}"
    r"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|\b(?=[a-z_]*\d)(?=\d*[a-z_])\w{32,}\b"
    r"|(?<=\?)[\w.%-]+=[^\s'\"<>)]+",
    re.I,
)
"""Keys by their prefixes, tokens by their header, ids by their length, whatever stands in the query of an address."""

"""What a big text looks like, in a few lines: the fields of data, the names in code, both ends and errors of a log."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from clew.core.redact import redact
from clew.engines.actions import one_line, size_of

MOST = 480
"""Characters of a shape."""
FIELDS, NAMES, LINES = 12, 12, 3
LONGEST_JSON = 4_000_000
"""Characters of JSON that are read for their shape."""

_SIGNATURE = re.compile(
    r"^[ \t]*(?:(?:export|default|public|private|protected|static|async|abstract|pub(?:\([a-z]+\))?)\s+)*"
    r"((?:def|class|function|func|fn|struct|enum|interface|trait|impl|type|module|package)\s+[^\n{;]{2,100})",
    re.MULTILINE,
)
_NUMBERED = re.compile(r"^[ \t]*\d+[|→:\t ][ \t]?", re.MULTILINE)
_ERROR = re.compile(
    r"^[^\n]*(?:\b\w*(?:Error|Exception)\b|\berror\b|\bERROR\b|\bFAILED\b|\bfatal\b|\bpanic\b)[^\n]*", re.MULTILINE
)
_WARNING = re.compile(r"\bwarn(?:ing)?\b", re.IGNORECASE)
_SEPARATORS = (",", "\t", ";", "|")


def shape_of(text: str) -> str:
    """The shape of a text; credentials are not part of it."""
    told = _data(text) or _table(text) or _code(text) or _log(text)
    return redact(told)[:MOST]


def _data(text: str) -> str:
    """JSON, or one JSON object a line."""
    start = text.lstrip()[:1]
    if start not in ("{", "[") or len(text) > LONGEST_JSON:
        return ""
    try:
        return f"JSON: {_value(json.loads(text))}"
    except (ValueError, RecursionError):
        pass
    lines = text.splitlines()
    try:
        first = json.loads(lines[0])
    except (ValueError, RecursionError):
        return ""
    return f"JSON lines: {len(lines):,}, the first {_value(first)}" if len(lines) > 1 else ""


def _value(value: Any, depth: int = 2) -> str:
    match value:
        case dict() if depth:
            inner = ", ".join(f"{key}: {_value(field, depth - 1)}" for key, field in list(value.items())[:FIELDS])
            more = f", … {len(value):,} fields" if len(value) > FIELDS else ""
            return f"{{{inner}{more}}}"
        case dict():
            return f"object of {len(value):,}"
        case list() if value and depth:
            return f"{len(value):,} × {_value(value[0], depth - 1)}"
        case list():
            return f"list of {len(value):,}"
        case str():
            return f"“{one_line(value, 24)}”"
        case _:
            return json.dumps(value)


def _table(text: str) -> str:
    """Lines with the same number of fields."""
    lines = text.split("\n", 40)[:40]
    some = [line for line in lines[:-1] if line.strip()]
    for mark in _SEPARATORS:
        counts = Counter(line.count(mark) for line in some)
        if len(some) >= 4 and counts and (usual := counts.most_common(1)[0])[0] >= 1 and usual[1] >= 0.9 * len(some):
            columns = ", ".join(one_line(name, 24) for name in some[0].split(mark)[:FIELDS])
            return f"table of {size_of(text)}, {usual[0] + 1} columns: {columns}; first row: {one_line(some[1], 120)}"
    return ""


def _code(text: str) -> str:
    """The names that code defines."""
    names = _SIGNATURE.findall(_NUMBERED.sub("", text))
    if len(names) < 2:
        return ""
    shown = "; ".join(one_line(name, 60) for name in names[:NAMES])
    return f"code, {size_of(text)}, {len(names):,} definitions: {shown}{'; …' if len(names) > NAMES else ''}"


def _log(text: str) -> str:
    """Both ends, and what went wrong between them."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return size_of(text)
    errors = list(dict.fromkeys(one_line(line, 120) for line in _ERROR.findall(text)))
    told = [size_of(text)]
    if errors:
        told.append(f"{len(errors):,} lines with errors, such as: {' ⏎ '.join(errors[:LINES])}")
    if warnings := len(_WARNING.findall(text)):
        told.append(f"{warnings:,} warnings")
    told.append(f"begins: {one_line(lines[0], 100)}")
    if len(lines) > 1:
        told.append(f"ends: {one_line(lines[-1], 100)}")
    return "; ".join(told)

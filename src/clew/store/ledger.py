"""What every call of a provider took, and what that comes to by session, day, model, tool or delegation."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from clew.facts.usage import Cost, Usage
from clew.store.database import Row, Work

QUARTER = 900
"""Seconds of a quarter of an hour: every time zone's midnight falls on one, so days add up wherever the person is."""
PICO = Decimal(10) ** 12
"""Cost is stored in whole millionths of a millionth of a dollar."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a provider, for the ledger: also the summariser's, also one that failed."""

    usage: Usage
    model: str
    provider: str = ""
    purpose: str = "turn"
    """What it was for: turn, summary, title …"""
    failed: str = ""
    """How it failed; empty when it did not."""
    cost: Cost | None = None
    """None: no price is known, which is not the same as free."""
    tools: tuple[str, ...] = ()
    """The tools its reply asked for."""
    at: float | None = None
    """When; None is now."""


class By(StrEnum):
    """What to add up by."""

    SESSION = "session"
    CONVERSATION = "conversation"
    DAY = "day"
    MODEL = "model"
    PROVIDER = "provider"
    PURPOSE = "purpose"
    TOOL = "tool"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Spent:
    """What some calls came to."""

    key: str
    calls: int
    failed: int
    usage: Usage
    cost: Decimal
    """Dollars of the calls whose price is known."""
    unpriced: int
    """Calls whose price is not known: the cost is at least `cost`."""
    priced: str = ""
    """The day of the oldest price that went into it; empty when none did."""


def record(work: Work, session: str, conversation: int, call: Call) -> None:
    """One row."""
    at = time.time() if call.at is None else call.at
    usage, cost = call.usage.billed, call.cost
    work.run(
        "INSERT INTO call (session, conversation, at, quarter, provider, model, purpose, failed, input, output, "
        "cache_read, cache_write, reasoning, cost, priced, tools, raw) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session, conversation, at, int(at // QUARTER), call.provider, call.model, call.purpose, call.failed or None,
            usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning,
            int(cost.usd * PICO) if cost else None, cost.priced if cost else None,
            json.dumps(call.tools), None if usage.raw is None else json.dumps(usage.raw, default=str),
        ),
    )  # fmt: skip


def spent(
    work: Work,
    by: By,
    *,
    conversation: int | None = None,
    family: bool = False,
    session: str | None = None,
    after: float | None = None,
    before: float | None = None,
) -> list[Spent]:
    """The ledger added up. `family` takes in what the conversation delegated, at any depth."""
    where, values = _where(conversation, family, session, after, before)
    column = {
        By.DAY: "l.quarter",
        By.TOOL: "l.tools",
        By.CONVERSATION: "COALESCE(c.id, '(forgotten)')",
        By.ALL: "''",
    }.get(by, f"l.{by.value}")
    rows = work.all(
        f"SELECT {column}, COUNT(*), COUNT(l.failed), CAST(SUM(l.input) AS BIGINT), CAST(SUM(l.output) AS BIGINT), "
        "CAST(SUM(l.cache_read) AS BIGINT), CAST(SUM(l.cache_write) AS BIGINT), CAST(SUM(l.reasoning) AS BIGINT), "
        "CAST(COALESCE(SUM(l.cost), 0) AS BIGINT), COUNT(*) - COUNT(l.cost), MIN(l.priced) "
        f"FROM call l LEFT JOIN conversation c ON c.number = l.conversation {where} GROUP BY 1 ORDER BY 1",
        values,
    )
    groups: dict[str, list[Row]] = {"": []} if by is By.ALL else {}
    for row in rows:
        for key in _keys(by, row[0]):
            groups.setdefault(key, []).append(row[1:])
    return [_added_up(key, group) for key, group in groups.items()]


def _where(
    conversation: int | None, family: bool, session: str | None, after: float | None, before: float | None
) -> tuple[str, list[Any]]:
    conditions: list[str] = []
    values: list[Any] = []
    if conversation is not None and family:
        conditions.append(
            "l.conversation IN (WITH RECURSIVE family (number) AS (SELECT number FROM conversation WHERE number = ? "
            "UNION SELECT d.number FROM conversation d JOIN session s ON s.id = d.parent "
            "JOIN family f ON f.number = s.conversation WHERE d.origin = 'delegate') SELECT number FROM family)"
        )
        values.append(conversation)
    elif conversation is not None:
        conditions.append("l.conversation = ?")
        values.append(conversation)
    for column, sign, value in (("session", "=", session), ("at", ">=", after), ("at", "<", before)):
        if value is not None:
            conditions.append(f"l.{column} {sign} ?")
            values.append(value)
    return f"WHERE {' AND '.join(conditions)}" if conditions else "", values


def _keys(by: By, value: Any) -> Iterable[str]:
    if by is By.DAY:
        return (datetime.fromtimestamp(value * QUARTER).date().isoformat(),)  # the day where the person is
    if by is By.TOOL:
        return json.loads(value) or ("(none)",)
    return (str(value),)


def _added_up(key: str, rows: list[Row]) -> Spent:
    total = [sum(row[column] for row in rows) for column in range(9)]
    calls, failed, input_, output, read, write, reasoning, pico, unpriced = total
    dates = [row[9] for row in rows if row[9]]
    return Spent(
        key,
        calls,
        failed,
        Usage(input_, output, read, write, reasoning),
        Decimal(pico) / PICO,
        unpriced,
        min(dates, default=""),
    )

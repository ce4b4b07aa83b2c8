"""What was spent in a period: added up, drawn, and as JSON?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from rich.console import Console
from rich.text import Text

from clew.facts.session import Origin
from clew.facts.usage import Usage
from clew.screen.amounts import bar, cost, count, decimals, money, shares, size
from clew.screen.conversations import spent_document
from clew.screen.layout import NARROW, facts, grid, in_one_line, say
from clew.screen.moments import exact, midnight, moment
from clew.screen.shown import shown
from clew.screen.titles import title_of
from clew.store.inventory import Facts, facts_of
from clew.store.ledger import Spent
from clew.store.store import Store
from clew.store.trouble import NotFound
from clew.store.values import Conversation

DAYS = 30
ROWS = 10
"""Rows of a table before the rest is added up in one."""
BAR = 12
"""Columns of the bar beside a day."""


@dataclass(frozen=True, slots=True)
class Period:
    """From when to when; None: no bound."""

    after: float | None
    before: float | None
    told: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that is shown."""

    period: Period
    total: Spent
    ever: int
    """Calls in the ledger, of any time."""
    tables: Mapping[str, Sequence[Spent]]
    titles: Mapping[str, str]
    """What the conversations are called that stand in a table."""
    facts: Facts


def period(days: int | None, since: float | None, until: float | None) -> Period:
    """The last so many days, today among them, unless moments are named."""
    if since is not None or (until is not None and days is None):
        told = [f"since {moment(since)}"] if since is not None else []
        told += [f"until {moment(until)}"] if until is not None else []
        return Period(since, until, ", ".join(told))
    number = days or DAYS
    last = "today" if number == 1 else f"last {number:,} days"
    return Period(midnight(number - 1), until, last + (f", until {moment(until)}" if until is not None else ""))


def picture(store: Store, period: Period, tables: Sequence[str]) -> Picture:
    """Ask the ledger."""
    after, before = period.after, period.before
    found = {by: store.spent(by, after=after, before=before) for by in tables}
    titles: dict[str, str] = {}
    if "conversation" in found:
        known = {one.id: one for one in store.conversations()}
        found["conversation"] = _families(found["conversation"], known)
        titles = {row.key: title_of(store, known[row.key]) for row in found["conversation"] if row.key in known}
    if "session" in found:
        titles = {row.key: title_of(store, one) for row in found["session"] if (one := _of(store, row.key))}
    ordered = {by: rows if by == "day" else sorted(rows, key=_weight) for by, rows in found.items()}
    return Picture(
        period, store.spent(after=after, before=before)[0], store.spent()[0].calls, ordered, titles, facts_of(store)
    )


def show(console: Console, picture: Picture, *, whole: bool) -> None:
    """Totals first, then the tables, then what the store holds."""
    say(console, Text.assemble(("Spent", "bold"), f" — {picture.period.told}"))
    if picture.total.calls:
        tables = {by: rows if whole else _shortened(by, rows) for by, rows in picture.tables.items()}
        places = decimals([picture.total.cost, *(row.cost for rows in tables.values() for row in rows)])
        console.print(facts(_totals(picture.total, places)))
        for by, rows in tables.items():
            _show_table(console, by, rows, picture, places)
    elif picture.ever:
        say(
            console, f"No call in this time; {count(picture.ever, 'call')} outside it: --days or --since reach further."
        )
    else:
        say(
            console,
            "No call of a provider was recorded yet. An agent notes each with "
            "store.record(session, Call(usage, model, cost=…));\ntranscripts do not tell what their calls cost.",
        )
    say(console, Text("\nStore", style="bold"))
    console.print(facts(_store_rows(picture.facts)))


def document(picture: Picture) -> dict[str, Any]:
    """The same for a program; every row of every table."""
    return {
        "since": exact(picture.period.after),
        "until": exact(picture.period.before),
        "total": spent_document(picture.total),
        "by": {
            by: [
                {"key": shown(row.key), "title": picture.titles.get(row.key), **(spent_document(row) or {})}
                for row in rows
            ]
            for by, rows in picture.tables.items()
        },
        "calls_ever": picture.ever,
        "store": asdict(picture.facts),
    }


def added(key: str, rows: Sequence[Spent]) -> Spent:
    """Several rows as one."""
    usages = [row.usage for row in rows]
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    return Spent(
        key,
        sum(row.calls for row in rows),
        sum(row.failed for row in rows),
        Usage(*(sum(getattr(usage, name) for usage in usages) for name in names)),
        sum((row.cost for row in rows), Decimal(0)),
        sum(row.unpriced for row in rows),
        min((row.priced for row in rows if row.priced), default=""),
    )


def _families(rows: Sequence[Spent], known: Mapping[str, Conversation]) -> list[Spent]:
    """Each conversation with what it delegated, at any depth: every call is in one row."""
    together: dict[str, list[Spent]] = {}
    for row in rows:
        together.setdefault(_head(row.key, known), []).append(row)
    return [added(key, parts) for key, parts in together.items()]


def _head(name: str, known: Mapping[str, Conversation]) -> str:
    """The conversation on whose behalf it was had."""
    seen: set[str] = set()
    while name in known and known[name].origin is Origin.DELEGATE and name not in seen:
        seen.add(name)
        parent = str(known[name].parent).rsplit(".", 1)[0]
        if parent not in known:
            break
        name = parent
    return name


def _of(store: Store, session: str) -> Conversation | None:
    try:
        return store.conversation(session)
    except NotFound:  # forgotten; what it cost stays
        return None


def _weight(row: Spent) -> tuple[Decimal, int, str]:
    """The dearest first; where no price is known, the longest."""
    return (-row.cost, -row.usage.total, row.key)


def _shortened(by: str, rows: Sequence[Spent]) -> Sequence[Spent]:
    """The newest days or the dearest others, and one row for the rest, so that the parts add up."""
    if len(rows) <= ROWS + 1:
        return rows
    if by == "day":
        return [added(f"{len(rows) - ROWS:,} earlier days", rows[:-ROWS]), *rows[-ROWS:]]
    return [*rows[:ROWS], added(f"{len(rows) - ROWS:,} others", rows[ROWS:])]


def _totals(total: Spent, places: int) -> list[tuple[str, str]]:
    usage = total.usage
    failed = f", {total.failed:,} failed" if total.failed else ""
    thought = f" ({usage.reasoning:,} of them reasoning)" if usage.reasoning else ""
    rows = [
        ("calls", f"{total.calls:,}{failed}"),
        ("input", f"{usage.input:,} tokens"),
        ("cache read", f"{usage.cache_read:,}"),
        ("cache write", f"{usage.cache_write:,}"),
        ("output", f"{usage.output:,}{thought}"),
        ("cost", _told_cost(total, money(total.cost, places))),
    ]
    if total.priced:
        rows.append(("prices", f"the oldest is of {total.priced}"))
    return rows


def _told_cost(total: Spent, amount: str) -> str:
    if total.unpriced == total.calls:
        return "not known: no price is known for any of the calls"
    if not total.unpriced:
        return amount
    return f"at least {amount}; no price is known for {count(total.unpriced, 'call')}"


def _show_table(console: Console, by: str, rows: Sequence[Spent], picture: Picture, places: int) -> None:
    narrow = console.width < NARROW
    columns = ("prompt", "cost") if narrow else ("calls", "prompt", "cached", "output", "cost")
    with_bar = by == "day" and not narrow
    table = grid(by, *columns, *([" "] if with_bar else []), tight=True)
    if with_bar:
        table.columns[-1].justify = "left"
    amounts = shares([row.cost for row in rows], places)
    days = {row.key for row in picture.tables[by]}  # a row of several days has no bar
    most = max((_height(row, picture.total) for row in rows if row.key in days), default=0.0)
    for row, amount in zip(rows, amounts, strict=True):
        usage = row.usage
        cached = f"{usage.cache_read / usage.prompt:.0%}" if usage.prompt else "–"
        numbers = {
            "calls": f"{row.calls:,}",
            "prompt": f"{usage.prompt:,}",
            "cached": cached,
            "output": f"{usage.output:,}",
            "cost": cost(row, amount),
        }
        height = _height(row, picture.total) if row.key in days else 0.0
        drawn = [Text(bar(height, most, BAR), style="dim")] if with_bar else []
        table.add_row(_name(row.key, picture.titles), *(numbers[name] for name in columns), *drawn)
    console.print(table)
    if by == "tool":
        say(console, Text("A call that asked for two tools is in the rows of both.", style="dim"))


def _height(row: Spent, total: Spent) -> float:
    """What a day's bar shows: money, or tokens where no price is known."""
    return float(row.cost) if total.cost else float(row.usage.total)


def _name(key: str, titles: Mapping[str, str]) -> Text:
    name = in_one_line(shown(key) or "(not told)")
    return name.append(f"  {titles[key]}", style="dim") if key in titles else name


def _store_rows(told: Facts) -> list[tuple[str, str]]:
    return [
        ("conversations", f"{told.conversations:,} in {count(told.sessions, 'session')}"),
        ("messages", f"{told.messages:,}"),
        ("log", size(told.log_bytes)),
        ("blobs", f"{told.blobs:,}, {size(told.blob_bytes)}"),
        ("index", size(told.index_bytes)),
    ]

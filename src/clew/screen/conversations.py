"""How is a conversation told in a list: as a row, and as JSON?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from clew.facts.session import Origin
from clew.screen.amounts import cost, count
from clew.screen.layout import NARROW, grid, in_one_line, say
from clew.screen.moments import age, exact
from clew.screen.shown import shown
from clew.screen.titles import title_of
from clew.store.ledger import By, Spent
from clew.store.store import Store
from clew.store.values import Conversation


@dataclass(frozen=True, slots=True)
class Listed:
    """A conversation with what a list says about it."""

    about: Conversation
    title: str
    spent: Spent | None


def listed(store: Store, *, limit: int | None) -> list[Listed]:
    """The conversations last active, with titles and costs."""
    spent = {row.key: row for row in store.spent(By.CONVERSATION)}
    return [Listed(one, title_of(store, one), spent.get(one.id)) for one in store.conversations(limit=limit)]


def total(store: Store) -> int:
    with store.database.read() as work:
        row = work.one("SELECT COUNT(*) FROM conversation")
    return int(row[0]) if row else 0


def show_list(console: Console, rows: Sequence[Listed], total: int, here: str = "") -> None:
    """Two lines for each: what it is called, and dim below it what else there is to know. `here` is marked."""
    if not rows:
        say(console, "The store is empty. 'clew import FILE' puts conversations into it.")
        return
    narrow = console.width < NARROW
    table = grid("id", "title", *(() if narrow else ("active", "messages")), "cost", right=2, tight=True)
    table.columns[0].no_wrap = True
    for row in rows:
        about = row.about
        title = in_one_line(row.title).append(_second_line(about), style="dim")
        name = in_one_line(shown(about.id), "bold" if about.id == here else "")
        name.append("\n● this one" if about.id == here else "", style="dim")
        more = () if narrow else (age(about.active), f"{about.messages:,}")
        table.add_row(name, title, *more, cost(row.spent))
    console.print(table)
    if total > len(rows):
        say(
            console,
            Text(
                f"{len(rows):,} of {count(total, 'conversation')}; 'clew sessions --all' lists every one.", style="dim"
            ),
        )


def document(row: Listed) -> dict[str, Any]:
    """The same for a program."""
    return {**about_document(row.about), "title": row.title, "spent": spent_document(row.spent)}


def about_document(about: Conversation) -> dict[str, Any]:
    """What the store knows about a conversation."""
    return {
        "id": about.id,
        "title": shown(about.title),
        "created": exact(about.created),
        "active": exact(about.active),
        "messages": about.messages,
        "sessions": about.sessions,
        "tip": about.tip,
        "model": shown(about.model) or None,
        "origin": about.origin.value,
        "parent": about.parent,
        "source": shown(about.source) or None,
        "cwd": shown(about.cwd) or None,
        "tags": [shown(tag) for tag in about.tags],
    }


def spent_document(spent: Spent | None) -> dict[str, Any] | None:
    """What some calls came to. `cost_usd` is exact, as text; `unpriced` of the calls are not in it."""
    if spent is None:
        return None
    usage = spent.usage
    return {
        "calls": spent.calls,
        "failed": spent.failed,
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "reasoning": usage.reasoning,
        "cost_usd": f"{spent.cost:f}" if spent.unpriced < spent.calls else None,
        "unpriced": spent.unpriced,
        "oldest_price": spent.priced or None,
    }


def _second_line(about: Conversation) -> str:
    """What else is known, on a line of its own; nothing where nothing is."""
    told = [about.origin.value] if about.origin is not Origin.NEW else []
    told += [count(about.sessions, "session")] if about.sessions > 1 else []
    told += [shown(about.model)] if about.model else []
    told += [os.path.basename(shown(about.source))] if about.source else []
    told += [shown(tag) for tag in about.tags]
    return "\n" + " · ".join(told) if told else ""

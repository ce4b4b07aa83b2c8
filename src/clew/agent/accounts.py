"""What did this conversation take, with everything it delegated: parts that add up to what the ledger says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from clew.screen.amounts import cost, count, decimals, money, percents, shares
from clew.screen.layout import grid, in_one_line, say
from clew.screen.shown import shown
from clew.screen.spending import added
from clew.screen.titles import one_line, title_of
from clew.store.calls import turns_of
from clew.store.ledger import By, Spent
from clew.store.store import Store
from clew.store.values import Conversation

TITLE = 60
"""Characters of a title in the last words."""


@dataclass(frozen=True, slots=True)
class Account:
    """The ledger of a conversation and of what it delegated."""

    about: Conversation
    total: Spent
    purposes: Sequence[Spent]
    models: Sequence[Spent]
    own: Spent | None
    """Its own calls; None: it made none."""
    delegates: Sequence[Spent]
    """One for each conversation that work was handed to."""

    @property
    def splits(self) -> list[tuple[str, Sequence[Spent]]]:
        """The same sum in parts, in every way in which there are any."""
        ways: list[tuple[str, Sequence[Spent]]] = [("purpose", self.purposes)]
        if len(self.models) > 1:
            ways.append(("model", self.models))
        if self.delegates:
            itself = [replace(self.own, key="itself")] if self.own else []
            ways.append(("whom", [*itself, added(count(len(self.delegates), "delegate"), self.delegates)]))
        return ways


def account_of(store: Store, session: str) -> Account:
    about = store.conversation(session)

    def split(by: By) -> list[Spent]:
        return store.spent(by, conversation=about.id, family=True)

    whom = {row.key: row for row in split(By.CONVERSATION)}
    own = whom.pop(about.id, None)
    return Account(about, split(By.ALL)[0], split(By.PURPOSE), split(By.MODEL), own, list(whom.values()))


def spent_so_far(store: Store, session: str) -> str:
    """The cost of a conversation with all it delegated, in a word; empty before its first call."""
    about = store.conversation(session)
    total = store.spent(conversation=about.id, family=True)[0]
    if not total.calls:
        return ""
    return "cost unknown" if total.unpriced == total.calls else cost(total, money(total.cost))


def show(console: Console, account: Account) -> None:
    """The sum with its parts, then the ways in which it splits."""
    if not account.total.calls:
        say(console, "nothing yet")
        return
    places = decimals([account.total.cost, *(row.cost for _, rows in account.splits for row in rows)])
    console.print(_sum(account.total, places))
    for name, rows in account.splits:
        console.print(_split(name, rows, places))


def show_end(console: Console, store: Store, account: Account, compactions: int) -> None:
    """What it came to, when a person leaves, and how to go on."""
    about = account.about
    told = [count(turns_of(store, about.id), "turn"), count(about.messages, "message")]
    told += [count(compactions, "compaction")] if compactions else []
    say(console, Text.assemble((one_line(title_of(store, about), TITLE), "bold"), f"  {' · '.join(told)}"))
    if account.total.calls:
        console.print(_sum(account.total, decimals([account.total.cost])))
    say(console, Text.assemble("go on with: ", (f"clew chat --resume {shown(about.id)}", "bold")))


def _sum(total: Spent, places: int) -> Table:
    """Every token once: the first three make the prompt."""
    used = total.usage
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim")
    parts = (("fresh input", used.input), ("cache read", used.cache_read), ("cache write", used.cache_write))
    for (name, tokens), percent in zip(parts, percents([tokens for _, tokens in parts]), strict=True):
        table.add_row(name, f"{tokens:,}", percent)
    table.add_row("= prompt", Text(f"{used.prompt:,}", "bold"), f"in {count(total.calls, 'call')}{_failed(total)}")
    table.add_row("output", f"{used.output:,}", f"{used.reasoning:,} of it reasoning" if used.reasoning else "")
    table.add_row("cost", Text(_money(total, places), "bold"), _dated(total))
    return table


def _failed(total: Spent) -> str:
    return f", {total.failed:,} failed" if total.failed else ""


def _money(total: Spent, places: int) -> str:
    return "unknown" if total.unpriced == total.calls else cost(total, money(total.cost, places))


def _dated(total: Spent) -> str:
    """How old its prices are, and what is not in it."""
    told = [f"prices of {total.priced}"] if total.priced else []
    told += [f"no price for {count(total.unpriced, 'call')}"] if total.unpriced else []
    return "; ".join(told)


def _split(name: str, rows: Sequence[Spent], places: int) -> Table:
    table = grid(name, "calls", "prompt", "output", "cost", tight=True)
    for row, amount in zip(rows, shares([row.cost for row in rows], places), strict=True):
        numbers = (f"{row.calls:,}", f"{row.usage.prompt:,}", f"{row.usage.output:,}", cost(row, amount))
        table.add_row(in_one_line(shown(row.key) or "(not told)"), *numbers)
    return table

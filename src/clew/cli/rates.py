"""How are the facts about models shown?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from clew.screen.layout import facts as fact_table
from clew.screen.layout import grid, in_one_line, say
from clew.screen.shown import shown
from clew.wire.catalog import ModelFacts
from clew.wire.prices import PRICES, Prices
from clew.wire.servers import Served

UNKNOWN = "?"
YOURS = "*"
_PRICE_NAMES = {
    "input": "input",
    "output": "output",
    "cache_read": "cache read",
    "cache_write_5m": "cache write",
    "cache_write_1h": "… for an hour",
}


def show_list(console: Console, models: Sequence[ModelFacts], own_file: str) -> None:
    """A table for every provider, with where its numbers are from."""
    for provider, group in groupby(models, key=lambda facts: facts.provider):
        rows = list(group)
        table = grid(
            shown(provider) or "your own", "window", "output", "$ in", "$ out", "$ cached", "as of", tight=True
        )
        for facts in rows:
            prices = [_price(facts, name) for name in ("input", "output", "cache_read")]
            tokens = [_tokens(facts, name) for name in ("window", "max_output")]
            table.add_row(in_one_line(shown(facts.name)), *tokens, *prices, facts.priced or UNKNOWN)
        console.print(table)
        for dated, source in sorted({(facts.dated, facts.source) for facts in rows if facts.dated}, reverse=True):
            say(console, Text(f"  {dated}: {source}", style="dim"))
    say(console, "\nDollars for a million tokens; ? is not known. More: clew models show NAME.")
    if any(facts.own for facts in models):
        say(console, f"{YOURS} set by you in {shown(own_file)}")


def show_one(console: Console, facts: ModelFacts) -> None:
    """All about one model."""
    say(console, Text.assemble((shown(facts.name), "bold"), f" — {shown(facts.provider) or 'your own'}"))
    console.print(fact_table(_rows(facts)))


def show_served(console: Console, served: Sequence[Served]) -> None:
    """What a server said."""
    table = grid("model", "window", "trained for", "output", "$ in", "$ out", "server", tight=True)
    table.columns[-1].justify = "left"
    for one in served:
        prices = one.prices or Prices()
        numbers = [_count(one.window), _count(one.trained), _count(one.max_output)]
        dollars = [_dollars(prices.input), _dollars(prices.output)]
        table.add_row(in_one_line(shown(one.model)), *numbers, *dollars, in_one_line(shown(one.server)))
    console.print(table)
    if not all(one.window for one in served):
        say(console, "A window that is not known (?) is decided when the model is loaded; ask again then.")


def document(facts: ModelFacts) -> dict[str, Any]:
    """One model for a program; prices as text, so that none is rounded."""
    told = {name: value for name, value in asdict(facts).items() if name not in ("prices", "tiers", "regional")}
    return {
        **told,
        "priced": facts.priced,
        "prices": _spelled(facts.prices),
        "tiers": [{"above": tier.above, "prices": _spelled(tier.prices)} for tier in facts.tiers],
    }


def served_document(one: Served) -> dict[str, Any]:
    """One served model for a program."""
    return {**asdict(one), "prices": _spelled(one.prices) if one.prices else None}


def _rows(facts: ModelFacts) -> Iterator[tuple[str, str]]:
    yield "window", f"{_tokens(facts, 'window')} tokens of prompt and reply"
    if facts.max_input:
        yield "longest prompt", _tokens(facts, "max_input")
    yield "longest output", _tokens(facts, "max_output")
    for name, told in _PRICE_NAMES.items():
        yield told, f"{_price(facts, name)}{_dearer(facts, name)}"
    yield "caching", f"{facts.caching or UNKNOWN}{_mark(facts, 'caching')}"
    yield "least cached", f"{_tokens(facts, 'cache_minimum')} tokens"
    if facts.aliases:
        yield "also", ", ".join(facts.aliases)
    if facts.note:
        yield "note", facts.note
    if facts.source:
        yield "source", f"{shown(facts.source)}{f', {facts.dated}' if facts.dated else ''}"
    if facts.own:
        yield YOURS, f"set by you on {shown(facts.own_dated)}: {', '.join(facts.own)}"


def _dearer(facts: ModelFacts, name: str) -> str:
    """The same price for longer prompts."""
    told = [f"{_dollars(getattr(tier.prices, name))} above {tier.above:,}" for tier in facts.tiers]
    return f"; {', '.join(told)}" if told else ""


def _tokens(facts: ModelFacts, name: str) -> str:
    return _count(getattr(facts, name)) + _mark(facts, name)


def _price(facts: ModelFacts, name: str) -> str:
    return _dollars(getattr(facts.prices, name)) + _mark(facts, name)


def _mark(facts: ModelFacts, name: str) -> str:
    return YOURS if name in facts.own else ""


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def _dollars(price: Decimal | None) -> str:
    return UNKNOWN if price is None else f"{price.normalize():f}"


def _spelled(prices: Prices) -> dict[str, str | None]:
    known = {name: getattr(prices, name) for name in PRICES}
    return {name: price if price is None else f"{price.normalize():f}" for name, price in known.items()}

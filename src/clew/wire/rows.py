"""How is a row of model facts written down, and what must it be like to be believed?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import Any

from clew.facts.model import Unsatisfiable, refuse_outside
from clew.wire.catalog import Caching, ModelFacts
from clew.wire.prices import PRICES, Prices, Tier

SMALLEST = {"window": 1_024, "max_input": 1_024, "max_output": 1, "cache_minimum": 0}
MOST_TOKENS = 100_000_000
MOST_DOLLARS = 10_000
FIELDS = (*SMALLEST, *PRICES, "caching")
"""What is known about a model and may be set by a person."""
_REST = ("name", "aliases", "tiers", "open_weights", "regional", "source", "note")


class BadFacts(ValueError):
    """Facts that cannot be believed; the text names the file, the model and the field."""


def read_rows(document: Mapping[str, Any], where: str) -> list[ModelFacts]:
    """The rows of one bundled file: what `each` says holds for every row that does not say otherwise."""
    rows = [{**document["each"], **row} for row in document["models"]]
    return [_read_row(row, document["provider"], document["sources"][row["source"]], where) for row in rows]


def _read_row(raw: Mapping[str, Any], provider: str, source: Mapping[str, str], where: str) -> ModelFacts:
    told = f"{where}: {raw['name']}"
    _refuse_unknown(raw, (*FIELDS, *_REST), told)
    known = read_fields({name: raw[name] for name in FIELDS if raw.get(name) is not None}, told)
    return ModelFacts(
        raw["name"],
        provider,
        prices=_prices(known),
        tiers=tuple(_read_tier(tier, told) for tier in raw.get("tiers", ())),
        open_weights=raw.get("open_weights", False),
        regional=raw.get("regional"),
        aliases=tuple(raw.get("aliases", ())),
        source=source["what"],
        dated=source["dated"],
        note=raw.get("note", ""),
        **{name: value for name, value in known.items() if name not in PRICES},
    )


def _read_tier(raw: Mapping[str, Any], where: str) -> Tier:
    known = read_fields({name: value for name, value in raw.items() if name != "above"}, f"{where}: tiers")
    return Tier(raw["above"], _prices(known))


def _prices(known: Mapping[str, Any]) -> Prices:
    return Prices(**{name: value for name, value in known.items() if name in PRICES})


def read_fields(raw: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Values that make sense, or BadFacts: out of its range, of the wrong kind, a field that nobody knows."""
    _refuse_unknown(raw, FIELDS, where)
    return {name: _reader(name)(value, f"{where}: {name}", name) for name, value in raw.items()}


def _refuse_unknown(raw: Iterable[str], known: tuple[str, ...], where: str) -> None:
    for name in raw:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise BadFacts(f"{where}: {name} is no field clew knows; {meant}")


def _reader(name: str) -> Callable[[Any, str, str], Any]:
    return _dollars if name in PRICES else _tokens if name in SMALLEST else _caching


def _tokens(value: Any, told: str, name: str) -> int:
    text = str(value).replace(",", "").replace("_", "")
    if not text.isdecimal():
        raise BadFacts(f"{told} is {value!r}; it has to be a whole number of tokens")
    _refuse(told, int(text), SMALLEST[name], MOST_TOKENS)
    return int(text)


def _dollars(value: Any, told: str, _: str) -> Decimal:
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        price = Decimal("nan")
    if not price.is_finite():
        raise BadFacts(f"{told} is {value!r}; it has to be US dollars for a million tokens, such as 1.25")
    _refuse(told, float(price), 0, MOST_DOLLARS)
    return price


def _caching(value: Any, told: str, _: str) -> Caching:
    try:
        return Caching(value)
    except ValueError:
        raise BadFacts(f"{told} is {value!r}; it has to be one of {', '.join(Caching)}") from None


def _refuse(told: str, value: float, low: float, high: float) -> None:
    try:
        refuse_outside(told, value, low, high)
    except Unsatisfiable as wrong:
        raise BadFacts(str(wrong)) from None

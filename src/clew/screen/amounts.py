"""How are counts, sizes and sums of money written for a person?"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.store.ledger import Spent

FINEST = 8
"""Decimals of a dollar that are ever shown."""


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 message`, `1,204 messages`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(number: int) -> str:
    """Bytes in the unit people think in."""
    if number < 1_000:
        return f"{number} bytes"
    value = float(number)
    for unit in ("KB", "MB", "GB"):
        value /= 1_000
        if value < 999.5:
            return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"
    return f"{value / 1_000:,.1f} TB"


def money(usd: Decimal, places: int | None = None) -> str:
    """Dollars, with as many decimals as it takes to see them."""
    return f"${usd:,.{decimals([usd]) if places is None else places}f}"


def cost(spent: Spent | None, amount: str = "") -> str:
    """What is known of a cost: `$1.24`, `≥ $1.24` where a price was missing, `?` where all were, `–` for no calls."""
    if spent is None or not spent.calls:
        return "–"
    if spent.unpriced == spent.calls:
        return "?"
    known = amount or money(spent.cost)
    return f"≥ {known}" if spent.unpriced else known


def shares(parts: Sequence[Decimal], places: int) -> list[str]:
    """Dollars, rounded so that the parts as shown add up to their sum as shown."""
    grain = Decimal(1).scaleb(-places)
    down = [part.quantize(grain, ROUND_FLOOR) for part in parts]
    missing = int((sum(parts, Decimal(0)).quantize(grain) - sum(down, Decimal(0))) / grain)
    most_cut = sorted(range(len(parts)), key=lambda n: down[n] - parts[n])[:missing]
    return [money(value + grain if n in most_cut else value, places) for n, value in enumerate(down)]


def shares_of(whole: int, parts: Sequence[int]) -> list[int]:
    """The whole shared out in proportion to its parts, to the last one."""
    total = sum(parts)
    if not total:
        return [0] * len(parts)
    down = [part * whole // total for part in parts]
    most_cut = sorted(range(len(parts)), key=lambda n: -(parts[n] * whole % total))[: whole - sum(down)]
    return [value + (n in most_cut) for n, value in enumerate(down)]


def percents(parts: Sequence[int]) -> list[str]:
    """Shares of their sum in whole percents that add up to 100."""
    return [f"{share}%" for share in shares_of(100, parts)] if any(parts) else ["–"] * len(parts)


def decimals(parts: Sequence[Decimal]) -> int:
    """Two, or what it takes to see two figures of the smallest part."""
    smallest = min((abs(part) for part in parts if part), default=Decimal(1))
    two_figures = smallest.quantize(Decimal(1).scaleb(smallest.adjusted() - 1)).normalize()
    return min(max(2, -int(two_figures.as_tuple().exponent)), FINEST)


def bar(value: float, most: float, width: int) -> str:
    """A bar of up to `width` columns, drawn in eighths."""
    eighths = round(width * 8 * value / most) if most > 0 else 0
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()

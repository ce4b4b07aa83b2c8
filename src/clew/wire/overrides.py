"""What does a catalog say once a person has corrected it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clew.wire.catalog import Catalog, ModelFacts
from clew.wire.prices import PRICES, Tier
from clew.wire.rows import BadFacts, read_fields


def overlaid(catalog: Catalog, own: Mapping[str, Mapping[str, Any]], where: str) -> Catalog:
    """The catalog with a person's values: in its own models where they are named, else in models of theirs."""
    models = {facts.name: facts for facts in catalog.models}
    for name, raw in own.items():
        values = read_fields({key: value for key, value in raw.items() if key != "dated"}, f"{where}: {name}")
        known = catalog.named(name)
        base = known or replace(catalog.find(name) or ModelFacts(name, source=where), name=name, aliases=())
        facts = replace(_changed(base, values), own=tuple(values), own_dated=str(raw.get("dated", "")))
        _refuse_contradiction(facts, f"{where}: {name}")
        models[facts.name] = facts
    return Catalog(models.values())


def _changed(facts: ModelFacts, values: Mapping[str, Any]) -> ModelFacts:
    """A price of one's own holds for prompts of every length; a smaller window leaves less for either side."""
    prices = {name: value for name, value in values.items() if name in PRICES}
    rest = {name: value for name, value in values.items() if name not in PRICES}
    for side in ("max_input", "max_output"):
        most = getattr(facts, side)
        if most and "window" in values and side not in values:
            rest[side] = min(most, values["window"])
    tiers = tuple(Tier(tier.above, replace(tier.prices, **prices)) for tier in facts.tiers)
    return replace(facts, prices=replace(facts.prices, **prices), tiers=tiers, **rest)


def _refuse_contradiction(facts: ModelFacts, told: str) -> None:
    for side in ("max_input", "max_output"):
        most = getattr(facts, side)
        if most and facts.window and most > facts.window:
            raise BadFacts(f"{told}: {side} is {most:,}, more than the window of {facts.window:,}")

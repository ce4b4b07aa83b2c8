"""When old summaries are told in fewer words, and which: where it pays, and where they outgrow their share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from clew.engines.lossless.shares import CONDENSED, Shares
from clew.facts.node import Node

FAN = 8
"""Nodes that one stands for, at most."""
FEWEST = 4
"""Nodes of one depth that are told in fewer words together, unless the room forces two."""


@dataclass(frozen=True, slots=True)
class Habits:
    """What a cached token costs and how a conversation goes on, as far as it was measured."""

    read: float = 0.10
    """The price of a token read from the cache, in prices of one that is not."""
    write: float = 1.25
    """The price of a token written to it."""
    calls: float = 20.0
    """Calls of the model between two compactions."""
    is_cached: bool = True
    """False: the provider reports no cached tokens. Every call then pays in full, and a change costs nothing more."""


def due(nodes: Sequence[Node], shares: Shares, habits: Habits, *, forced: bool) -> list[Node]:
    """The nodes to tell in fewer words next, side by side; none where the blocks are better left alone.

    As long as they fit well, they stay: words lost are worth more than their price. `forced`: they outgrew their share
    in this pass, and the way back leads well below it.
    """
    weight = sum(node.tokens for node in nodes)
    if weight <= shares.relief or len(nodes) < 2:
        return []
    group = _no_more_than_needed(_run(nodes), weight - shares.relief)
    if forced or weight > shares.blocks:
        return group or list(nodes[:FAN])
    return group if group and pays(nodes, group, habits) else []


def pays(nodes: Sequence[Node], group: Sequence[Node], habits: Habits) -> bool:
    """Whether what later calls save by fewer tokens is more than what it costs to write the rest of the blocks anew."""
    before = sum(node.tokens for node in group)
    saved = before * (1 - CONDENSED)
    start = nodes.index(group[-1]) + 1
    rest = sum(node.tokens for node in nodes[start:])
    read, write = (habits.read, habits.write) if habits.is_cached else (1.0, 1.0)
    written_anew = before * CONDENSED * write + rest * (write - read)
    summed_up = before * (1 + CONDENSED)  # what the summariser reads and writes
    return saved * read * habits.calls > written_anew + summed_up


def _no_more_than_needed(group: list[Node], freed: int) -> list[Node]:
    """The oldest of a group, as many as free so much."""
    for count in range(FEWEST, len(group)):
        if sum(node.tokens for node in group[:count]) * (1 - CONDENSED) >= freed:
            return group[:count]
    return group


def _run(nodes: Sequence[Node]) -> list[Node]:
    """The oldest of those nodes of one depth that stand side by side and weigh most: what is old gets shorter first."""
    runs = [list(run) for _, run in groupby(nodes, key=lambda node: node.depth)]
    enough = [run for run in runs if len(run) >= FEWEST]
    return max(enough, key=lambda run: sum(node.tokens for node in run))[:FAN] if enough else []

"""What would OpenAI bill for this prompt, after those before it?

Up to GPT-5.5 every prefix is cached unasked, in steps of 128 tokens. From GPT-5.6 entries are written, at a fee, at the
newest message and at up to three marked blocks, and found only at such places, however far back (developers.openai.com,
prompt caching guide, read 2026-09; the API reference says "the latest 80 breakpoints", which is the wider of the two).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clew.testing.simulator.cache import Billed
from clew.testing.simulator.cache_blocks import Block, Prefixes, openai_blocks

LEAST = 1_024
STEP = 128
FIRST, LATEST = 2, 50
"""Of the marked blocks, those at which an entry is looked for."""
ENDINGS = 20
"""Earlier messages at whose end one is looked for too, unless the client asked for marked blocks alone."""
WRITES = 4


class AutomaticCache:
    """The cache of models before GPT-5.6: what was sent is remembered for some minutes, no markers, no fee."""

    def __init__(self, tokens_of: Callable[[Mapping[str, Any]], int], *, seconds: float = 600.0) -> None:
        self._prefixes = Prefixes(tokens_of)
        self._seconds = seconds
        self._until: dict[int, float] = {}

    def bill(self, body: Mapping[str, Any], now: float) -> Billed:
        prefixes = self._prefixes.of(str(body.get("model", "")), openai_blocks(body))
        known = [prefix for prefix in prefixes if self._until.get(prefix, now) > now]
        self._until.update(dict.fromkeys(prefixes, now + self._seconds))
        matched = self._prefixes.tokens(known[-1]) if known else 0
        read = matched // STEP * STEP if matched >= LEAST else 0
        return Billed(read=read, fresh=(self._prefixes.tokens(prefixes[-1]) if prefixes else 0) - read)


class BreakpointCache:
    """The cache of GPT-5.6 and later."""

    def __init__(self, tokens_of: Callable[[Mapping[str, Any]], int], *, seconds: float = 1_800.0) -> None:
        self._prefixes = Prefixes(tokens_of)
        self._seconds = seconds
        self._until: dict[int, float] = {}

    def bill(self, body: Mapping[str, Any], now: float) -> Billed:
        blocks = openai_blocks(body)
        prefixes = self._prefixes.of(str(body.get("model", "")), blocks)
        upto = [self._prefixes.tokens(prefix) for prefix in prefixes]
        looked, written = _places(blocks, (body.get("prompt_cache_options") or {}).get("mode") != "explicit")
        hit = max((place for place in looked if self._until.get(prefixes[place], now) > now), default=None)
        kept = [place for place in written if upto[place] >= LEAST]
        for place in [*kept, *(() if hit is None else (hit,))]:
            self._until[prefixes[place]] = now + self._seconds
        read = 0 if hit is None else upto[hit]
        last = max([read, *(upto[place] for place in kept)])
        return Billed(read=read, write_5m=last - read, fresh=(upto[-1] if upto else 0) - last)


def _places(blocks: Sequence[Block], implicit: bool) -> tuple[set[int], list[int]]:
    """The blocks at whose end an entry is looked for, and those at whose end one is written."""
    marked = [place for place, block in enumerate(blocks) if block.marker is not None]
    looked = {*marked[:FIRST], *marked[-LATEST:]}
    if not implicit:
        return looked, marked[-WRITES:]
    endings = _endings(blocks)
    newest = endings[-1:]
    looked |= {*newest, *endings[-1 - ENDINGS : -1], *_opening(blocks, endings)}
    return looked, [*marked[-(WRITES - len(newest)) :], *newest]


def _endings(blocks: Sequence[Block]) -> list[int]:
    """Ends of what the model was told: of a person's message, of the last result in a row, of the opening."""
    found = []
    for place, block in enumerate(blocks):
        after = blocks[place + 1].role if place + 1 < len(blocks) else ""
        if block.ends and (block.role == "user" or (block.role in ("tool", "developer") and after != block.role)):
            found.append(place)
    return found


def _opening(blocks: Sequence[Block], endings: Sequence[int]) -> list[int]:
    """The end of the developer's messages with which a prompt begins."""
    return [place for place in endings[:1] if blocks[place].role == "developer"]

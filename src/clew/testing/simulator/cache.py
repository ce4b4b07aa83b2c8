"""What would Anthropic bill for this prompt, after those before it?

The rules are those of platform.claude.com/docs, prompt caching (2026-11). An entry is written where a marker stands and
nowhere else. Looking for one, the provider goes back at most 20 positions from each marker of the request, counting
the marked one. What is found costs a tenth; what is new up to the last marker is written; the rest is plain input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clew.testing.simulator.cache_blocks import Block, Prefixes, anthropic_blocks, frozen

MOST = 4
BACK = 20
SECONDS = {"5m": 300.0, "1h": 3_600.0}
RUNS = frozenset({"tool_use", "tool_result"})
MUTE = frozenset({"thinking", "redacted_thinking"})

MINIMUMS: tuple[tuple[str, int], ...] = (
    ("opus-5", 512),
    ("fable-5", 512),
    ("mythos-5", 512),
    ("opus-4-7", 2_048),
    ("haiku-3", 2_048),
    ("3-haiku", 2_048),
    ("3-5-haiku", 2_048),
    ("opus-4-6", 4_096),
    ("opus-4-5", 4_096),
    ("haiku-4-5", 4_096),
)
"""Part of a model's name → the fewest tokens it caches, as of 2026-11; the first that is found decides."""
COMMON_MINIMUM = 1_024


class BadCacheControl(ValueError):
    """Markers that the provider refuses: its 400 `invalid_request_error`, in its words."""


@dataclass(frozen=True, slots=True)
class Billed:
    """The prompt tokens of one request, by what they cost."""

    read: int = 0
    write_5m: int = 0
    """At OpenAI, whose entries live half an hour, these too are a quarter dearer than plain input."""
    write_1h: int = 0
    fresh: int = 0

    @property
    def prompt(self) -> int:
        return self.read + self.write_5m + self.write_1h + self.fresh


def price(billed: Billed, *, read: float = 0.1, write_5m: float = 1.25, write_1h: float = 2.0) -> float:
    """What that comes to, in tokens at the price of plain input."""
    return billed.read * read + billed.write_5m * write_5m + billed.write_1h * write_1h + billed.fresh


def least_cached(model: str) -> int:
    """The fewest tokens that this model caches; less is served uncached, without a word."""
    name = model.lower().replace(".", "-")
    return next((least for part, least in MINIMUMS if part in name), COMMON_MINIMUM)


@dataclass(slots=True)
class _Entry:
    seconds: float
    until: float


class PromptCache:
    """The cache of one workspace: it sees Anthropic request bodies, one after another, and says what each costs."""

    def __init__(
        self,
        tokens_of: Callable[[Mapping[str, Any]], int],
        *,
        minimum: Callable[[str], int] = least_cached,
        runs_count_once: bool = True,
    ) -> None:
        """`runs_count_once`: on the way back calls in a row are one position, and so are results in a row. The Claude
        API counts so since 2026; on Bedrock, and before, every block is a position."""
        self._prefixes = Prefixes(tokens_of)
        self._minimum = minimum
        self._runs_count_once = runs_count_once
        self._entries: dict[int, _Entry] = {}

    def bill(self, body: Mapping[str, Any], now: float) -> Billed:
        """What this request costs at second `now`; from then on its entries are there for others."""
        model = str(body.get("model", ""))
        blocks = anthropic_blocks(body)
        markers = _markers(body, blocks)
        prefixes = self._prefixes.of(model, blocks, _settings(body, blocks))
        upto = [self._prefixes.tokens(prefix) for prefix in prefixes]
        hit = self._longest(blocks, prefixes, markers, now)
        written = {place: ttl for place, ttl in markers.items() if upto[place] >= self._minimum(model)}
        for place, ttl in written.items():
            self._keep(prefixes[place], ttl, now)
        read = upto[hit] if hit is not None else 0
        hours = max((upto[place] for place, ttl in written.items() if ttl == "1h"), default=0)
        long = max(hours, read)
        last = max([long, *(upto[place] for place in written)])
        return Billed(read, last - long, long - read, (upto[-1] if upto else 0) - last)

    def _longest(
        self, blocks: Sequence[Block], prefixes: Sequence[int], markers: Mapping[int, str], now: float
    ) -> int | None:
        """The last block up to which the request is in the cache, as far as its markers let the provider look."""
        for marked in sorted(markers, reverse=True):
            for place in self._back_from(marked, blocks):
                entry = self._entries.get(prefixes[place])
                if entry is not None and entry.until > now:
                    entry.until = now + entry.seconds
                    return place
        return None

    def _back_from(self, marked: int, blocks: Sequence[Block]) -> Iterator[int]:
        positions = 0
        for place in range(marked, -1, -1):
            goes_on = place < marked and blocks[place].kind == blocks[place + 1].kind and blocks[place].kind in RUNS
            if not (self._runs_count_once and goes_on):
                positions += 1
            if positions > BACK:
                return
            yield place

    def _keep(self, prefix: int, ttl: str, now: float) -> None:
        entry = self._entries.get(prefix)
        if entry is None or entry.until <= now:
            entry = self._entries[prefix] = _Entry(SECONDS[ttl], now)
        entry.until = now + entry.seconds


def _markers(body: Mapping[str, Any], blocks: Sequence[Block]) -> dict[int, str]:
    """Marked block → how long its entry lives, or the provider's refusal."""
    found = {place: _ttl(marker) for place, block in enumerate(blocks) if (marker := _marker(block)) is not None}
    automatic = body.get("cache_control")
    if automatic:
        last = next((n for n in reversed(range(len(blocks))) if _can_carry(blocks[n])), None)
        if last is not None and found.setdefault(last, _ttl(automatic)) != _ttl(automatic):
            raise BadCacheControl(f"{blocks[last].where}.cache_control.ttl: differs from the ttl of the request's own")
    for place in found:
        _refuse_what_cannot(blocks[place])
    if len(found) > MOST:
        raise BadCacheControl(f"A maximum of 4 blocks with cache_control may be provided. Found {len(found)}.")
    _refuse_longer_after_shorter(blocks, found)
    return found


def _marker(block: Block) -> Mapping[str, Any] | None:
    """A block's own marker; of a result, also one inside it, which counts and acts like its own."""
    if block.marker is not None or block.kind != "tool_result":
        return block.marker
    inner = block.value.get("content")
    parts = [part for part in inner if isinstance(part, Mapping)] if isinstance(inner, list) else []
    return next((part["cache_control"] for part in reversed(parts) if part.get("cache_control")), None)


def _ttl(marker: Mapping[str, Any]) -> str:
    ttl = str(marker.get("ttl") or "5m")
    if marker.get("type") != "ephemeral" or ttl not in SECONDS:
        raise BadCacheControl(
            f"cache_control: Input should be ephemeral with a ttl of '5m' or '1h', got {dict(marker)}"
        )
    return ttl


def _can_carry(block: Block) -> bool:
    return block.kind not in MUTE and not (block.kind == "text" and not block.value.get("text"))


def _refuse_what_cannot(block: Block) -> None:
    if block.kind in MUTE:
        raise BadCacheControl(f"{block.where}.{block.kind}.cache_control: Extra inputs are not permitted")
    if not _can_carry(block):
        raise BadCacheControl(f"{block.where}.text: cache_control cannot be set for empty text blocks")


def _refuse_longer_after_shorter(blocks: Sequence[Block], markers: Mapping[int, str]) -> None:
    shorter = False
    for place in sorted(markers):
        if shorter and markers[place] == "1h":
            raise BadCacheControl(
                f"{blocks[place].where}.cache_control.ttl: a ttl='1h' cache_control block must not come after a "
                "ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, "
                "`system`, `messages`."
            )
        shorter = shorter or markers[place] == "5m"


def _settings(body: Mapping[str, Any], blocks: Sequence[Block]) -> Any:
    """What makes the provider read the messages anew, but not tools and system prompt."""
    pictures = any(block.kind == "image" for block in blocks)
    return frozen([body.get("tool_choice"), body.get("thinking"), pictures])

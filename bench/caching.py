"""What a prompt's markers save: `python bench/caching.py` (no model, recorded conversations, the providers' rules).

Every recorded conversation is asked again, request by request, of a simulated provider that bills as Anthropic does:
a tenth for what it finds in its cache, a quarter more for what it writes. Compared are `system_and_3` and
`place_cache_points`, beside no markers at all and the floor: everything old read, everything new written.
Three ways of asking: one request for each reply, as an agent does; one for each turn, where the steps in between ran
elsewhere (another model's, or tools at the provider's); and one for each reply through OpenRouter, which reads markers
inside content parts only. On its way back the Claude API counts calls in a row once, and results in a row; Bedrock
counts every block, and so did Anthropic before 2026.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from clew.core.cache import apply_anthropic_cache_control, place_cache_points
from clew.facts.exchange import Prompt
from clew.facts.messages import Message, read_message, read_messages
from clew.testing.simulator.cache import Billed, PromptCache, price
from clew.testing.simulator.cache_blocks import anthropic_blocks
from clew.tokens import count_message, count_tools, default
from clew.wire.anthropic import ANTHROPIC

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
MINIMUM = 1_024
LONG = 20
"""Blocks in a turn from which on one look back no longer reaches over it."""
WANTED = 0.10
"""What is to be saved against `system_and_3` on conversations with such turns, where anything can be."""
NEAR = 0.005
"""Share of the floor within which there is nothing left to save."""

Place = Callable[[Prompt], Prompt]
Cut = Callable[[Sequence[Message]], Iterator[int]]


@dataclass(frozen=True, slots=True)
class Way:
    """A way of asking, and both placements for it."""

    name: str
    cut: Cut
    known: Place
    placed: Place


def main() -> int:
    if not (CORPUS / "index.json").exists():
        print(f"no recorded conversations at {CORPUS.name}/: nothing to measure")
        return 0
    index = json.loads((CORPUS / "index.json").read_text())
    met = True
    for way in WAYS:
        rows: list[dict[str, Row]] = []
        with ProcessPoolExecutor() as pool:
            for number, row in enumerate(pool.map(partial(measure, way), index), 1):
                if sys.stderr.isatty():
                    print(f"\r{way.name}: {number}/{len(index)}", end="", file=sys.stderr)
                rows.append(row)
        if sys.stderr.isatty():
            print("\r" + " " * 100 + "\r", end="", file=sys.stderr)
        for rule in RULES:
            met &= tell(f"{way.name}, {rule}", [row[rule] for row in rows])
    return 0 if met else 1


# --- asking ---


@dataclass(frozen=True, slots=True)
class Row:
    """What one conversation costs, in tokens at the price of plain input."""

    id: str
    tier: str
    long: bool
    """Whether it has a turn of more than LONG blocks."""
    requests: int = 0
    none: float = 0
    known: float = 0
    placed: float = 0
    floor: float = 0

    @property
    def saved(self) -> float:
        return 1 - self.placed / self.known if self.known else 0.0

    def add(self, known: Billed, ours: Billed, before: int) -> Row:
        """With one more request, of which `before` tokens stood in the last one."""
        return replace(
            self,
            requests=self.requests + 1,
            none=self.none + known.prompt,
            known=self.known + price(known),
            placed=self.placed + price(ours),
            floor=self.floor + price(Billed(read=before, write_5m=known.prompt - before)),
        )


def measure(way: Way, recorded: Mapping[str, Any]) -> dict[str, Row]:
    """The conversation, asked in this way: each request's prompt is all that stood before the reply."""
    said = read_messages(json.loads(line) for line in (CORPUS / recorded["file"]).open())
    system = "\n\n".join(message.text for message in said if message.is_system) or STAND_IN
    messages = tuple(message for message in said if not message.is_system)
    empty = Row(recorded["id"], recorded["tier"], long=max(turns_of(messages), default=0) > LONG)
    found = dict.fromkeys(RULES, empty)
    caches = {rule: (cache(once), cache(once)) for rule, once in RULES.items()}
    before = 0
    for end in way.cut(messages):
        prompt = Prompt(system, messages[:end], TOOLS, 1_024, "claude-sonnet-5")
        bodies = [ANTHROPIC.encode(placing(prompt)) for placing in (way.known, way.placed)]
        for rule, row in found.items():
            known, ours = (cache.bill(body, row.requests) for cache, body in zip(caches[rule], bodies, strict=True))
            assert known.prompt == ours.prompt, "markers add no tokens"
            found[rule] = row.add(known, ours, before)
        before = known.prompt
    return found


def cache(runs_count_once: bool) -> PromptCache:
    return PromptCache(tokens_of, minimum=lambda model: MINIMUM, runs_count_once=runs_count_once)


def tokens_of(block: Mapping[str, Any]) -> int:
    if "input_schema" in block:
        return count_tools([block], default())
    return count_message({"role": "user", "content": [block]}, default())


def each_reply(messages: Sequence[Message]) -> Iterator[int]:
    """Where a reply begins. Several of the assistant's messages in a row are one reply, recorded in pieces."""
    for place, message in enumerate(messages):
        if place and message.role == "assistant" != messages[place - 1].role:
            yield place


def each_turn(messages: Sequence[Message]) -> Iterator[int]:
    """Where the first reply to a person's words begins."""
    return (place for place in each_reply(messages) if messages[place - 1].role == "user")


def turns_of(messages: Sequence[Message]) -> Iterator[int]:
    """How many blocks each turn adds."""
    starts = [place for place, message in enumerate(messages) if message.role == "user"]
    for start, end in zip(starts, [*starts[1:], len(messages)], strict=True):
        yield len(anthropic_blocks(ANTHROPIC.encode(Prompt("", tuple(messages[start:end])))))


# --- placing ---


def system_and_3(prompt: Prompt, native: bool) -> Prompt:
    """The known layout, fitted to a prompt. A marker on a reply that only calls is moved to its last call, where the
    API reads it; OpenRouter reads it nowhere."""
    chat = [{"role": "system", "content": prompt.system}, *(message.to_dict() for message in prompt.messages)]
    marked = apply_anthropic_cache_control(chat, native_anthropic=native)
    own = {"system": marked[0]["content"]}
    messages = tuple(_on_a_call(read_message(raw), native) for raw in marked[1:])
    return replace(prompt, messages=messages, foreign={"anthropic": own})


def _on_a_call(message: Message, native: bool) -> Message:
    if "cache_control" not in message.raw or message.role == "tool":
        return message
    raw = {key: value for key, value in message.raw.items() if key != "cache_control"}
    if native and message.calls:
        *others, last = raw["tool_calls"]
        raw["tool_calls"] = [*others, {**last, "cache_control": message.raw["cache_control"]}]
    return read_message(raw)


def placed(prompt: Prompt, provider: str) -> Prompt:
    """Our layout. What OpenRouter is told in chat's spelling reaches Anthropic in Anthropic's."""
    done = place_cache_points(prompt, provider)
    if provider != "openrouter":
        return done
    chat = done.foreign.get("chat", {}).get("system")
    return replace(done, foreign={"anthropic": {"system": chat[0]["content"]}} if chat else {})


NATIVE = (partial(system_and_3, native=True), partial(placed, provider="anthropic"))
ROUTED = (partial(system_and_3, native=False), partial(placed, provider="openrouter"))
WAYS = (
    Way("each reply", each_reply, *NATIVE),
    Way("each turn", each_turn, *NATIVE),
    Way("each reply through OpenRouter", each_reply, *ROUTED),
)
RULES = {"runs count once": True, "every block counts": False}
"""How a provider counts on its way back, and what the cache is told of it."""


# --- telling ---


def tell(title: str, rows: Sequence[Row]) -> bool:
    """Prints a table. False: somewhere ours costs more, or saves too little where there is something to save."""
    asked = [row for row in rows if row.requests]
    print(f"\n{title}: {sum(row.requests for row in asked):,} requests of {len(asked)} conversations")
    print(f"  {'':<32}{'none':>12}{'system_and_3':>14}{'placed':>12}{'floor':>12}{'saved':>9}  (thousand tokens)")
    groups = defaultdict(list)
    for row in asked:
        groups[f"tier {row.tier}"].append(row)
    long = [row for row in asked if row.long]
    for name, some in [*sorted(groups.items()), (f"turns of > {LONG} blocks", long), ("all", asked)]:
        show(f"{name} ({len(some)})", some)
    best, worst = max(asked, key=lambda row: row.saved), min(asked, key=lambda row: row.saved)
    show(f"best: {best.id}", [best])
    show(f"worst: {worst.id}", [worst])
    dearer = [row for row in asked if row.placed > row.known * (1 + 1e-9)]
    for row in dearer:
        print(f"  dearer than system_and_3: {row.id}, {-row.saved:.2%}")
    known, ours, floor = (sum(getattr(row, name) for row in long) for name in ("known", "placed", "floor"))
    enough = 1 - ours / known >= WANTED or ours / floor - 1 <= NEAR
    if not enough:
        print(f"  saves {1 - ours / known:.1%} where {1 - floor / known:.1%} could be saved")
    return enough and not dearer


def show(name: str, rows: Sequence[Row]) -> None:
    keys = ("none", "known", "placed", "floor")
    none, known, ours, floor = (sum(getattr(row, key) for row in rows) / 1e3 for key in keys)
    print(f"  {name:<32.32}{none:>12,.0f}{known:>14,.0f}{ours:>12,.0f}{floor:>12,.0f}{1 - ours / known:>9.2%}")


def _tool(name: str, told: str, **fields: str) -> dict[str, Any]:
    properties = {field: {"type": "string", "description": text} for field, text in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(fields)[:1]}
    return {"type": "function", "function": {"name": name, "description": told, "parameters": schema}}


TOOLS = (
    _tool("read", "Reads a file of the project and returns its lines, numbered.", path="Which file.", lines="From-to."),
    _tool("write", "Writes a file, over what was there.", path="Which file.", content="All that it is to hold."),
    _tool("edit", "Replaces one passage of a file.", path="Which file.", old="The passage.", new="What comes instead."),
    _tool("run", "Runs a command in a shell and returns what it printed.", command="The command.", limit="In seconds."),
    _tool("find", "Finds files by a pattern of their names.", pattern="Such as src/**/*.py.", below="In which folder."),
    _tool(
        "search", "Finds lines in files by a regular expression.", pattern="The expression.", below="In which folder."
    ),
    _tool("fetch", "Loads a page of the web and returns its text.", url="Which page.", question="What to look for."),
    _tool(
        "plan", "Notes the steps of the task and which of them are done.", steps="One on each line, marked when done."
    ),
    _tool("ask", "Asks the person and waits for the answer.", question="What to ask.", choices="One on each line."),
)
STAND_IN = (ROOT / "docs" / "compaction.md").read_text()[:8_000]
"""A system prompt of usual weight, for recordings that left theirs out."""


if __name__ == "__main__":
    sys.exit(main())

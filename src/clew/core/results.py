"""How much tool output enters the window: one result, then the turn; the rest goes to a blob that can be read again."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from clew.core.effects import Effect, Spill, ask
from clew.facts.messages import Message
from clew.facts.model import ResultLimits

OPENING = "<persisted-output>"
CLOSING = "</persisted-output>"


def cap_turn(results: Sequence[Message], limits: ResultLimits) -> Generator[Effect[Any], Any, tuple[Message, ...]]:
    """The results of one turn within their limits: first each alone, then the largest until their sum fits."""
    capped = list(results)
    for place, result in enumerate(capped):
        limit = limits.for_tool(result.name)
        if limit is not None and len(result.text) > limit:
            capped[place] = yield from _spill(result, limits)
    for place in sorted(range(len(capped)), key=lambda place: -len(capped[place].text)):
        if sum(len(result.text) for result in capped) <= limits.turn:
            break
        if not is_stored(capped[place]) and len(capped[place].text) > limits.preview * 2:
            capped[place] = yield from _spill(capped[place], limits)
    return tuple(capped)


def is_stored(result: Message) -> bool:
    return result.text.startswith(OPENING)


def _spill(result: Message, limits: ResultLimits) -> Generator[Effect[Any], Any, Message]:
    where = yield from ask(Spill(result.text, result.call_id))
    return result.saying(pointer(result.text, where, limits.preview))


def pointer(text: str, where: str, preview: int) -> str:
    """What stands in the window for output that is kept elsewhere: how much, where, how to read it, how it begins."""
    lines = text.count("\n") + 1
    size = len(text.encode("utf-8", "surrogatepass"))
    shown = text[:preview]
    return (
        f"{OPENING}\n"
        f"This output has {len(text):,} characters in {lines:,} lines ({readable_size(size)}): more than fits here.\n"
        f"All of it is kept at: {where}\n"
        "Read any part of it with the read_file tool, giving offset and limit in lines.\n\n"
        f"Preview, the first {len(shown):,} characters:\n{shown}\n"
        f"{CLOSING}"
    )


def readable_size(size: int) -> str:
    """Bytes as a person reads them."""
    for unit, scale in (("MB", 1_000_000), ("KB", 1_000)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"

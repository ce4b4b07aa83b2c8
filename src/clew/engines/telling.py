"""How the turns that leave are told to a summariser, in parts that it can take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clew.core.pairs import Exchange
from clew.core.ports import Scale
from clew.core.redact import redact
from clew.core.speaker import Speaker, speaker
from clew.engines.actions import Action
from clew.engines.prune import RESULT_WORTH_PRUNING, describe, shape, shorten
from clew.facts.messages import Message

OF_PERSON, OF_MODEL = 4_000, 1_200
"""Characters shown of one message. What is cut out is counted, and stands in the log."""
SAMPLE = 8_000
"""Characters from which the density of the whole is read."""


def tell(history: Iterable[tuple[Exchange, tuple[Action, ...]]]) -> list[str]:
    """Who spoke, what was called, what came of it: one text for each exchange."""
    return [_told(exchange, actions) for exchange, actions in history]


def in_parts(turns: Sequence[str], most: int, scale: Scale) -> Iterator[str]:
    """The turns in as few parts as fit a prompt of `most` tokens each."""
    sample = "".join(turns[:: max(1, len(turns) // 64)])[:SAMPLE]
    limit = most * len(sample) / max(scale.text(sample), 1)
    part: list[str] = []
    size = 0
    for turn in turns:
        if part and size + len(turn) > limit:
            yield "\n\n".join(part)
            part, size = [], 0
        part.append(turn)
        size += len(turn)
    if part:
        yield "\n\n".join(part)


def _told(exchange: Exchange, actions: tuple[Action, ...]) -> str:
    said = exchange.said
    who, most = _named(said)
    text = said.text if len(said.text) <= most else shape(said.text, most=most, where="the log has it")
    told = f"[{who}] {text}"
    for call, result, action in zip(said.calls, exchange.results, actions, strict=True) if actions else ():
        told += f"\n→ {call.name}({shorten(call).arguments})"
        if result is not None:
            told += f"\n← {redact(result.text) if len(result.text) <= RESULT_WORTH_PRUNING else describe(action)}"
    return told


def _named(said: Message) -> tuple[str, int]:
    """Who is speaking, and how much of it is told."""
    if said.role == "assistant":
        return "assistant", OF_MODEL
    if speaker(said) is Speaker.PERSON:
        return "user", OF_PERSON
    return f"{said.role}, written by the host program", OF_MODEL

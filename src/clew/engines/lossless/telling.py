"""How the messages of a leaf are told to a summariser: in full as far as it can take, big output by its shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clew.core.pairs import Exchange
from clew.core.ports import Scale
from clew.core.redact import redact
from clew.core.speaker import Speaker, speaker
from clew.engines.actions import Action
from clew.engines.lossless.shapes import shape_of
from clew.engines.prune import describe, shorten

OUTPUT = 800
"""Characters of output that are told as they are."""
ARGUMENTS = 2_000
SAMPLE = 8_000
"""Characters from which the density of the whole is read."""


def tell(history: Iterable[tuple[Exchange, tuple[Action, ...]]]) -> list[str]:
    """Who spoke, what was called, what came of it: one text for each exchange."""
    return [_told(exchange, actions) for exchange, actions in history]


def in_pieces(texts: Sequence[str], most: int, scale: Scale) -> list[str]:
    """The texts in as few pieces as fit a prompt of `most` tokens each; one that is too long for any is split."""
    sample = "".join(texts[:: max(1, len(texts) // 64)])[:SAMPLE]
    limit = max(int(most * len(sample) / max(scale.text(sample), 1)), 1)
    pieces: list[str] = []
    for text in _short_enough(texts, limit):
        if pieces and len(pieces[-1]) + len(text) <= limit:
            pieces[-1] += f"\n\n{text}"
        else:
            pieces.append(text)
    return pieces


def _short_enough(texts: Sequence[str], limit: int) -> Iterator[str]:
    for text in texts:
        yield from (text[start : start + limit] for start in range(0, max(len(text), 1), limit))


def _told(exchange: Exchange, actions: tuple[Action, ...]) -> str:
    said = exchange.said
    who = said.role if speaker(said) in (Speaker.PERSON, Speaker.MODEL) else f"{said.role}, written by the host program"
    told = f"[{who}] {said.text}"
    for call, result, action in zip(said.calls, exchange.results, actions, strict=True) if actions else ():
        told += f"\n→ {call.name}({shorten(call, ARGUMENTS).arguments})"
        if result is not None:
            short = len(result.text) <= OUTPUT
            told += f"\n← {redact(result.text) if short else f'{describe(action)} | {shape_of(result.text)}'}"
    return told

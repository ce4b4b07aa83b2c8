"""What leaves the window, without credentials: everything written about it is written from here."""

from __future__ import annotations

from collections.abc import Sequence

from clew.core.pairs import Exchange
from clew.core.redact import redact
from clew.facts.messages import ToolCall

_BETWEEN = "\n\x00\n"


def veil(history: Sequence[Exchange]) -> list[Exchange]:
    """The exchanges with credentials gone from words and arguments. Results are veiled where they are quoted."""
    texts = [text for exchange in history for text in (exchange.said.text, *_arguments(exchange))]
    together = _BETWEEN.join(texts)
    clean = redact(together)  # once over everything: most histories hold no secret at all
    if clean is together:
        return list(history)
    parts = clean.split(_BETWEEN)
    veiled = iter(parts if len(parts) == len(texts) else map(redact, texts))
    return [_veiled(exchange, next(veiled), [next(veiled) for _ in exchange.said.calls]) for exchange in history]


def _arguments(exchange: Exchange) -> list[str]:
    return [call.arguments for call in exchange.said.calls]


def _veiled(exchange: Exchange, text: str, arguments: list[str]) -> Exchange:
    said = exchange.said
    if text == said.text and arguments == _arguments(exchange):
        return exchange
    calls = tuple(ToolCall(c.id, c.name, a, c.raw) for c, a in zip(said.calls, arguments, strict=True))
    return exchange._replace(said=said._replace(text=text, calls=calls))

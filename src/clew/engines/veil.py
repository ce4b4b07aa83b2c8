"""What leaves the window, without credentials: everything written about it is written from here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.core.pairs import Exchange
from clew.core.redact import redact
from clew.facts.messages import Message, ToolCall

_BETWEEN = "\n\x00\n"


def veil(history: Sequence[Exchange]) -> list[Exchange]:
    """The exchanges with credentials gone from words and arguments. Results are veiled where they are quoted."""
    texts = [exchange.said.text for exchange in history]
    texts += [call.arguments for exchange in history for call in exchange.said.calls]
    veiled = _redacted(texts)
    if veiled is texts:
        return list(history)
    words, arguments = iter(veiled), iter(veiled[len(history) :])
    return [exchange._replace(said=_veiled(exchange.said, next(words), arguments)) for exchange in history]


def veil_results(history: Sequence[Exchange]) -> list[Message]:
    """All the messages of veiled exchanges, their results without credentials too."""
    messages = [said for exchange in history for said in exchange.messages]
    texts = [said.text for said in messages if said.is_result]
    clean = iter(_redacted(texts))
    return [said._replace(text=next(clean)) if said.is_result else said for said in messages]


def _redacted(texts: list[str]) -> list[str]:
    """Each text without credentials; the very same list when there are none."""
    together = _BETWEEN.join(texts)
    clean = redact(together)  # once over everything: most histories hold no secret at all
    if clean is together:
        return texts
    parts = clean.split(_BETWEEN)
    return parts if len(parts) == len(texts) else [redact(text) for text in texts]


def _veiled(said: Message, text: str, arguments: Iterator[str]) -> Message:
    calls = tuple(ToolCall(call.id, call.name, next(arguments), call.raw) for call in said.calls)
    return said._replace(text=text, calls=calls)

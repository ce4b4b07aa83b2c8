"""How does a reply go out, whole or as a stream?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from clew.facts.exchange import Failure, Prompt, Reply
from clew.facts.messages import Message, read_message
from clew.facts.pieces import Broken, Piece
from clew.testing.simulator.answers import Answer, json_answer
from clew.testing.simulator.faults import BrokenStream, Fault
from clew.testing.simulator.speech import pieces_of
from clew.testing.simulator.weighing import Weigher
from clew.wire.dialect import Dialect
from clew.wire.sse import spell

PREFIX = {"anthropic": "msg_sim", "chat": "chatcmpl-sim", "responses": "resp_sim"}
STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
PING = {"anthropic": b'event: ping\ndata: {"type": "ping"}\n\n'}
COMMENT = b": still thinking\n\n"
"""What a dialect sends to keep a stream alive; those without an event for it send comments."""


def finished(reply: Reply, prompt: Prompt, dialect: str, number: int, room: int, weigher: Weigher) -> Reply:
    """The reply as this provider gives it: named, and no longer than it may be."""
    named = replace(reply, id=reply.id or f"{PREFIX[dialect]}{number:06}", model=reply.model or prompt.model)
    over = weigher.message(reply.message) - room
    if over <= 0 or reply.message.calls:
        return named
    text = reply.message.text
    kept = weigher.beginning(text, max(1, weigher.text(text) - over))
    return replace(named, message=_saying(reply.message, kept), stop="length")


def _saying(message: Message, text: str) -> Message:
    """The same message with other text, in the place of its first; thoughts stay before it."""
    content = message.raw.get("content")
    if not isinstance(content, list):
        return message.saying(text)
    first = next(place for place, part in enumerate(content) if _is_text(part))
    parts = [{**part, "text": text} if place == first else part for place, part in enumerate(content)]
    kept = [part for place, part in enumerate(parts) if place <= first or not _is_text(part)]
    return read_message({**message.raw, "content": kept})


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "text"


def thought_tokens(reply: Reply, weigher: Weigher) -> int:
    """The part of a reply that was thinking, wherever its dialect puts that."""
    content = reply.message.raw.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    summaries = [said for part in parts if part.get("type") == "reasoning" for said in part.get("summary") or ()]
    texts = [reply.message.raw.get("reasoning_content"), *(part.get("thinking") for part in parts)]
    texts += [said.get("text") for said in summaries]
    return sum(weigher.text(text) for text in texts if isinstance(text, str))


def said(reply: Reply, prompt: Prompt, dialect: Dialect, faults: Sequence[Fault]) -> Answer:
    """A reply to this prompt, with the failure in it that one of the faults asks for."""
    broken = next((fault.failure for fault in faults if isinstance(fault, BrokenStream)), None)
    if prompt.stream:
        return streamed(prompt, dialect, _until(broken, list(pieces_of(reply))))
    return failed(broken, dialect) if broken else json_answer(200, dialect.encode_reply(reply))


def streamed(prompt: Prompt, dialect: Dialect, pieces: Iterable[Piece]) -> Answer:
    writer = dialect.writer(prompt)
    events = [event for piece in pieces for event in writer.feed(piece)] + writer.close()
    return Answer(200, STREAM, tuple(spell(event) for event in events), streamed=True)


def failed(failure: Failure, dialect: Dialect) -> Answer:
    status, body = dialect.encode_failure(failure)
    told = {} if failure.retry_after is None else {"retry-after": f"{failure.retry_after:g}"}
    return json_answer(status, body, told)


def _until(failure: Failure | None, pieces: list[Piece]) -> list[Piece]:
    return pieces if failure is None else [*islice(pieces, len(pieces) // 2), Broken(failure)]

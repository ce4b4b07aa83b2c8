"""What goes back over the connection, step by step, and how does a fault change it?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, assert_never

from clew.testing.simulator.faults import (
    BrokenStream,
    Chunks,
    ContentType,
    Drip,
    Empty,
    Fault,
    HalfStream,
    HangUp,
    KeepAlives,
    Malformed,
    Reset,
    Stall,
    Status,
)


@dataclass(frozen=True, slots=True)
class Wait:
    """Send nothing for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection ends here."""

    reset: bool


Step: TypeAlias = bytes | Wait | Cut


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: its head, and what is done before and after that is sent."""

    status: int
    headers: Mapping[str, str]
    steps: tuple[Step, ...]
    """The body: as one, or event by event."""
    streamed: bool = False
    before: tuple[Step, ...] = field(default=())
    """Before the head is sent."""


def json_answer(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
    """A whole body; text is sent as the page it is."""
    if isinstance(body, str):
        return Answer(status, {"content-type": "text/html", **(headers or {})}, (body.encode(),))
    spelled = json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Answer(status, {"content-type": "application/json", **(headers or {})}, (spelled,))


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the dialect of this request says what a fault needs to be said."""

    status: Callable[[int], Any]
    """The body of an error with this status."""
    ping: bytes


def spoiled(answer: Answer, fault: Fault, spelling: Spelling) -> Answer:
    """The same answer, gone wrong."""
    half = len(answer.steps) // 2
    match fault:
        case Reset(at) | HangUp(at):
            return _stopped(answer, Cut(reset=isinstance(fault, Reset)), at)
        case Stall(seconds, at):
            return _stopped(answer, Wait(seconds), at)
        case Drip(seconds):
            slow = [step for chunk in answer.steps for step in (Wait(seconds), chunk)]
            return replace(answer, steps=tuple(slow))
        case Status(code, html, retry_after):
            told = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
            return json_answer(code, _page(code) if html else spelling.status(code), told)
        case Malformed():
            return _malformed(answer)
        case HalfStream():
            return replace(answer, steps=answer.steps[:half] if answer.streamed else _halves(answer)[:1])
        case BrokenStream():
            return answer  # the failure stands in it already: only who writes a stream can write its end
        case Empty():
            return replace(answer, steps=())
        case ContentType(value):
            return replace(answer, headers={**answer.headers, "content-type": value})
        case KeepAlives():
            return _noisy(answer, spelling.ping)
        case Chunks(size):
            whole = b"".join(step for step in answer.steps if isinstance(step, bytes))
            return replace(answer, steps=tuple(whole[at : at + size] for at in range(0, len(whole), size)))
        case _:
            assert_never(fault)


def _stopped(answer: Answer, step: Step, at: str) -> Answer:
    if at == "start":
        return replace(answer, before=(*answer.before, step))
    if at == "headers":
        return replace(answer, steps=(step, *answer.steps))
    steps = answer.steps if answer.streamed else _halves(answer)
    half = len(steps) // 2
    return replace(answer, steps=(*steps[:half], step, *steps[half:]))


def _halves(answer: Answer) -> tuple[Step, ...]:
    whole = b"".join(step for step in answer.steps if isinstance(step, bytes))
    return whole[: len(whole) // 2], whole[len(whole) // 2 :]


def _malformed(answer: Answer) -> Answer:
    """An event or a body that stops in the middle of its JSON; the blank line behind an event still comes."""
    half = len(answer.steps) // 2
    broken = answer.steps[half] if answer.steps else None
    if not isinstance(broken, bytes):
        return answer
    cut = broken[: len(broken) * 2 // 3].rstrip(b"\n") + (b"\n\n" if answer.streamed else b"")
    return replace(answer, steps=(*answer.steps[:half], cut, *answer.steps[half + 1 :]))


def _noisy(answer: Answer, ping: bytes) -> Answer:
    if not answer.streamed:
        return answer
    noise = (b": keepalive\n\n", b":\n\n", ping, ping, b"\n")
    steps = [step for number, chunk in enumerate(answer.steps) for step in (noise[number % len(noise)], chunk)]
    return replace(answer, steps=(*noise, *steps))


def _page(status: int) -> str:
    title = {502: "502 Bad Gateway", 503: "503 Service Temporarily Unavailable", 504: "504 Gateway Time-out"}
    said = title.get(status, f"{status} Error")
    return (
        f"<html>\r\n<head><title>{said}</title></head>\r\n<body>\r\n<center><h1>{said}</h1></center>\r\n"
        "<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    )

"""What does a person see of a turn at a terminal: the answer as it comes, each call on a line, and what is awaited?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace

from clew.agent.below import Below, Line, painted
from clew.agent.deeds import deed, is_failed, outcome
from clew.agent.shading import DIM, Shading
from clew.agent.standing import Standing, Word, clipped, fitted, words
from clew.agent.watching import thought_in
from clew.facts.exchange import Failure
from clew.facts.messages import Message, ToolCall
from clew.facts.pieces import Broken, Called, Counted, Piece, Said
from clew.screen.shown import harmless, shown

TICK = 0.1
"""Seconds between two looks at the clock."""
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
MODEL, SUMMARY = "model", "summary"
FAILED, DONE = "31", "32"
SET_IN = "  ↳ "
"""How a helper's deeds are told."""


class Live:
    """Watches one conversation on a terminal."""

    def __init__(self, below: Below, look: Callable[[], Standing], clock: Callable[[], float] = time.monotonic) -> None:
        """`look` tells how the conversation stands, as far as it is written down."""
        self._below = below
        self._look = look
        self._clock = clock
        self._began: float | None = None
        self._stands: Standing | None = None
        self._awaits = MODEL
        self._since = 0.0
        self._running = ""
        self._thought = ""
        self._shading = Shading()
        self._speaking = False
        self._still = False
        self._aside = 0.0

    @asynccontextmanager
    async def turn(self, awaits: str = MODEL) -> AsyncIterator[None]:
        """While it runs, the lines below move."""
        self.begin(awaits)
        ticking = asyncio.ensure_future(self._tick())
        try:
            yield
        finally:
            ticking.cancel()
            with suppress(asyncio.CancelledError):
                await ticking
            self.end()

    def begin(self, awaits: str = MODEL) -> None:
        self._began, self._stands = self._clock(), self._look()
        self._wait_for(awaits)
        if awaits == MODEL:
            self._wait_for_model()

    def end(self) -> None:
        self._end_thought()
        self._end_speech()
        self._began = None
        self._below.keep()
        self._below.end_line()

    def draw(self) -> None:
        """The lines below, as of now."""
        if self._began is None or self._stands is None or self._still:
            return
        now = self._clock()
        spin = SPINNER[int((now - self._began) / TICK) % len(SPINNER)]
        told = [Word(f"{spin} {self._awaits} {now - self._since:.0f} s", 0), *words(self._stands, time.time())]
        status = Line(fitted([*told, Word("Ctrl-C stops", 3)], self._below.width - 1), DIM)
        self._below.keep(*self._activity(spin, now), status)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Nothing moves: someone else writes here."""
        self._below.end_line()
        self._below.keep()
        self._still, began = True, self._clock()
        try:
            yield
        finally:
            self._still = False
            self._aside += self._clock() - began
            self._since += self._clock() - began

    def piece(self, piece: Piece) -> None:
        match piece:
            case Said(text):
                self._end_thought()
                self._speak(text)
            case Called(name=name):
                self._end_thought()
                self._wait_for(f"model, writing {shown(name)}")
            case Counted(usage) if self._stands:
                self._stands = self._stands.measured(usage.standing + usage.output)
            case Broken(failure):
                self._wait_for(_reason(failure))
            case _ if thought := thought_in(piece):
                self._think(thought)

    def calling(self, call: ToolCall) -> None:
        self._end_thought()
        self._end_speech()
        self._refresh()
        self._running, self._aside = deed(call), 0.0
        self._wait_for(shown(call.name))
        self.draw()

    def called(self, call: ToolCall, result: Message, seconds: float) -> None:
        self._running = ""
        bad, took = is_failed(result), max(0.0, seconds - self._aside)  # a person's thinking is not the tool's time
        self._line(*_told(call, result, took, self._below.width - 1), "✗" if bad else "✓", FAILED if bad else DONE)
        self._refresh()
        self._wait_for_model()

    def told(self, text: str) -> None:
        self._end_thought()
        self._end_speech()
        text = harmless(text)
        mark = "" if text.startswith(SET_IN) else "· "
        for line in text.split("\n"):
            told = f"{mark}{line}"
            self._below.line(told, painted(told, DIM))
        self._refresh()
        if self._awaits == SUMMARY:
            self._wait_for(MODEL)

    async def _tick(self) -> None:
        while True:
            self.draw()
            await asyncio.sleep(TICK)

    def _activity(self, spin: str, now: float) -> list[Line]:
        """The call that runs, or the newest thought."""
        width = self._below.width - 1
        if self._running:
            return [Line(clipped(f"{spin} {self._running}", width - 8) + f"  {now - self._since:.0f} s")]
        newest = self._thought.rstrip().rpartition("\n")[2].strip()
        if newest:  # its end is what is new
            room = max(1, width - 4)
            return [Line(f"✻ {newest if len(newest) <= room else '…' + newest[1 - room :]}", DIM)]
        return []

    def _wait_for(self, what: str) -> None:
        if what != self._awaits:
            self._since = self._clock()
        self._awaits = what

    def _wait_for_model(self) -> None:
        """A prompt that is too heavy waits for room to be made first."""
        full = self._stands is not None and self._stands.tokens >= self._stands.full
        self._since = self._clock()
        self._wait_for(SUMMARY if full else MODEL)

    def _refresh(self) -> None:
        if self._stands:
            seen = self._look()
            self._stands = replace(self._stands, cost=seen.cost, cache=seen.cache)

    def _think(self, text: str) -> None:
        self._end_speech()
        self._wait_for("model, thinking")
        self._thought += harmless(text)

    def _end_thought(self) -> None:
        if self._thought.strip():
            told = f"✻ thought for {self._clock() - self._since:.0f} s"
            self._below.line(told, painted(told, DIM))
        self._thought = ""

    def _speak(self, text: str) -> None:
        if not self._speaking:
            self._below.line("")
        self._speaking = True
        self._wait_for("model, answering")
        plain, coloured = self._shading.take(text)
        self._below.write(plain, coloured)

    def _end_speech(self) -> None:
        if self._speaking:
            self._below.write(self._shading.end())
            self._below.line("")
        self._speaking, self._shading = False, Shading()

    def _line(self, does: str, came: str, mark: str, colour: str) -> None:
        self._below.line(f"{mark} {does}  {came}", f"{painted(mark, colour)} {does}  {painted(came, DIM)}")


def _told(call: ToolCall, result: Message, seconds: float, width: int) -> tuple[str, str]:
    """What was done and what came of it; on a narrow screen both give way."""
    took = f"{seconds:.1f} s" if seconds >= 0.05 else ""
    came = clipped(outcome(call, result), max(8, width // 2 - len(took)))
    came = " · ".join(filter(None, (came, took)))
    return clipped(deed(call), max(8, width - len(came) - 4)), came


def _reason(failure: Failure) -> str:
    """What is awaited after a failure."""
    kinds = {
        "rate_limited": "rate limit",
        "prompt_too_long": SUMMARY,
        "payload_too_large": SUMMARY,
        "unavailable": "provider, trying again",
    }
    return kinds.get(failure.kind, MODEL)

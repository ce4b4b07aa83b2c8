"""What is not ours runs beside the conversation: in a thread of its own, one question after another, with a limit."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from clew.core.effects import Consult, Silent

_Asked: TypeAlias = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class Beside:
    """Whoever answers here can be slow or fail, and no turn is lost by it."""

    def __init__(self) -> None:
        self._questions: queue.SimpleQueue[_Asked | None] | None = None

    async def ask(self, question: Callable[[], Any], limit: float) -> Any:
        """The answer, or `Silent` with the reason. Questions are answered in the order they are asked."""
        if self._questions is None:
            self._questions = queue.SimpleQueue()
            # A daemon: a plug-in that hangs must not keep the person from leaving.
            threading.Thread(target=_answering, args=(self._questions,), name="clew-beside", daemon=True).start()
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._questions.put((question, asyncio.get_running_loop(), answer))
        try:
            return await asyncio.wait_for(answer, limit)
        except TimeoutError:
            self._questions = None  # that thread hangs; the next question gets a new one
            return Silent(f"no answer within {limit:g} s")

    async def consult(self, wish: Consult) -> Any:
        return await self.ask(wish.question, wish.limit)

    def close(self) -> None:
        if self._questions is not None:
            self._questions.put(None)
            self._questions = None


def consulted(wish: Consult) -> Any:
    """The answer, waited for where nothing else goes on."""
    return _answer(wish.question)


def _answer(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except Exception as trouble:
        return Silent(f"{type(trouble).__name__}: {trouble}")


def _answering(questions: queue.SimpleQueue[_Asked | None]) -> None:
    while (asked := questions.get()) is not None:
        question, loop, answer = asked
        told = _answer(question)
        try:
            loop.call_soon_threadsafe(_settle, answer, told)
        except RuntimeError:  # the loop has ended, and with it whoever asked
            return


def _settle(answer: asyncio.Future[Any], told: Any) -> None:
    if not answer.done():
        answer.set_result(told)

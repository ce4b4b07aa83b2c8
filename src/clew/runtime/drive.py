"""Carries out what the core asks for. The only place that knows the difference between `def` and `async def`."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Generator, Mapping
from typing import Any, TypeAlias, TypeVar

from clew.core.effects import Effect

T = TypeVar("T")
Hands: TypeAlias = Mapping[type[Effect[Any]], Callable[[Any], Any]]
"""For each kind of wish the function that fulfils it: plain or async, whichever driver runs it."""


def drive(story: Generator[Effect[Any], Any, T], hands: Hands) -> T:
    """Run a story to its end, doing what it asks for."""
    answer: Any = None
    while True:
        try:
            wish = story.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        answer = settled(hands[type(wish)](wish))


async def adrive(story: Generator[Effect[Any], Any, T], hands: Hands) -> T:
    """The same, awaiting what has to be awaited."""
    answer: Any = None
    while True:
        try:
            wish = story.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        answer = hands[type(wish)](wish)
        if inspect.isawaitable(answer):
            answer = await answer


async def drive_beside(story: Generator[Effect[Any], Any, T], hands: Hands) -> T:
    """The same, thinking in a thread, so that whatever else goes on here is not held up."""
    answer: Any = None
    while True:
        wish, end = await asyncio.to_thread(_next, story, answer)
        if wish is None:
            return end  # type: ignore[no-any-return]
        answer = hands[type(wish)](wish)
        if inspect.isawaitable(answer):
            answer = await answer


def _next(story: Generator[Effect[Any], Any, T], answer: Any) -> tuple[Effect[Any] | None, Any]:
    """The next wish, or None and what the story ends in."""
    try:
        return story.send(answer), None
    except StopIteration as end:
        return None, end.value


def settled(answer: Any) -> Any:
    """An async hand's answer for a sync caller, also from inside a running event loop."""
    if not inspect.isawaitable(answer):
        return answer

    async def wait() -> Any:
        return await answer

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    return _in_a_thread(wait())


def _in_a_thread(waiting: Coroutine[Any, Any, Any]) -> Any:
    """A loop is running here and must not be entered twice, so the answer is waited for beside it."""
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(waiting))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, name="clew-summary")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]

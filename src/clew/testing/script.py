"""A model whose words are written down beforehand: what did the story ask for?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from clew.core.effects import Append, CallModel, Continue, Effect, Learn, RunTools, Sleep, Spill, Summarise, Tell
from clew.facts.exchange import Failure, Prompt, Reply
from clew.facts.messages import message, tool_result
from clew.facts.session import Opened


class Script:
    """A model whose words are written down beforehand, and a world that notes what it was asked for.

    >>> from clew.core.effects import CallModel
    >>> from clew.facts.exchange import Prompt
    >>> script = Script(["hello"])
    >>> script.hands()[CallModel](Prompt("", ())).message.text
    'hello'
    """

    def __init__(
        self, replies: Iterable[str | Reply | Failure], *, tools: Callable[[str, str], str] | None = None
    ) -> None:
        """`replies` are used up in their order; `tools` answers a call, given its name and arguments."""
        self._replies = list(replies)
        self._tools = tools or (lambda name, arguments: f"{name} done")
        self.asked: list[Effect[Any]] = []
        """Every wish, in the order it was made."""

    @property
    def prompts(self) -> list[Prompt]:
        """What was sent to the model."""
        return [wish.prompt for wish in self.asked if isinstance(wish, CallModel)]

    def hands(self) -> dict[type[Effect[Any]], Callable[[Any], Any]]:
        """What `clew.runtime.drive.drive` needs to run a story on this script."""
        answers: dict[type[Effect[Any]], Callable[[Any], Any]] = {
            CallModel: lambda wish: self._next(),
            RunTools: lambda wish: tuple(tool_result(c, self._tools(c.name, c.arguments)) for c in wish.calls),
            Continue: lambda wish: Opened(f"{wish.session.id}+", wish.session.system + wish.compaction.system_note),
            Spill: lambda wish: f"blob for {wish.call_id}",
            Summarise: lambda wish: None,
        }
        silent = dict.fromkeys((Append, Learn, Sleep, Tell), lambda wish: None)
        return {kind: self._noting(answer) for kind, answer in {**answers, **silent}.items()}

    def _noting(self, answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def hand(wish: Any) -> Any:
            self.asked.append(wish)
            return answer(wish)

        return hand

    def _next(self) -> Reply | Failure:
        if not self._replies:
            raise AssertionError(f"the script has no reply left for call {len(self.prompts)}")
        reply = self._replies.pop(0)
        return Reply(message("assistant", reply)) if isinstance(reply, str) else reply

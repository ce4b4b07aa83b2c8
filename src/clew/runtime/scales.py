"""What the engines weigh with: the counting of `tokens`, fitted to the core's port."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from clew.facts.messages import Message, other_parts, tool_call
from clew.tokens import Scale as TextScale
from clew.tokens import count_message, default

FEW = 64
"""Messages up to which each is weighed."""
SOME = 24
"""Of more than few, about so many are looked at for what stands around their texts."""


class Scale:
    """Weighs text and messages; a `count` of the caller's own replaces clew's."""

    def __init__(self, count: Callable[[str], int] | None = None) -> None:
        self._texts = default() if count is None else TextScale(count)
        self._samples = count is None

    def text(self, text: str) -> int:
        return self._texts.count(text)

    def message(self, message: Message) -> int:
        return count_message(message.raw, self._texts)

    def messages(self, messages: Iterable[Message]) -> int:
        """The sum over many: their text by a sample of it, what is around the text by a sample of the messages."""
        many = list(messages)
        if len(many) <= FEW or not self._samples:
            return sum(map(self.message, many))
        some = many[:: len(many) // SOME | 1]  # an odd step, because calls, results and answers come in even rhythms
        around = sum(count_message(_without_text(said), self._texts) for said in some)
        return self._texts.count_all(_spoken(many)) + around * len(many) // len(some)


def _spoken(messages: Sequence[Message]) -> list[str]:
    """The texts that make up nearly all of the weight: what was said, and the arguments of calls."""
    return [said.text for said in messages] + [call.arguments for said in messages for call in said.calls]


def _without_text(said: Message) -> dict[str, Any]:
    """The message with nothing said in it: its marks, ids and names, and what it holds besides text."""
    calls = [tool_call(call, "").raw for call in said.calls]
    return {**said.raw, "content": other_parts(said) or None, **({"tool_calls": calls} if calls else {})}

"""What the engines weigh with: the counting of `tokens`, fitted to the core's port."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from clew.facts.messages import Message
from clew.tokens import Scale as TextScale
from clew.tokens import count_message, count_messages, default


class Scale:
    """Weighs text and messages; a `count` of the caller's own replaces clew's."""

    def __init__(self, count: Callable[[str], int] | None = None) -> None:
        self._texts = default() if count is None else TextScale(count)

    def text(self, text: str) -> int:
        return self._texts.count(text)

    def message(self, message: Message) -> int:
        return count_message(message.raw, self._texts)

    def messages(self, messages: Iterable[Message]) -> int:
        return count_messages([said.raw for said in messages], self._texts)

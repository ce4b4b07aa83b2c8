"""How many tokens does the simulated provider say this is?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from clew.facts.messages import Message
from clew.testing.simulator.cache_blocks import Block
from clew.tokens import Scale, count_exact, count_message

FRAME = 4  # tokens around every block: whose it is, and the marks where it begins and ends


@dataclass(frozen=True, slots=True)
class Weight:
    """The tokens of a prompt, by what they are."""

    messages: int
    """The system prompt among them."""
    tools: int

    @property
    def whole(self) -> int:
        return self.messages + self.tools


class Weigher:
    """Counts with a real vocabulary (o200k), every text once.

    A prompt is weighed block by block, because that is how it is cached: what is read, written and fresh is its sum.
    """

    def __init__(self, factor: float = 1.0) -> None:
        """`factor`: how many of this provider's tokens one of o200k is."""
        self._factor = factor
        self._scale = Scale(count_exact)

    def prompt(self, blocks: Iterable[Block]) -> Weight:
        tools = messages = 0
        for block in blocks:
            if block.role == "tools":
                tools += self.block(block.value)
            else:
                messages += self.block(block.value)
        return Weight(messages, tools)

    def block(self, value: Mapping[str, Any]) -> int:
        """A tool, a part of a message, a call or an item, in any dialect."""
        return self._scaled(count_message(_as_message(value), self._scale))

    def message(self, message: Message) -> int:
        """What the model said, without the frame that a message has once it stands in a prompt."""
        return max(1, self._scaled(count_message(message.raw, self._scale) - FRAME))

    def text(self, text: str) -> int:
        return self._scaled(self._scale.count(text)) if text else 0

    def beginning(self, text: str, room: int) -> str:
        """As much of a text as fits into `room` tokens."""
        if self.text(text) <= room:
            return text
        low, high = 0, len(text)
        while high - low > 1:  # `low` characters fit, `high` do not
            middle = (low + high) // 2
            low, high = (middle, high) if self.text(text[:middle]) <= room else (low, middle)
        return text[:low]

    def _scaled(self, tokens: int) -> int:
        return ceil(tokens * self._factor)


def _as_message(value: Mapping[str, Any]) -> dict[str, Any]:
    """A block as a message that holds nothing else; calls as chat has them, so that all dialects weigh alike."""
    if value.get("type") == "function_call":
        called = {"name": value.get("name"), "arguments": value.get("arguments")}
        return {"role": "assistant", "tool_calls": [{"id": value.get("call_id"), "function": called}]}
    if "id" in value and "function" in value:
        return {"role": "assistant", "tool_calls": [value]}
    return {"role": "user", "content": [value]}

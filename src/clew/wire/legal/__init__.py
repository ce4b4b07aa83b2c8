"""Would a provider take these messages as they stand?

A judge, not a repairer: it shares no code with what puts histories right, so that either can catch the other out.
Messages are counted from 1, as a person reading them would. Every history may end with calls still in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clew.wire.legal.anthropic import judge_anthropic
from clew.wire.legal.chat import judge_openai
from clew.wire.legal.responses import judge_responses
from clew.wire.legal.values import Problems

DIALECTS: dict[str, Callable[[Sequence[Any]], Problems]] = {
    "openai": judge_openai,
    "anthropic": judge_anthropic,
    "responses": judge_responses,
}


def validate_messages(messages: Sequence[Mapping[str, Any]], dialect: str = "openai") -> list[str]:
    """What is wrong with these messages for a provider that speaks `dialect`, in sentences; empty when nothing is.

    "openai" takes chat messages. "anthropic" and "responses" take their own form or chat messages, which are judged as
    what they become. Anything at all may be passed: what is not a message is reported, not raised.

    >>> validate_messages([{"role": "assistant", "content": "Hello"}])
    ['there is no user message']
    """
    judge = DIALECTS.get(dialect)
    if judge is None:
        raise ValueError(f"unknown dialect {dialect!r}; choose one of {', '.join(DIALECTS)}")
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        return [f"not a list of messages but {type(messages).__name__}"]
    return list(judge(messages))

"""Which limit does a request break, and how long may its reply be?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clew.testing.simulator.providers import Provider, Refusal
from clew.testing.simulator.weighing import Weight


@dataclass(frozen=True, slots=True)
class Limits:
    """What the simulated model can take, in tokens, and the endpoint, in bytes."""

    window: int
    max_output: int
    body_bytes: int
    clamps: bool
    """Output that does not fit into the window is cut to what does, also where the provider would refuse."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What matters of one request here."""

    dialect: str
    model: str
    weight: Weight
    output: int | None
    """The most output it asks for; None leaves it to the provider."""


def broken_limit(ask: Ask, limits: Limits, provider: Provider) -> Refusal | None:
    """The refusal that this request meets with; None when it fits."""
    if ask.output is not None and ask.output > limits.max_output and provider.cap is not None:
        return provider.cap
    if ask.weight.whole > limits.window:
        return (provider.item_prompt if ask.dialect == "responses" else None) or provider.prompt
    reserved = ask.weight.whole + (ask.output or 0)
    # The Responses endpoint reserves nothing: a reply that reaches the end of the window is incomplete.
    if reserved > limits.window and not limits.clamps and ask.dialect != "responses":
        return provider.window
    return None


def room_for_reply(ask: Ask, limits: Limits) -> int:
    """Tokens the reply may have, at least one."""
    wanted = limits.max_output if ask.output is None else min(ask.output, limits.max_output)
    return max(1, min(wanted, limits.window - ask.weight.whole))


def numbers(ask: Ask, limits: Limits) -> dict[str, Any]:
    """What this request puts into the holes of a refusal."""
    weight, output = ask.weight, ask.output or 0
    tooled = weight.tools > 0
    return {
        "limit": limits.window,
        "used": weight.whole,
        "messages": weight.messages,
        "output": output,
        "total": weight.whole + output,
        "over": weight.whole - limits.window,
        "cap": limits.max_output,
        "above_cap": limits.max_output + 1,
        "model": ask.model,
        "functions": f" ({weight.messages} in the messages, {weight.tools} in the functions)" if tooled else "",
        "or_functions": " or functions" if tooled else "",
        "tool_input": f", {weight.tools} of tool input" if tooled else "",
    }

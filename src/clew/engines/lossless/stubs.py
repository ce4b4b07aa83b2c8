"""Reversible first: big tool output and huge arguments as a stub that names the whole message and tells its shape."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clew.core.pairs import exchanges
from clew.core.ports import Scale
from clew.core.redact import redact
from clew.engines.actions import one_line, read_action, size_of
from clew.engines.lossless.blocks import left_out
from clew.engines.lossless.seen import Shown
from clew.engines.lossless.shapes import shape_of
from clew.engines.prune import describe
from clew.facts.messages import Message, ToolCall, tool_call

BIG = 1_200
"""Characters of output, or of arguments, from which a stub is clearly smaller. As many tokens, for what is not text."""
HEAD = 120
"""Characters of a huge argument that stay."""


def stub_all(shown: Sequence[Shown], scale: Scale) -> list[Shown]:
    """The same messages with stubs for what is big. Of identical outputs only the newest stays what it is."""
    made = list(shown)
    newest = {one.message.text: n for n, one in enumerate(shown) if one.message.is_result}
    at = {id(one.message): n for n, one in enumerate(shown)}
    for exchange in exchanges([one.message for one in shown]):
        if not exchange.said.calls:
            continue
        made[at[id(exchange.said)]] = with_short_arguments(shown[at[id(exchange.said)]])
        for call, result in zip(exchange.said.calls, exchange.results, strict=True):
            if result is None or (one := shown[at[id(result)]]).id is None:
                continue
            same = shown[newest[result.text]].id if newest[result.text] > at[id(result)] else None
            if is_big(result, scale):
                made[at[id(result)]] = stub(one, call, scale, same)
    return made


def is_big(said: Message, scale: Scale) -> bool:
    return len(said.text) > BIG or scale.message(said) > BIG


def stub(one: Shown, call: ToolCall | None, scale: Scale, same_as: str | None = None) -> Shown:
    """One message as its stub: what it was, its shape, and the id that gives it back."""
    said = one.message
    if one.id is None:
        return one
    did = describe(read_action(call, said)) if call else f"{said.role}, {size_of(said.text)}"
    told = f"{left_out(one.id)}; lcm_expand gives it back] {one_line(redact(did), 240)}"
    told += f"\nThe same output came again as {same_as}." if same_as else f"\n{shape_of(said.text)}"
    short = Message(said.role, told, said.calls, said.call_id, said.name, {**said.raw, "content": told})
    return replace(one, message=short) if scale.message(short) < scale.message(said) else one


def with_short_arguments(one: Shown) -> Shown:
    """Huge arguments cut; they stay a JSON object and name the whole message."""
    said = one.message
    if one.id is None or all(len(call.arguments) <= BIG for call in said.calls):
        return one
    return replace(one, message=said.calling([_short(call, one.id) for call in said.calls]))


def _short(call: ToolCall, id_: str) -> ToolCall:
    if len(call.arguments) <= BIG or call.raw.get("type") == "custom":
        return call
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call
    if not isinstance(value, dict):
        return call
    cut = {key: _cut(inner, id_) for key, inner in value.items()}
    return tool_call(call, json.dumps(cut, ensure_ascii=False))


def _cut(value: Any, id_: str) -> Any:
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(told) <= BIG // 2:
        return value
    return f"{redact(told[:HEAD])}… {left_out(id_)}, {size_of(told)}]"

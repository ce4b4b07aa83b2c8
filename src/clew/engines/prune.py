"""What old tool output and huge arguments come down to: one line, valid JSON, no model asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clew.core.pairs import exchanges
from clew.engines.actions import Action, Verb, one_line, read_action, size_of
from clew.facts.messages import Message, ToolCall, other_parts, tool_call

CLEARED = "[Old tool output cleared to save context space]"
RESULT_WORTH_PRUNING = 200
"""Characters. A shorter result costs about what its one-liner would."""
ARGUMENTS_WORTH_PRUNING = 1_000
LEAF = 200
"""Characters kept of one long string inside arguments."""
ITEMS = 8
"""Entries kept of one long list or object inside arguments."""

_DID: Mapping[Verb, str] = {
    Verb.READ: "read {}",
    Verb.WRITE: "wrote {}",
    Verb.EDIT: "edited {}",
    Verb.RUN: "ran `{}`",
    Verb.SEARCH: "searched `{}`",
    Verb.LIST: "listed {}",
    Verb.FETCH: "fetched {}",
    Verb.ASK: "asked {}",
    Verb.PLAN: "planned {}",
    Verb.DELEGATE: "delegated {}",
    Verb.CALL: "{}",
}


def prune(messages: Sequence[Message], *, before: int) -> tuple[Message, ...]:
    """The history with tool output and arguments ahead of place `before` cut down; everything else as it was."""
    pruned = list(messages)
    places = {id(said): place for place, said in enumerate(messages)}
    newest = {said.text: place for place, said in enumerate(messages) if said.is_result}
    for exchange in exchanges(messages):
        if exchange.place >= before or not exchange.said.calls:
            continue
        for call, result in zip(exchange.said.calls, exchange.results, strict=True):
            if result is None or places[id(result)] >= before or len(result.text) <= RESULT_WORTH_PRUNING:
                continue
            place = places[id(result)]
            again = newest[result.text] > place
            pruned[place] = result.saying(same_again(call) if again else one_liner(call, result))
        if not exchange.is_open:
            pruned[exchange.place] = with_short_arguments(exchange.said)
    return tuple(pruned)


def one_liner(call: ToolCall, result: Message) -> str:
    """``[terminal] ran `pytest tests/` -> exit 1, 3,000 lines output``: tool, target, outcome, size."""
    action = read_action(call, result)
    told = describe(action)
    shape = f", {len(other_parts(result))} image or file parts" if other_parts(result) else ""
    said = f"{told}{shape}" if told else CLEARED
    return said if len(said) < len(result.text) else CLEARED


def describe(action: Action) -> str:
    """One line for one action; empty where there is nothing useful to say."""
    if not action.target and not action.outcome:
        return ""
    did = _DID[action.verb].format(action.target).strip()
    return f"[{action.tool}] {did} -> {action.outcome}" if did else f"[{action.tool}] -> {action.outcome}"


def same_again(call: ToolCall) -> str:
    return f"[{call.name or 'tool'}] the same output came again later and stands there"


def with_short_arguments(said: Message) -> Message:
    """The message with huge arguments cut down; they stay valid JSON, and a JSON object stays one."""
    if all(len(call.arguments) <= ARGUMENTS_WORTH_PRUNING for call in said.calls):
        return said
    return said.calling([shorten(call) for call in said.calls])


def shorten(call: ToolCall, most: int = ARGUMENTS_WORTH_PRUNING) -> ToolCall:
    """The call with arguments of at most about `most` characters."""
    if len(call.arguments) <= most:
        return call
    return tool_call(call, short_arguments(call.arguments, most))


def short_arguments(arguments: str, most: int) -> str:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = None
    if value is not None:
        for leaf, items in ((LEAF, ITEMS * 4), (LEAF, ITEMS), (LEAF // 4, ITEMS // 2)):
            short = json.dumps(_short(value, leaf, items), ensure_ascii=False)
            if len(short) <= most:
                return short
    # Not JSON, or JSON of very many small pieces: what it began with and how long it was.
    return json.dumps({"cut": one_line(arguments, LEAF), "characters": len(arguments)}, ensure_ascii=False)


def _short(value: Any, leaf: int, items: int) -> Any:
    match value:
        case str() if len(value) > leaf:
            return f"{value[:leaf]}… [{size_of(value)} in all]"
        case list() if len(value) > items:
            return [*(_short(inner, leaf, items) for inner in value[:items]), f"… [{len(value):,} entries in all]"]
        case list():
            return [_short(inner, leaf, items) for inner in value]
        case dict():
            kept = {key[:leaf]: _short(inner, leaf, items) for key, inner in list(value.items())[:items]}
            return kept if len(value) <= items else {**kept, "…": f"{len(value):,} entries in all"}
        case _:
            return value


def shape(text: str, *, most: int, where: str) -> str:
    """What stands for a text too large to keep: its first and last lines, how much is between, where the rest is."""
    half = max(most // 2, 80)
    head, tail = text[:half], text[-half:]
    left_out = len(text) - len(head) - len(tail)
    if left_out <= 0:
        return text
    return f"{head}\n[… {left_out:,} of {size_of(text)} ({len(text):,} characters) left out here; {where} …]\n{tail}"

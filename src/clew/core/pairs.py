"""Where a history may be cut, and how one that was cut is made legal again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from clew.core.speaker import HISTORY_STARTS_LATER
from clew.facts.messages import RESULT_ROLES, Message, ToolCall, message, tool_call, tool_result

RESULT_IS_GONE = "[The result of this call is no longer in the conversation.]"


class Exchange(NamedTuple):
    """What has to stay together: one message, or calls with the results that answer them."""

    said: Message
    place: int
    """Where it stands in the history."""
    results: tuple[Message | None, ...] = ()
    """One for each call, in the calls' order; None where nothing answers."""
    places: tuple[int, ...] = ()
    """Where its messages stand: results can stand apart from their call."""

    @property
    def messages(self) -> tuple[Message, ...]:
        return (self.said, *(result for result in self.results if result is not None))

    @property
    def is_open(self) -> bool:
        return None in self.results


def exchanges(messages: Sequence[Message]) -> list[Exchange]:
    """The history as exchanges. Results that answer no call are left out.

    A result answers the newest call with its id that has none yet: hosts reuse ids, and put hook output between a
    call and its result.
    """
    found: list[Exchange] = []
    answers: dict[int, list[int | None]] = {}  # number of the exchange → places of the results, one for each call
    waiting: dict[str, tuple[int, ...]] = {}  # id → the exchange, then its calls with this id that have no result yet
    for place, said in enumerate(messages):
        if said.role in RESULT_ROLES:
            if asked := waiting.pop(said.call_id, None):
                answers[asked[0]][asked[1]] = place
                if len(asked) > 2:
                    waiting[said.call_id] = (asked[0], *asked[2:])
            continue
        if said.calls:
            answers[len(found)] = [None] * len(said.calls)
            for call, made in enumerate(said.calls):
                known = waiting.get(made.id)
                waiting[made.id] = (*known, call) if known and known[0] == len(found) else (len(found), call)
        found.append(Exchange(said, place, (), (place,)))
    for number, places in answers.items():
        said, place, _, _ = found[number]
        results = tuple([None if at is None else messages[at] for at in places])
        found[number] = Exchange(said, place, results, (place, *sorted([at for at in places if at is not None])))
    return found


def repair(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The history as every provider accepts it, otherwise unchanged.

    Results stand right behind their calls, in the calls' order; results whose call is gone leave; calls whose result
    is gone get a stub; arguments are JSON objects; the first message after the system's is a user's. A trailing call
    that is still in flight is not touched.
    """
    found = exchanges(messages)
    legal: list[Message] = []
    for number, exchange in enumerate(found):
        in_flight = exchange.is_open and number == len(found) - 1
        legal.append(exchange.said if in_flight else _with_sound_arguments(exchange.said))
        for call, result in zip(exchange.said.calls, exchange.results, strict=True):
            if result is not None:
                legal.append(result)
            elif not in_flight:
                legal.append(tool_result(call, RESULT_IS_GONE))
    opening = next((place for place, said in enumerate(legal) if not said.is_system), None)
    if opening is not None and legal[opening].role != "user":
        legal.insert(opening, message("user", HISTORY_STARTS_LATER))
    return tuple(legal)


def legal_cuts(messages: Sequence[Message]) -> list[int]:
    """Every place where the history may be cut, in order: those that each small rule allows."""
    return sorted(_between_exchanges(messages) & _before_a_speaker(messages))


def _between_exchanges(messages: Sequence[Message]) -> set[int]:
    """No call on one side with its result on the other."""
    reach, whole = 0, {0, len(messages)}
    for exchange in exchanges(messages):
        if exchange.place >= reach:
            whole.add(exchange.place)
        reach = max(reach, exchange.places[-1] + 1)
    return whole


def _before_a_speaker(messages: Sequence[Message]) -> set[int]:
    """No stray result at the front of what stays."""
    return {place for place, said in enumerate(messages) if not said.is_result} | {len(messages)}


def _with_sound_arguments(said: Message) -> Message:
    if all(map(_is_sound, said.calls)):
        return said
    return said.calling([call if _is_sound(call) else _with_json(call) for call in said.calls])


def _is_sound(call: ToolCall) -> bool:
    if call.raw.get("type") == "custom":  # which takes text as it is
        return True
    function = call.raw.get("function")
    as_text = isinstance(function, dict) and isinstance(function.get("arguments"), str)
    return as_text and isinstance(_parsed(call.arguments), dict)


def _with_json(call: ToolCall) -> ToolCall:
    """The call with a JSON object for arguments; whatever they were is kept inside."""
    value = _parsed(call.arguments)
    kept = value if isinstance(value, dict) else {"arguments": value} if value else {}
    return tool_call(call, json.dumps(kept, ensure_ascii=False))


def _parsed(arguments: str) -> object:
    """The arguments as JSON, or the text itself where they are none."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments

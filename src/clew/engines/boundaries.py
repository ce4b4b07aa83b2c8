"""Which messages stay and which the summary will stand for: both ends, the newest request, and the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.core.pairs import Exchange, exchanges
from clew.core.ports import Scale
from clew.core.speaker import is_clews_own, is_handoff, newest_said_by_person
from clew.engines.handoff import unwrap
from clew.engines.prune import shape, with_short_arguments
from clew.facts.budget import Budget
from clew.facts.messages import Message
from clew.facts.model import Policy

AROUND_SUMMARY = 250
"""Tokens of the words around a summary: its opening, guidance and closing line."""
CHARACTERS_PER_TOKEN = 2
"""How many characters of a message too large to keep are shown for a token: few, so that the shape surely fits."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Where every message of a history goes, by its place. Own rows of earlier compactions are in none of these."""

    messages: tuple[Message, ...]
    system: tuple[int, ...]
    head: tuple[int, ...]
    middle: tuple[int, ...]
    newest_request: int | None
    """The newest message of a person, when it stands before the tail: it is brought forward, word for word."""
    tail: tuple[int, ...]
    shortened: dict[int, Message]
    """What stands in for kept messages that are too large to keep whole."""
    previous: str
    """The summary an earlier compaction left; empty on the first."""
    leaving: tuple[Exchange, ...]
    """The middle, as exchanges."""

    def kept(self, places: Sequence[int]) -> list[Message]:
        return [self.shortened.get(place, self.messages[place]) for place in places]

    @property
    def task(self) -> str:
        """The newest request of a person, verbatim, wherever it stands."""
        place = newest_said_by_person(self.messages)
        return "" if place is None else self.messages[place].text


def plan(messages: tuple[Message, ...], budget: Budget, policy: Policy, scale: Scale) -> Plan:
    """Decide what stays. Looking does not touch anything."""
    leading = next((place for place, said in enumerate(messages) if not said.is_system), len(messages))
    bracketed = [place for place, said in enumerate(messages) if said.text[:1] == "[" and place >= leading]
    own = {place for place in bracketed if is_clews_own(messages[place])}
    handoffs = [place for place in own if is_handoff(messages[place])]
    units = [unit for unit in exchanges(messages) if unit.place >= leading and unit.place not in own]
    newest = newest_said_by_person(messages)
    asking = next((number for number in range(len(units) - 1, -1, -1) if units[number].place == newest), None)

    fitted = _Fitted(messages, budget, scale, newest)
    start = _tail_start(units, fitted, budget, policy, asking)
    end = 0 if handoffs else _head_end(units[:start], budget, policy, scale)
    is_apart = asking is not None and asking < start
    if is_apart:
        end = min(end, asking or 0)  # what it leads up to comes after it, so it cannot stay at the front
    following = units[asking or 0] if is_apart else units[start] if start < len(units) else None
    while end and following and units[end - 1].said.role == "user" and following.said.role == "assistant":
        end -= 1  # no role would fit between a user and an assistant

    head, tail = _places(units[:end]), _places(units[start:])
    staying = {*range(leading), *head, *tail, *([newest] if is_apart else [])}
    return Plan(
        messages=messages,
        system=tuple(range(leading)),
        head=head,
        middle=tuple(place for place in range(len(messages)) if place not in staying and place not in own),
        newest_request=newest if is_apart else None,
        tail=tail,
        shortened={place: short for place, short in fitted.shortened.items() if place in staying},
        previous=unwrap(messages[max(handoffs)].text) if handoffs else "",
        leaving=tuple(unit for unit in units if unit.place not in staying),
    )


def _tail_start(units: Sequence[Exchange], fitted: _Fitted, budget: Budget, policy: Policy, asking: int | None) -> int:
    """Walk back from the end while the newest messages fit their share, and on to the last n while they fit at all."""
    spare = fitted.spare - (fitted.weight(units[asking]) if asking is not None else 0)
    share, ceiling = min(budget.tail, spare), min(budget.tail_ceiling, spare)
    weight = messages = 0
    start = len(units)
    for number in range(len(units) - 1, -1, -1):
        more = 0 if number == asking else fitted.weight(units[number])
        fits = weight + more <= (ceiling if messages < policy.protect_last_n else share)
        if not fits and start < len(units):
            break
        weight, messages, start = weight + more, messages + len(units[number].places), number
    return start


def _head_end(units: Sequence[Exchange], budget: Budget, policy: Policy, scale: Scale) -> int:
    """Walk forward over the opening exchange while it is within its share."""
    weight = messages = end = 0
    for unit in units:
        weight += sum(scale.message(said) for said in unit.messages)
        if messages >= policy.protect_first_n or weight > budget.head:
            break
        messages += len(unit.places)
        end += 1
    return end


def _places(units: Sequence[Exchange]) -> tuple[int, ...]:
    return tuple(sorted(place for unit in units for place in unit.places))


class _Fitted:
    """Weighs exchanges as they will be kept: one larger than the tail's share in part, with a pointer and a shape."""

    def __init__(self, messages: Sequence[Message], budget: Budget, scale: Scale, newest: int | None) -> None:
        self.messages, self.scale, self.newest = messages, scale, newest
        self.spare = budget.target - budget.summary - AROUND_SUMMARY
        self.most = budget.tail
        self.shortened: dict[int, Message] = {}

    def weight(self, unit: Exchange) -> int:
        weights = {place: self.scale.message(self.messages[place]) for place in unit.places}
        most = self.spare - self.most // 2 if unit.place == self.newest else self.most
        if sum(weights.values()) > most:
            fair = most // len(weights)
            for place, weight in weights.items():
                if weight > fair and not (place == unit.place and unit.is_open):
                    self.shortened[place] = _in_part(self.messages[place], place, fair)
                    weights[place] = self.scale.message(self.shortened[place])
        return sum(weights.values())


def _in_part(said: Message, place: int, tokens: int) -> Message:
    """A message in part: how it begins and ends, how much is missing, where it stood."""
    where = f"message {place} of the compacted conversation has it whole"
    short = said.saying(shape(said.text, most=max(tokens * CHARACTERS_PER_TOKEN - 200, 200), where=where))
    return with_short_arguments(short)

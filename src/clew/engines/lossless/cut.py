"""Where the tail begins: the newest messages that stay word for word, at a place where nothing is torn apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clew.core.pairs import exchanges, legal_cuts
from clew.core.ports import Scale
from clew.core.speaker import is_handoff, newest_said_by_person
from clew.engines.lossless.blocks import left_out, node_of
from clew.engines.lossless.seen import Seen, Shown
from clew.engines.lossless.shares import Shares
from clew.engines.lossless.stubs import stub, with_short_arguments
from clew.engines.prune import shape
from clew.facts.messages import Message

LAST = 8
"""Messages at the end that stay although they are heavier than the tail's share, as long as that is not by far."""
CHARACTERS_PER_TOKEN = 2
"""How many characters of a message too large to keep are shown for a token: few, so that the shape surely fits."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What goes where. Messages of clew's own are in none of these."""

    system: tuple[Message, ...]
    asked: Shown | None
    """The newest request of a person, where nodes already cover it."""
    old: tuple[Shown, ...]
    """Ahead of the tail, not covered yet."""
    tail: tuple[Shown, ...]
    handoff: str
    """The summary that another engine left; mostly empty."""
    behind: int
    """The place of the first message behind that summary, which stands for everything before."""

    @property
    def upto(self) -> int | None:
        """The last place that is ahead of the tail; None: nothing is."""
        if not self.old:
            return None
        behind = next((one.place for one in self.tail if one.place is not None), None)
        if behind is not None:
            return behind - 1
        return max((one.place for one in self.old if one.place is not None), default=None)


def cut(seen: Seen, shares: Shares, scale: Scale) -> Cut:
    """Decide what stays. Looking does not touch anything."""
    leading = next((n for n, one in enumerate(seen.shown) if not one.message.is_system), len(seen.shown))
    said = [one for one in seen.shown[leading:] if not one.is_own]
    newest = _newest(said)
    fresh = [one for one in said if one.place is None or one.place > seen.frontier]
    start = _tail_start(fresh, shares, scale, newest)
    tail = _fitting(fresh[start:], shares, scale, newest)
    foreign = [n for n, one in enumerate(seen.shown) if one.is_own and _is_foreign(one.message) and not seen.nodes]
    later = seen.shown[foreign[-1] :] if foreign else ()
    return Cut(
        system=tuple(one.message for one in seen.shown[:leading]),
        asked=_in_part(newest, shares.request, scale) if newest and all(one is not newest for one in fresh) else None,
        old=tuple(fresh[:start]),
        tail=tuple(tail),
        handoff=later[0].message.text if later else "",
        behind=next((one.place for one in later if one.place is not None), 0),
    )


def _newest(shown: Sequence[Shown]) -> Shown | None:
    place = newest_said_by_person(tuple(one.message for one in shown))
    return None if place is None else shown[place]


def _tail_start(fresh: Sequence[Shown], shares: Shares, scale: Scale, newest: Shown | None) -> int:
    """Walk back from the end while exchanges fit; then to the nearest place where the history may be cut."""
    messages = [one.message for one in fresh]
    weight = count = 0
    start = len(fresh)
    for unit in reversed(exchanges(messages)):
        asks = newest is not None and fresh[unit.place] is newest  # it stays in any case
        more = 0 if asks else sum(scale.message(said) for said in unit.messages)
        if start < len(fresh) and weight + more > (shares.longest_tail if count < LAST else shares.tail):
            break
        weight, count, start = weight + more, count + len(unit.places), min(unit.place, start)
    return max((place for place in legal_cuts(messages) if place <= start), default=0)


def _fitting(tail: Sequence[Shown], shares: Shares, scale: Scale, newest: Shown | None) -> list[Shown]:
    """The tail, with stubs for what is too large in an exchange that is too large for it: only the last one may be."""
    made = list(tail)
    for unit in exchanges([one.message for one in tail]):
        most = shares.request if tail[unit.place] is newest else shares.last
        if sum(scale.message(said) for said in unit.messages) > most:
            for place in unit.places:
                if place != unit.place or not unit.is_open:  # a call in flight is not touched
                    made[place] = _in_part(tail[place], most // len(unit.places), scale)
    return made


def _in_part(one: Shown, most: int, scale: Scale) -> Shown:
    """A message too large to keep: its stub, or how it begins and ends, with the id that gives back the whole."""
    if one.id is None or scale.message(one.message) <= most:
        return one
    if one.message.is_result:
        return stub(one, None, scale)
    where = f"{left_out(one.id)}; lcm_expand has it whole]"
    text = shape(one.message.text, most=max(most * CHARACTERS_PER_TOKEN - 200, 200), where=where)
    short = replace(one, message=one.message.saying(text) if len(text) < len(one.message.text) else one.message)
    return with_short_arguments(short)


def _is_foreign(said: Message) -> bool:
    """Whether it is a summary, and not of a node."""
    return is_handoff(said) and node_of(said) is None

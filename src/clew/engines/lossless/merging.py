"""Several digests, oldest first, as one: what is known after all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from clew.engines.digest import Carried
from clew.engines.ledger import RECENT, Ledger
from clew.engines.talk import Talk

T = TypeVar("T")
_PLACE = re.compile(r" @\d+$")


def merged(parts: Sequence[Carried]) -> Carried:
    """Demands and requests of all of them, once each; of what changes the latest."""
    ledgers, talks = [part.ledger for part in parts], [part.talk for part in parts]
    actions = [did for ledger in ledgers for did in ledger.actions]
    return Carried(
        Ledger(
            requests=_once([said for ledger in ledgers for said in ledger.requests]),
            constraints=_once([said for ledger in ledgers for said in ledger.constraints]),
            actions=tuple(actions[-RECENT:]),
            done=max((ledger.done for ledger in ledgers), default=0) or len(actions),
            files=_latest([ledger.files for ledger in ledgers]),
            errors=_latest([ledger.errors for ledger in ledgers]),
            state=_latest([ledger.state for ledger in ledgers]),
            plan=next((ledger.plan for ledger in reversed(ledgers) if ledger.plan), {}),
        ),
        Talk(
            decisions=_once([said for talk in talks for said in talk.decisions]),
            answered=_once([said for talk in talks for said in talk.answered]),
            pending=talks[-1].pending if talks else (),
            doing=talks[-1].doing if talks else "",
        ),
        _once([string for part in reversed(parts) for string in part.strings]),
    )


def _once(items: Sequence[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))


def _latest(parts: Sequence[Mapping[str, T]]) -> dict[str, T]:
    """One mapping in the order in which things last happened; the same thing at another place is the same thing."""
    found: dict[str, tuple[str, T]] = {}
    for part in parts:
        for key, value in part.items():
            bare = _PLACE.sub("", key)
            found.pop(bare, None)
            found[bare] = (key, value)
    return dict(found.values())

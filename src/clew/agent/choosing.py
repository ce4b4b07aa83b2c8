"""Which models, and which conversations, can a person choose from?"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from clew.agent.picking import Row
from clew.runtime.conversation import Conversation
from clew.screen.amounts import count
from clew.screen.moments import age
from clew.screen.shown import shown
from clew.screen.titles import one_line, title_of
from clew.store.ledger import By
from clew.store.store import Store
from clew.wire.catalog import ModelFacts

Pick: TypeAlias = Callable[[str, Sequence[Row], str | None], Awaitable[str | None]]
"""A title, the rows, the key of the one in use → the key of the one that was picked."""
RECENT = 90 * 86_400
"""Seconds for which a model that was talked to is remembered here."""
CONVERSATIONS = 30
TITLE = 60


def behind(command: str, conversation: Conversation) -> list[Row]:
    """What may stand behind a command."""
    match command:
        case "model":
            return models(conversation)
        case "resume":
            return conversations(conversation.works.store)
        case "unpin":
            return [(str(n), str(n), one_line(text, TITLE)) for n, text in enumerate(conversation.session.pins, 1)]
    return []


def models(conversation: Conversation) -> list[Row]:
    """The model in use, those lately talked to at this provider, then all that are known there."""
    works, who = conversation.works, conversation.who
    provider = who.endpoint.provider
    known = {facts.name: facts for facts in works.catalog.models if facts.provider == provider}
    recent = [row.key for row in works.store.spent(By.MODEL, after=time.time() - RECENT)]
    here = [name for name in recent if (facts := works.catalog.find(name, provider)) and facts.provider == provider]
    names = dict.fromkeys([who.model, *here, *known])
    return [(name, shown(name), _about(works.catalog.find(name, provider))) for name in names]


def conversations(store: Store) -> list[Row]:
    """Those last active."""
    return [
        (
            one.id,
            shown(one.id),
            f"{age(one.active)} · {count(one.messages, 'message')} · {one_line(title_of(store, one), TITLE)}",
        )
        for one in store.conversations(limit=CONVERSATIONS)
    ]


def _about(facts: ModelFacts | None) -> str:
    if facts is None:
        return ""
    told = [f"{facts.window:,} tokens"] if facts.window else []
    prices = facts.prices
    if prices.input is not None and prices.output is not None:
        told.append(f"${prices.input.normalize():f} in, ${prices.output.normalize():f} out a million")
    return " · ".join(told)

"""What did a call take, and what does that cost? One row in the ledger for each, whatever came of it."""

from __future__ import annotations

from clew.facts.exchange import Failure, Reply
from clew.facts.usage import Usage
from clew.runtime.providers import Who
from clew.store.ledger import Call
from clew.store.store import Store
from clew.wire.catalog import Catalog, cost

INTERRUPTED = "interrupted"


class Books:
    """The ledger, with the prices of the day."""

    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog

    def enter(self, session: str, who: Who, answer: Reply | Failure, purpose: str) -> None:
        if isinstance(answer, Reply):
            called = tuple(call.name for call in answer.message.calls)
            self._record(session, who, answer.usage or Usage(), purpose, tools=called)
        else:
            self._record(session, who, Usage(), purpose, failed=answer.kind)

    def enter_interrupted(self, session: str, who: Who, used: Usage, purpose: str) -> None:
        """A call that a person stopped: what its stream had said by then."""
        self._record(session, who, used, purpose, failed=INTERRUPTED)

    def _record(
        self, session: str, who: Who, usage: Usage, purpose: str, *, failed: str = "", tools: tuple[str, ...] = ()
    ) -> None:
        facts = self._catalog.find(who.model, who.endpoint.provider)
        priced = cost(usage, facts) if facts and usage.total else None
        self._store.record(session, Call(usage, who.model, who.endpoint.provider, purpose, failed, priced, tools))

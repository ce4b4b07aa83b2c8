"""The gateway: a request comes in, is known, passed on, and written down. Start here."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from clew.gateway.answering import Answering, Managed, Manager, pass_all
from clew.gateway.asked import Asked
from clew.gateway.body import Gone, Receive, read_body
from clew.gateway.door import DOOR, Door
from clew.gateway.down import Down, Send
from clew.gateway.headers import credential_in, going_up
from clew.gateway.health import Health
from clew.gateway.keys import LOCAL, Key
from clew.gateway.knowing import Knowing
from clew.gateway.known import Known, New
from clew.gateway.leaving import Leaving
from clew.gateway.library import Library
from clew.gateway.limits import Limits
from clew.gateway.logs import Log, to_stderr
from clew.gateway.metrics import Metrics
from clew.gateway.pages import own_page
from clew.gateway.passing import Going, Left, Passed, pass_on
from clew.gateway.record import record_of
from clew.gateway.recording import Recorder
from clew.gateway.refusals import Refusal
from clew.gateway.relation import Forked
from clew.gateway.reports import Reports
from clew.gateway.routes import OWN, Route, climbs, route_of
from clew.gateway.rules import Place, Rules
from clew.gateway.talks import Talks
from clew.gateway.tap import Tap
from clew.gateway.upstream import Upstream
from clew.gateway.usage_asked import asking, is_due
from clew.store.store import Store

MEMORY = 64 * 1024 * 1024
"""Bytes of requests that are kept to know the next ones by."""

Scope = Mapping[str, Any]


class Gateway:
    """An ASGI application. Whatever `manager` does not take is passed on byte for byte.

    `store` is asked for what was said before; what is said now the scribe writes to the same one, by its `store_url`.
    """

    def __init__(
        self,
        rules: Rules,
        store: Store,
        store_url: str,
        *,
        manager: Manager = pass_all,
        memory: int = MEMORY,
        log: Log = to_stderr,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.rules = rules
        self.metrics = Metrics()
        self.limits = Limits(clock)
        self.store = store
        self._manager = manager
        self._log = log
        self._talks = Talks(memory)
        self._reports = Reports(self.metrics, self.limits, log, lambda *reply: self._knowing.answered(*reply))
        self._recorder = Recorder(store_url, self._reports.written)
        self._knowing = Knowing(self._talks, Library(store), self._recorder.settle)
        self._health = Health(store, lambda: self._recorder.is_gone)
        self._upstream: Upstream | None = None
        self._silent: set[str] = set()  # providers that refuse to be asked for the usage of a stream
        self.metrics.gauges |= {
            "clew_recorder_waiting": ("Exchanges that are not yet on the disk.", lambda: self._recorder.waiting),
            "clew_talks": ("Conversations kept in memory.", lambda: len(self._talks)),
            "clew_talks_bytes": ("Bytes they take up.", lambda: self._talks.weight),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)

    async def start(self) -> None:
        """Begin, on the running loop."""
        await self._recorder.start()
        self._upstream = Upstream()

    async def close(self) -> None:
        """End, with everything written that has passed."""
        await self._recorder.close()
        if self._upstream:
            await self._upstream.aclose()

    async def settle(self) -> None:
        """Wait until all that has passed is on the disk."""
        await self._recorder.settle()

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await self.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, rules, path, headers = time.time(), self.rules, scope["path"], dict(scope["headers"])
        route = route_of(scope["method"], path, b"anthropic-version" in headers)
        down = Down(send, route.dialect, f"req_clew_{secrets.token_hex(8)}", lambda: hang_up(scope))
        key = LOCAL
        try:
            if path in OWN:
                await self._own_page(path, headers, down)
                return
            key = self._admitted(scope, headers, rules)
            stated = headers.get(b"content-length", b"").decode("latin-1")
            body = await read_body(receive, stated, most=rules.most_body, slowest=rules.slowest_body)
            async with Leaving(scope, receive, down):
                if route.is_exchange:
                    asked = Asked(down.request, route.dialect, path, headers, body, key, rules.most_body)
                    await self._exchange(scope, asked, rules, down, began)
                else:
                    await self._relay(scope, route, body, rules, down)
        except Refusal as refusal:
            self.metrics.refused.add(status=str(refusal.status))
            await down.refuse(refusal)
        except (Gone, Left, asyncio.CancelledError) as left:
            down.status = down.status or 499
            if not isinstance(left, Gone) and (task := asyncio.current_task()):
                task.uncancel()
        except Exception as wrong:
            self._log("failed", request=down.request, why=repr(wrong))
            await down.refuse(Refusal(500, "the gateway failed; its log tells more by this request's id"))
        finally:
            self._reports.request(down, scope, key.name, began)

    def _admitted(self, scope: Scope, headers: Mapping[bytes, bytes], rules: Rules) -> Key:
        """Who asks, if they may ask this."""
        if climbs(scope["raw_path"]):
            raise Refusal(400, "the path leads up; write it without dots", is_final=True)
        if headers.get(b"upgrade", b"").lower() == b"websocket":
            raise Refusal(426, "no WebSocket is spoken here; use HTTP", is_final=True)
        key = rules.key_of(credential_in(headers)) if rules.keyring else LOCAL
        if not key.may_call(scope["path"]):
            raise Refusal(403, f"{key.name} may not call {scope['path'][:200]}", is_final=True)
        self.limits.admit(key)
        return key

    async def _exchange(self, scope: Scope, asked: Asked, rules: Rules, down: Down, began: float) -> None:
        """A model is asked for a reply."""
        if self._recorder.is_full:
            await self._recorder.room()
        known = await self._known(asked)
        if not asked.key.may_use(asked.model):
            told = asked.model or "a model that is not named"
            raise Refusal(403, f"{asked.key.name} may not use {told}", is_final=True)
        place = rules.place_of(is_anthropic=asked.dialect.name == "anthropic")
        going = self._going(scope, asked, place)
        if known is None:
            await pass_on(going, self._way_up, down, None, rules.patience)
            return
        down.headers += _told_of(known)
        self.metrics.known.add(how=known.word)
        tap, passed = Tap(), Passed(ended="cancelled")
        try:
            managed = await self._managed(asked, known)
            if managed is None:
                passed = await pass_on(going, self._way_up, down, tap, rules.patience)
            else:
                passed = await managed(Answering(asked, down, tap, going, self._way_up, rules.patience))
            if passed.refused_asking:
                self._silent.add(place.base)
        except Left as left:
            passed = left.passed
            raise
        except Refusal:
            passed = Passed(ended="broken")
            raise
        finally:
            down.recorded = True
            self._remember(known, passed, tap, place, began)

    async def _known(self, asked: Asked) -> Known | None:
        """What is known of it; None, so that it passes without a record, where that cannot be found out."""
        try:
            return await self._knowing.know(asked)
        except Refusal:
            raise
        except Exception as wrong:  # no fault of ours keeps a request from its provider
            self._log("not known", request=asked.request, why=repr(wrong))
            return None

    async def _managed(self, asked: Asked, known: Known) -> Managed | None:
        """Who answers it in the provider's place; None: it passes."""
        try:
            return await self._manager(asked, known)
        except Exception as wrong:
            self._log("not managed", request=asked.request, why=repr(wrong))
            return None

    async def _relay(self, scope: Scope, route: Route, body: bytes, rules: Rules, down: Down) -> None:
        """Anything else goes where it is bound for, untouched."""
        is_anthropic = route.dialect.name == "anthropic"
        place = rules.place_of(is_anthropic=is_anthropic)
        headers = going_up(scope["headers"], place.key, is_anthropic=is_anthropic)
        going = Going(scope["method"], _url(place, scope), headers, body or None)
        await pass_on(going, self._way_up, down, None, rules.patience)

    def _going(self, scope: Scope, asked: Asked, place: Place) -> Going:
        headers = going_up(scope["headers"], place.key, is_anthropic=asked.dialect.name == "anthropic")
        going = Going("POST", _url(place, scope), headers, asked.sent, asked.streamed)
        if (
            b"content-encoding" not in asked.headers
            and place.base not in self._silent
            and is_due(asked.dialect.name, asked.fields)
        ):
            return Going("POST", going.url, headers, asking(asked.sent), asked.streamed, asked.sent)
        return going

    def _remember(self, known: Known, passed: Passed, tap: Tap, place: Place, began: float) -> None:
        """Where the conversation stands now, and everything about it for the store."""
        if (passed.status == 200 and not passed.ended) or isinstance(known.how, New | Forked):
            self._knowing.keep(known)
        self._recorder.put(record_of(known, passed, tap, place.provider, began, time.time()), known.talk)

    async def _own_page(self, path: str, headers: Mapping[bytes, bytes], down: Down) -> None:
        if path == "/metrics":
            self.rules.key_of(credential_in(headers))  # they tell of all keys
        await own_page(path, down, self.metrics, self._health, self.rules)

    @property
    def _way_up(self) -> Upstream:
        assert self._upstream is not None, "the gateway has not been started"
        return self._upstream


def _told_of(known: Known) -> list[tuple[bytes, bytes]]:
    """What clew did, for who wants to know."""
    told = {"session": known.session, "conversation": known.word, "known": known.known_items}
    return [(f"x-clew-{name}".encode(), str(value).encode()) for name, value in told.items()]


def _url(place: Place, scope: Scope) -> str:
    query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
    return f"{place.base}{scope['raw_path'].decode('latin-1')}{query}"


def hang_up(scope: Scope) -> None:
    """Close the connection of a request once everything written has left."""
    door: Door | None = scope.get("state", {}).get(DOOR)
    if door is not None:
        door.transport.close()

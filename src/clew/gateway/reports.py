"""Who is told what happened: the log, the metrics, the accounts of the keys."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from clew.gateway.down import Down
from clew.gateway.limits import Limits
from clew.gateway.logs import Log
from clew.gateway.metrics import Metrics
from clew.gateway.record import Written
from clew.gateway.talks import Talk

BUCKETS = ("input", "output", "cache_read", "cache_write", "reasoning")


class Reports:
    """Tells them. `answered` hears of each reply that was read."""

    def __init__(self, metrics: Metrics, limits: Limits, log: Log, answered: Callable[[Talk, str], None]) -> None:
        self._metrics, self._limits, self._log, self._answered = metrics, limits, log, answered

    def request(self, down: Down, scope: Mapping[str, Any], key: str, began: float) -> None:
        """A request has come to its end."""
        seconds = time.time() - began
        self._metrics.requests.add(dialect=down.dialect.name, status=str(down.status))
        self._metrics.seconds.observe(seconds, dialect=down.dialect.name)
        if down.recorded:
            return  # its line is written with what it used
        self._log(
            "request",
            request=down.request,
            method=scope["method"],
            path=scope["path"][:200],
            key=key or None,
            status=down.status,
            ms=round(seconds * 1e3, 1),
            bytes_out=down.sent,
        )

    def written(self, talk: Talk, written: Written) -> None:
        """An exchange is on the disk, or could not be put there."""
        self._limits.charge(talk.scope[0], written.counts[5], written.usd or 0.0)
        self._metrics.written.add(outcome="failed" if written.error else "written")
        for bucket, used in zip(BUCKETS, written.counts, strict=False):
            if used:
                self._metrics.tokens.add(used, kind=bucket)
        if written.usd:
            self._metrics.dollars.add(written.usd)
        if not written.number:
            self._log("not recorded", session=talk.conversation, why=written.error)
        if any(written.counts):
            talk.usage = written.usage
        if written.reply:
            self._answered(talk, written.reply)

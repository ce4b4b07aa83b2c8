"""How much may a key use in a minute, and in a day? Counted in this process; days begin from what the ledger says."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from clew.gateway.keys import Key
from clew.gateway.refusals import Refusal

MINUTE = 60.0


@dataclass(slots=True)
class Account:
    """What one key has used."""

    minute: float = 0.0
    """When the minute began that is being counted."""
    requests: int = 0
    tokens: int = 0
    day: str = ""
    day_tokens: int = 0
    day_usd: float = 0.0


@dataclass(slots=True)
class Limits:
    """The accounts of all keys, by name."""

    clock: Callable[[], float] = time.time
    accounts: dict[str, Account] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    """The recorder charges from its own thread."""

    def admit(self, key: Key) -> None:
        """Count one request. Refusal, with how long to wait, when that or what came before is too much."""
        if not key.is_limited:
            return
        now = self.clock()
        with self._lock:
            account = self._account(key.name, now)
            minute, day = account.minute + MINUTE - now, lambda: _to_midnight(now)
            _refuse_beyond(account.requests, key.requests_per_minute, "requests per minute", lambda: minute)
            _refuse_beyond(account.tokens, key.tokens_per_minute, "tokens per minute", lambda: minute)
            _refuse_beyond(account.day_tokens, key.tokens_per_day, "tokens per day", day)
            _refuse_beyond(account.day_usd, key.usd_per_day, "dollars per day", day)
            account.requests += 1

    def charge(self, name: str, tokens: int, usd: float = 0.0) -> None:
        """A call of this key took so much."""
        with self._lock:
            account = self._account(name, self.clock())
            account.tokens += tokens
            account.day_tokens += tokens
            account.day_usd += usd

    def restore(self, name: str, tokens: int, usd: float) -> None:
        """What the ledger knows of today, from before a restart."""
        with self._lock:
            account = self._account(name, self.clock())
            account.day_tokens = max(account.day_tokens, tokens)
            account.day_usd = max(account.day_usd, usd)

    def _account(self, name: str, now: float) -> Account:
        account = self.accounts.get(name)
        if account is None:
            account = self.accounts[name] = Account()
        if now - account.minute >= MINUTE:
            account.minute, account.requests, account.tokens = now, 0, 0
            day = time.strftime("%Y-%m-%d", time.localtime(now))
            if account.day != day:
                account.day, account.day_tokens, account.day_usd = day, 0, 0.0
        return account


def midnight(now: float) -> float:
    """When the day began, where this machine is."""
    day = time.localtime(now)
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1))


def _to_midnight(now: float) -> float:
    return midnight(midnight(now) + 26 * 3600) - now  # two hours on: a day may have 25


def _refuse_beyond(used: float, most: float | None, what: str, wait: Callable[[], float]) -> None:
    if most is not None and used >= most:
        raise Refusal(429, f"this key may use {most:,} {what}, and has", retry_after=wait())

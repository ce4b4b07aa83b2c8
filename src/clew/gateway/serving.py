"""How is the gateway started, told to read its settings again, and brought to an end?"""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType

import uvicorn

from clew.gateway import keys
from clew.gateway.app import Gateway
from clew.gateway.door import Door
from clew.gateway.limits import midnight
from clew.gateway.logs import Log, to_stderr
from clew.gateway.rules import Rules, rules_of
from clew.gateway.told import owner_tag
from clew.runtime import config
from clew.runtime.settings import BadSettings
from clew.store.many import spent_by_tag

KEPT_ALIVE = 75
"""Seconds that a client's idle connection stays open."""


def serve(gateway: Gateway, listening: socket.socket, *, drain: float, reread: Callable[[], Rules]) -> None:
    """Answer until SIGTERM or SIGINT; then take no more, and give those under way `drain` seconds. SIGHUP: `reread`."""
    restore_budgets(gateway)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: reload(gateway, reread))
    _Server(config_of(gateway, drain=drain)).run(sockets=[listening])


def config_of(gateway: Gateway, *, drain: float) -> uvicorn.Config:
    """How uvicorn is to serve it."""
    return uvicorn.Config(
        gateway,
        http=Door,
        ws="none",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEPT_ALIVE,
        timeout_graceful_shutdown=round(drain),
        backlog=2048,
    )


class _Server(uvicorn.Server):
    """Told to end, it ends, and that is all: uvicorn would raise the signal again once everything is done."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._captured_signals.clear()


def listen(host: str, port: int) -> socket.socket:
    """A socket at this place. OSError when it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


def read_rules(upstream: str | None) -> Rules:
    """As the settings and the keys now are."""
    return rules_of(config.read(), keys.read(), upstream=upstream)


def reload(gateway: Gateway, reread: Callable[[], Rules], log: Log = to_stderr) -> None:
    """Requests from now on go by what holds now; settings that cannot be leave everything as it was."""
    try:
        gateway.rules = reread()
        log("reloaded", keys=len(gateway.rules.keyring.keys))
    except BadSettings as wrong:
        log("not reloaded", why=str(wrong))


def restore_budgets(gateway: Gateway) -> None:
    """A restart gives no one a new day."""
    for tags, tokens, usd in spent_by_tag(gateway.store, midnight(time.time())):
        for tag in json.loads(tags):
            if tag.startswith(owner_tag("")):
                gateway.limits.restore(tag.removeprefix(owner_tag("")), tokens, usd)

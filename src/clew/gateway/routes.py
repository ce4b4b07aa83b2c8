"""What does a path ask for, in which dialect, and where does it lead?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from clew.wire.dialect import Dialect
from clew.wire.dialects import DIALECTS

LISTS = {"chat": "messages", "anthropic": "messages", "responses": "input"}
"""The field of a request that holds the conversation."""
OWN = frozenset({"/health", "/ready", "/metrics"})
"""Paths that the gateway answers itself."""

_EXCHANGES = {f"/v1{dialect.path}": dialect for dialect in DIALECTS.values()}
_OF_ANTHROPIC = re.compile(r"/v1/(messages|complete|organizations|skills)(/|$)")
_CLIMBING = frozenset({".", ".."})


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request is bound for."""

    dialect: Dialect
    """The one in which to answer, also when only an error is to be told."""
    is_exchange: bool
    """Whether a model is asked for a reply: then it is recognised and recorded."""


@lru_cache(1_024)
def route_of(method: str, path: str, is_anthropic: bool) -> Route:
    """By the path alone; `is_anthropic` tells whose client it is where paths are alike, as /v1/models."""
    exchange = _EXCHANGES.get(path.rstrip("/")) if method == "POST" else None
    if exchange is not None:
        return Route(exchange, is_exchange=True)
    if is_anthropic or _OF_ANTHROPIC.match(path):
        return Route(DIALECTS["anthropic"], is_exchange=False)
    return Route(DIALECTS["responses" if path.startswith("/v1/responses") else "chat"], is_exchange=False)


@lru_cache(1_024)
def climbs(raw_path: bytes) -> bool:
    """Whether a path has steps that lead up, also in disguise: behind it could lie what a key may not reach."""
    path = unquote(unquote(raw_path.decode("latin-1"))).replace("\\", "/")
    return any(step in _CLIMBING for step in path.split("/"))

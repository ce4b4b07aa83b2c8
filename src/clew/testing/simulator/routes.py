"""Which endpoint is meant?"""

from __future__ import annotations

from enum import Enum

from clew.testing.simulator.server import Request
from clew.wire.dialect import Dialect
from clew.wire.dialects import DIALECTS


class Other(Enum):
    """Endpoints that are not asked for a reply."""

    COUNT = "/messages/count_tokens"
    MODELS = "/models"


REPLIES = {dialect.path: dialect for dialect in DIALECTS.values()}


def route_of(request: Request) -> Dialect | Other | None:
    """By the path, with or without /v1 before it."""
    path = "/" + request.path.strip("/").removeprefix("v1").strip("/")
    if request.method == "GET":
        return Other.MODELS if path == Other.MODELS.value else None
    if request.method != "POST":
        return None
    return Other.COUNT if path == Other.COUNT.value else REPLIES.get(path)

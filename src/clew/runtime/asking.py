"""What does the server at this address serve?"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from http.client import HTTPException
from typing import Any, TypeAlias
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from clew.wire.servers import (
    Served,
    pick,
    read_llama,
    read_lm_studio,
    read_models,
    read_ollama_names,
    read_ollama_running,
    read_ollama_shown,
    read_sglang,
    read_tgi,
)

Get: TypeAlias = Callable[[str], Awaitable[tuple[int, bytes]]]
"""An address → status and body; OSError when nobody answers."""
Post: TypeAlias = Callable[[str, bytes], Awaitable[tuple[int, bytes]]]

_ENDPOINT = re.compile(r"/(?:chat/completions|completions|messages|responses|models)$")
_READERS: tuple[tuple[str, Callable[[Any], list[Served]]], ...] = (
    ("/props", read_llama),
    ("/api/v0/models", read_lm_studio),
    ("/api/ps", read_ollama_running),
    ("/server_info", read_sglang),
    ("/get_server_info", read_sglang),
    ("/info", read_tgi),
)
"""Below the server's root. A server answers one or two of them; the others it does not know."""
WAIT = 5.0
"""Seconds for one answer."""
LARGEST = 32_000_000
"""Bytes of one answer: OpenRouter's list has a few million."""


async def ask_server(base_url: str, model: str, get: Get, post: Post | None = None) -> Served | None:
    """What the server says about `model`; None when it says nothing or nobody answers."""
    try:
        found = pick(await ask(base_url, get), model)
        if post and model and (found is None or not found.window):
            return await _shown_by_ollama(_root(base_url), model, post) or found
        return found
    except OSError:
        return None


async def ask(base_url: str, get: Get, post: Post | None = None) -> list[Served]:
    """All that the server serves, from the first of its answers that tells a window. OSError when nobody answers."""
    root = _root(base_url)
    known: list[Served] = []
    listed = f"{base_url.rstrip('/')}/models" if _is_api(base_url) else f"{root}/v1/models"
    for address, read in ((listed, read_models), *((root + path, read) for path, read in _READERS)):
        served = read(_read(await get(address)))
        if any(one.window for one in served):
            return served
        known = served or known
    return await _installed_in_ollama(root, get, post) or known


async def plain_get(address: str) -> tuple[int, bytes]:
    """A GET without keys, for servers of one's own."""
    return await asyncio.to_thread(_fetch, Request(address))


async def plain_post(address: str, body: bytes) -> tuple[int, bytes]:
    """A POST of JSON without keys."""
    return await asyncio.to_thread(_fetch, Request(address, body, {"content-type": "application/json"}))


async def _installed_in_ollama(root: str, get: Get, post: Post | None) -> list[Served]:
    names = read_ollama_names(_read(await get(f"{root}/api/tags"))) if post else []
    shown = [await _shown_by_ollama(root, name, post) for name in names] if post else []
    return [one for one in shown if one]


async def _shown_by_ollama(root: str, model: str, post: Post) -> Served | None:
    asked = json.dumps({"model": model}).encode()
    return read_ollama_shown(_read(await post(f"{root}/api/show", asked)), model)


def _root(base_url: str) -> str:
    """http://127.0.0.1:8080/v1/chat/completions → http://127.0.0.1:8080"""
    return _ENDPOINT.sub("", base_url.rstrip("/")).removesuffix("/v1").rstrip("/")


def _is_api(base_url: str) -> bool:
    return base_url.rstrip("/").endswith("/v1")


def _read(answer: tuple[int, bytes]) -> Any:
    status, body = answer
    try:
        return json.loads(body) if status == 200 else None
    except ValueError:
        return None


def _fetch(request: Request) -> tuple[int, bytes]:
    here = urlsplit(request.full_url).hostname in ("localhost", "127.0.0.1", "::1")
    opener = build_opener(ProxyHandler({})) if here else build_opener()  # no proxy knows the way back to this machine
    try:
        with opener.open(request, timeout=WAIT) as answer:
            return answer.status, answer.read(LARGEST)
    except HTTPError as refused:
        with refused:
            return refused.code, b""
    except HTTPException as broken:
        raise OSError(f"no HTTP answer: {broken!r}") from None

"""Bytes up, bytes back as they arrive: the gateway's HTTP/1.1 client. The only file here that knows which library.

`runtime/http.py` has another one, for it needs HTTP/2 and any event loop; a stream at full speed costs an eighth here.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from functools import lru_cache
from time import monotonic
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from clew.runtime.http import CutOff, Unreached

CONNECT = 10.0
"""Seconds to reach the provider."""
LONGEST_LINE = 64 * 1024
"""Bytes of one header of an answer."""
STALE_WITHIN = 1.0
"""Seconds. A pooled connection that the server has closed says so within a round trip; what ends later was at work."""


class Answer:
    """A response whose body is still on its way."""

    __slots__ = ("_response", "headers", "status")

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers: Sequence[tuple[bytes, bytes]] = response.raw_headers

    async def chunk(self) -> bytes:
        """The next bytes, as they came; none are left when it is empty."""
        try:
            return await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise CutOff(_cause(error)) from None

    def value_of(self, name: str) -> str:
        """A header, empty when there is none."""
        return self._response.headers.get(name, "")

    def close(self) -> None:
        """Whole answers give their connection back; one that is left early is hung up on."""
        self._response.close() if not self._response.content.at_eof() else self._response.release()


class Upstream:
    """Connections to providers, kept open between requests; one event loop's."""

    def __init__(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, keepalive_timeout=30, socket_factory=_socket),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT, sock_read=None),
            auto_decompress=False,
            skip_auto_headers=("user-agent", "accept", "accept-encoding", "content-type"),
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_LINE,
        )
        self._met: set[str] = set()  # hosts of which there may be a connection, and so a stale one

    async def send(
        self, method: str, url: str, headers: list[tuple[str, str]], body: bytes | None, *, again: bool = True
    ) -> Answer:
        """The provider's answer, of which the head is here. What no server has seen goes once more."""
        address, host, proxy = _way(url)
        began = monotonic()
        try:
            response = await self._session.request(
                method, address, headers=headers, data=body, allow_redirects=False, proxy=proxy
            )
        except (aiohttp.ClientError, OSError) as error:
            unreached = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
            stale = host in self._met and monotonic() - began < STALE_WITHIN
            if again and (unreached or stale):
                return await self.send(method, url, headers, body, again=False)
            raise (Unreached if unreached else CutOff)(_cause(error)) from None
        self._met.add(host)
        return Answer(response)

    async def aclose(self) -> None:
        await self._session.close()


@lru_cache(4_096)
def _way(url: str) -> tuple[URL, str, str | None]:
    """The address as the client spelled it, nothing quoted or unquoted; its host; the proxy that the environment names.
    Looked up once: the library's own look at the environment costs more than a small request."""
    address = URL(url, encoded=True)
    proxies = getproxies()
    host = address.raw_authority
    return address, host, None if proxy_bypass(host) else proxies.get(address.scheme) or proxies.get("all")


def _socket(address: tuple[object, ...]) -> socket.socket:
    """One that notices when a provider has silently gone."""
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)  # type: ignore[arg-type]
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return made


def _cause(error: Exception) -> str:
    """What went wrong, without the address: its query may hold a key."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return os.strerror(error.os_error.errno) if error.os_error.errno else "no connection could be made"
    if isinstance(error, TimeoutError):
        return f"no connection within {CONNECT:g} s"
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError):
        return "the connection was closed before the answer was whole"
    return getattr(error, "strerror", None) or type(error).__name__

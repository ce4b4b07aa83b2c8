"""The one pooled HTTP client: bytes out, bytes back as they arrive. The only file that knows which library that is."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from importlib.metadata import version
from types import TracebackType
from typing import Protocol
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pyqwest

USER_AGENT = f"clew/{version('clew')}"


class Unreached(Exception):
    """No connection was made, so the server saw nothing of the request."""


class CutOff(Exception):
    """The connection ended before the answer did."""


class Answer(Protocol):
    """A response whose body is still on its way. Leaving it early closes its connection."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By lower-case names."""
        ...

    async def chunk(self) -> bytes:
        """The next bytes of the body, decompressed, as soon as they are here; none are left when it is empty."""
        ...

    async def aclose(self) -> None: ...


class Http(Protocol):
    """What the transport needs of a client. It raises `Unreached` and `CutOff`, whose texts hold no address."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer: ...

    async def aclose(self) -> None: ...


class Pool:
    """Connections kept open between requests, of any event loop; HTTP/2 where the server offers it.

    Proxies are taken from the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY) when it is made, trusted
    certificates from the system or SSL_CERT_FILE. A redirect is not followed: it could lead the key elsewhere.
    """

    def __init__(
        self, *, connections: int = 500, connect: float = 10.0, http2: bool = True, certificates: bytes | None = None
    ) -> None:
        """So many requests at once to one host, and so connections; `connect` in seconds; `certificates` as PEM."""
        self._connections = connections
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()
        self._client = pyqwest.HTTPTransport(
            connect_timeout=connect,
            pool_max_idle_per_host=connections,
            http_version=None if http2 else pyqwest.HTTPVersion.HTTP1,
            tls_ca_cert=certificates,
            tls_include_system_certs=True,
            use_system_dns=True,
            follow_redirects=False,
            enable_otel=False,
        )

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        named = pyqwest.Headers([*{"user-agent": USER_AGENT, **headers}.items()])
        turn = self._turn_at(urlsplit(url).netloc)
        await turn.acquire()
        try:
            response = await self._client.execute(pyqwest.Request("POST", url, named, body))
        except BaseException as error:
            turn.release()
            if isinstance(error, ConnectionError):
                raise Unreached(_cause(error)) from None
            if isinstance(error, _BROKEN):
                raise CutOff(_cause(error)) from None
            raise
        return _Arriving(response, turn)

    def _turn_at(self, host: str) -> asyncio.Semaphore:
        """A semaphore serves one event loop only, so each has its own."""
        hosts = self._turns.setdefault(asyncio.get_running_loop(), {})
        return hosts.setdefault(host, asyncio.Semaphore(self._connections))

    async def aclose(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> Pool:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Arriving:
    def __init__(self, response: pyqwest.Response, turn: asyncio.Semaphore) -> None:
        self._response = response
        self._turn: asyncio.Semaphore | None = turn
        self._chunks: AsyncIterator[bytes | memoryview | bytearray] = response.content
        self.status = response.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}

    async def chunk(self) -> bytes:
        try:
            while (chunk := await anext(self._chunks, None)) is not None:
                if chunk:
                    return bytes(chunk)
        except (ConnectionError, *_BROKEN) as error:
            raise CutOff(_cause(error)) from None
        return b""

    async def aclose(self) -> None:
        turn, self._turn = self._turn, None
        if turn:
            try:
                await self._response.aclose()
            finally:
                turn.release()


_BROKEN = (pyqwest.RemoteProtocolError, pyqwest.ReadError, pyqwest.WriteError)
_NOISE = re.compile(
    r"^Request failed: |^Error reading content: | ?for url \(\S*\)|error sending request:? ?|client error \(\w+\): "
    r"|request or response body error: |error reading a body from connection: "
)
_QUERY = re.compile(r"\?[^\s\"')]+")


def _cause(error: Exception) -> str:
    """What went wrong, without the address: its query may hold a key."""
    return _NOISE.sub("", str(error)).strip(": ") or type(error).__name__


def _without_query(record: logging.LogRecord) -> bool:
    """The library notes the whole address of every request."""
    record.msg, record.args = _QUERY.sub("", record.getMessage()), None
    return True


for _name in ("pyqwest", "pyqwest.access"):
    logging.getLogger(_name).addFilter(_without_query)

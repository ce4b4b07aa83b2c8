"""How is one page fetched, from a public address only?"""

from __future__ import annotations

import socket
import ssl
from codecs import lookup
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import ip_address
from time import monotonic
from urllib.parse import SplitResult, quote, urlsplit

from clew.agent.workspace import ToolError
from clew.runtime.http import USER_AGENT

MOST_BYTES = 2_000_000
PATIENCE = 20.0
"""Seconds for one page."""


@dataclass(frozen=True, slots=True)
class Page:
    url: str
    status: int
    kind: str
    """Its content type, without parameters."""
    charset: str
    location: str
    body: bytes
    cut: bool


def fetch(url: str, *, private: bool) -> Page:
    """One answer, redirects not followed. `private` allows http and addresses of one's own network."""
    parts = _parts(url, private)
    address = _address(parts, private)
    # The connection goes to the address that was checked: asked twice, a name server may give another.
    connection = _Pinned(parts, address)
    try:
        way = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._") + (f"?{parts.query}" if parts.query else "")
        connection.request(
            "GET", way, headers={"User-Agent": USER_AGENT, "Accept": "text/html, text/*;q=0.9, */*;q=0.1"}
        )
        return _read(url, connection.getresponse())
    except (OSError, HTTPException, UnicodeEncodeError) as error:
        raise ToolError(f"{url} could not be read: {error or type(error).__name__}.") from error
    finally:
        connection.close()


class _Pinned(HTTPConnection):
    """A connection to one address, with the name kept for the certificate and the Host header."""

    def __init__(self, parts: SplitResult, address: tuple[str, int]) -> None:
        super().__init__(parts.hostname or "", address[1], timeout=PATIENCE)
        self._address = address
        self._secure = parts.scheme == "https"

    def connect(self) -> None:
        self.sock = socket.create_connection(self._address, timeout=PATIENCE)
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)


def _parts(url: str, private: bool) -> SplitResult:
    try:
        parts = urlsplit(url)
        port_fits = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_fits = SplitResult("", "", "", "", ""), False
    if parts.scheme not in ({"http", "https"} if private else {"https"}) or not parts.hostname or not port_fits:
        raise ToolError(f"{url[:200]} is no https address, such as https://example.com/page.")
    if parts.username is not None or parts.password is not None:
        raise ToolError("an address with a name or a password in it is not fetched; give it without.")
    if any(character <= " " for character in url):
        raise ToolError("the address holds a space or a control character.")
    return parts


def _address(parts: SplitResult, private: bool) -> tuple[str, int]:
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolError(f"{parts.hostname} was not found: {error}.") from error
    addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
    for address in addresses:
        public = ip_address(address).is_global and not ip_address(address).is_multicast
        if not (public or private):
            raise ToolError(f"{parts.hostname} is a private address ({address}); only public pages are fetched.")
    return addresses[0], port


def _read(url: str, answer: HTTPResponse) -> Page:
    body, deadline, ended = b"", monotonic() + PATIENCE, False
    while not ended and len(body) <= MOST_BYTES and monotonic() < deadline:
        piece = answer.read1(65_536)
        ended = not piece
        body += piece
    return Page(
        url,
        answer.status,
        answer.headers.get_content_type() if answer.headers.get("Content-Type") else "",
        _charset(answer),
        answer.headers.get("Location", ""),
        body[:MOST_BYTES],
        cut=not ended or bool(answer.length),  # a length is left when the connection broke
    )


def _charset(answer: HTTPResponse) -> str:
    try:
        return lookup(answer.headers.get_content_charset("utf-8")).name
    except LookupError:
        return "utf-8"

"""Where do prompts go, with which key, and how long is the wait there?"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, urlsplit, urlunsplit

from clew.core.redact import PLACEHOLDER, redact
from clew.facts.exchange import Failure

ANTHROPIC_VERSION = "2023-06-01"
SECRET_WORDS = ("auth", "key", "token", "secret", "cookie")
"""A header named with one of them carries a credential."""
HOME_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""Names that no public server can bear."""
SHORTEST_SECRET = 6
"""Characters. Anything shorter, such as the key `none` of a local server, would blank half of every message."""

_HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VERSION = re.compile(r"v\d\w*")


class BadEndpoint(ValueError):
    """An address or a key that cannot be used; the text says why, and never shows a key."""


class Secret:
    """A key that only `reveal` shows.

    >>> f"{Secret('sk-live-1')} {Secret('sk-live-1')!r} {Secret('sk-live-1').reveal()}"
    '[REDACTED] Secret([REDACTED]) sk-live-1'
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text.strip()  # a key read from a file brings its line end

    def reveal(self) -> str:
        return self._text

    def __str__(self) -> str:
        return PLACEHOLDER

    def __repr__(self) -> str:
        return f"Secret({PLACEHOLDER})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds. A deadline of the caller's shortens all of them."""

    first_byte: float = 600.0
    """Until the answer begins: a reply that is not streamed is written in full before its first byte."""
    idle: float = 300.0
    """Between two pieces of the answer: a provider that searches the web may be silent for minutes."""
    total: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """A provider as it is reached from here."""

    name: str
    base_url: str
    dialect: str = "chat"
    provider: str = ""
    key: Secret | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent besides ours; the same name replaces ours."""
    patience: Patience = Patience()
    allow_plain: bool = False
    """Send the key even where anyone on the way can read it."""

    def __post_init__(self) -> None:
        address = urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise BadEndpoint(f"endpoint {self.name}: a base URL begins with https:// or http:// and names a host")
        if address.username is not None:
            raise BadEndpoint(f"endpoint {self.name}: the base URL contains a user or a password; give it as the key")
        for name, value in headers_of(self).items():
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise BadEndpoint(f"endpoint {self.name}: header {name!r} has characters that no header can carry")
        if address.scheme == "http" and any(secrets_of(self)) and not (self.allow_plain or _is_near(address.hostname)):
            raise BadEndpoint(
                f"endpoint {self.name}: http://{address.hostname} would carry the key unencrypted over the internet; "
                "use https, or allow_plain where the way there is safe"
            )

    @property
    def host(self) -> str:
        """Where it is, in words that can be shown."""
        address = urlsplit(self.base_url)
        return f"{address.hostname}:{address.port}" if address.port else str(address.hostname)

    def __repr__(self) -> str:
        """Without the key, the headers and the query, in which some carry a key."""
        told = urlunsplit(urlsplit(self.base_url)._replace(query="", fragment=""))
        return f"Endpoint({self.name!r}, {told!r}, dialect={self.dialect!r}, provider={self.provider!r})"


def url_of(endpoint: Endpoint, path: str) -> str:
    """Where requests for `path` go. The base may lack /v1, end in a slash, have a query, or be the whole address.

    >>> url_of(Endpoint("a", "https://api.anthropic.com", dialect="anthropic"), "/messages")
    'https://api.anthropic.com/v1/messages'
    >>> url_of(Endpoint("b", "https://openrouter.ai/api/v1/"), "/chat/completions")
    'https://openrouter.ai/api/v1/chat/completions'
    """
    address = urlsplit(endpoint.base_url)
    base = address.path.rstrip("/")
    if not base.endswith(path):
        base += ("/v1" if _lacks_version(endpoint, base) else "") + path
    return urlunsplit(SplitResult(address.scheme, address.netloc, base, address.query, ""))


def headers_of(endpoint: Endpoint) -> dict[str, str]:
    """What every request to it carries, by lower-case names."""
    made = {"content-type": "application/json"}
    if endpoint.dialect == "anthropic":
        made["anthropic-version"] = ANTHROPIC_VERSION
    if endpoint.key is not None and endpoint.key.reveal():
        name, prefix = _place_of_key(endpoint)
        made[name] = prefix + endpoint.key.reveal()
    return made | {name.lower(): value for name, value in endpoint.headers.items()}


def cleared(failure: Failure, endpoint: Endpoint) -> Failure:
    """The failure without the endpoint's credentials, whoever wrote them there, and without any others."""
    why = failure.why
    for secret in sorted(secrets_of(endpoint), key=len, reverse=True):
        why = _blanked(why, secret)
    return replace(failure, why=redact(why))


def secrets_of(endpoint: Endpoint) -> Iterator[str]:
    """The credentials that requests to it carry in their headers."""
    for name, value in headers_of(endpoint).items():
        if any(word in name for word in SECRET_WORDS):
            yield from {value, value.rpartition(" ")[2]}  # `Bearer sk-…` is echoed with and without its first word


def _blanked(text: str, secret: str) -> str:
    """Also without its beginning at the end of the text, where a quotation was cut."""
    if len(secret) < SHORTEST_SECRET:
        return text
    text = text.replace(secret, PLACEHOLDER)
    quoted = text.rstrip("….")
    cut = next((n for n in range(len(secret), SHORTEST_SECRET - 1, -1) if quoted.endswith(secret[:n])), 0)
    return quoted[:-cut] + PLACEHOLDER if cut else text


def _place_of_key(endpoint: Endpoint) -> tuple[str, str]:
    if endpoint.provider == "azure":
        return "api-key", ""
    return ("x-api-key", "") if endpoint.dialect == "anthropic" else ("authorization", "Bearer ")


def _lacks_version(endpoint: Endpoint, base: str) -> bool:
    """Anthropic's clients leave /v1 out of every base; those of the others only a bare host lacks it."""
    if endpoint.dialect == "anthropic":
        return not _VERSION.fullmatch(base.rpartition("/")[2])
    return not base


def _is_near(host: str) -> bool:
    """This machine or the network around it."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(HOME_ENDINGS)

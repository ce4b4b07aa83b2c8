"""Which headers go up to the provider, and which come down to the client?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clew.runtime.endpoints import Secret

Headers = list[tuple[bytes, bytes]]

OURS = b"x-clew-"
CREDENTIALS = (b"x-api-key", b"authorization", b"api-key")
_OF_ONE_HOP = frozenset(
    {
        b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te",
        b"trailer", b"transfer-encoding", b"upgrade",
    }
)  # fmt: skip
_NOT_UP = _OF_ONE_HOP | {b"host", b"content-length", b"accept-encoding", b"expect"}
_NOT_DOWN = _OF_ONE_HOP | {b"set-cookie", b"set-cookie2"}


def going_up(
    headers: Iterable[tuple[bytes, bytes]], key: Secret | None, *, is_anthropic: bool
) -> list[tuple[str, str]]:
    """What the provider gets: all that the client sent but what concerns this hop, and clew's own; `key` in place of
    the client's credentials."""
    dropped = _NOT_UP | _named_in_connection(headers)
    if key is not None:
        dropped |= {*CREDENTIALS}
    up = [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in headers
        if name not in dropped and not name.startswith(OURS)
    ]
    up.append(("accept-encoding", "identity"))
    if key is not None and key.reveal():
        up.append(("x-api-key", key.reveal()) if is_anthropic else ("authorization", f"Bearer {key.reveal()}"))
    return up


def coming_down(headers: Sequence[tuple[bytes, bytes]], ours: Headers, *, streamed: bool, changed: bool) -> Headers:
    """What the client gets: all that the provider said but what concerns this hop, and no cookies; then clew's own.
    The length of a body that is `changed` on the way is not known before its end."""
    dropped = _NOT_DOWN | _named_in_connection((name.lower(), value) for name, value in headers)
    if changed:
        dropped |= {b"content-length"}
    down = [(name, value) for name, value in headers if name.lower() not in dropped]
    if streamed:  # proxies on the way must neither keep it nor hold it back
        down = [pair for pair in down if pair[0].lower() not in (b"cache-control", b"x-accel-buffering")]
        down += [(b"cache-control", b"no-cache, no-transform"), (b"x-accel-buffering", b"no")]
    return down + ours


def credential_in(headers: Mapping[bytes, bytes]) -> str:
    """The key that a client shows, wherever its SDK puts it."""
    for name in CREDENTIALS:
        if text := headers.get(name, b"").decode("latin-1").strip():
            return text[7:].strip() if text[:7].lower() == "bearer " else text
    return ""


def _named_in_connection(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """Headers that `connection` calls its own."""
    for name, value in headers:
        if name == b"connection" and value.lower() not in (b"keep-alive", b"close"):
            return frozenset(word.strip().lower() for word in value.split(b","))
    return frozenset()

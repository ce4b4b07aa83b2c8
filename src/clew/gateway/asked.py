"""One request: who asks, in which dialect, for what? Nothing is parsed before someone wants to know."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from clew.facts.exchange import Prompt
from clew.gateway.keys import Key
from clew.gateway.layout import Unreadable
from clew.gateway.routes import LISTS
from clew.wire.dialect import Dialect


@dataclass(slots=True)
class Asked:
    """A request for a reply, as it came."""

    request: str
    """Its number, for logs and errors."""
    dialect: Dialect
    path: str
    headers: Mapping[bytes, bytes]
    sent: bytes
    """The body, byte for byte."""
    key: Key
    most_bytes: int
    """What a packed body may hold unpacked."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Everything but the conversation, once it is known."""
    _parsed: dict[str, Any] | None = None
    _prompt: Prompt | None = None
    _body: bytes | None = None

    @property
    def body(self) -> bytes:
        """What the body says, unpacked where it came packed. Unreadable when that cannot be done here."""
        if self._body is None:
            coding = self.headers.get(b"content-encoding", b"").lower()
            self._body = self.sent if coding in (b"", b"identity") else _unpacked(self.sent, coding, self.most_bytes)
        return self._body

    def header(self, name: bytes) -> str:
        """A header, empty when there is none."""
        return self.headers.get(name, b"").decode("latin-1")

    @property
    def model(self) -> str:
        model = self.fields.get("model")
        return model if isinstance(model, str) else ""

    @property
    def streamed(self) -> bool:
        return self.fields.get("stream") is True

    @property
    def list_name(self) -> str:
        """The field that holds the conversation."""
        return LISTS[self.dialect.name]

    @property
    def parsed(self) -> dict[str, Any]:
        """The whole body. Unreadable when it is no JSON object."""
        if self._parsed is None:
            try:
                found = orjson.loads(self.body)
            except ValueError as wrong:
                raise Unreadable(str(wrong)) from None
            if not isinstance(found, dict):
                raise Unreadable("the body is no object")
            self._parsed = found
        return self._parsed

    @property
    def prompt(self) -> Prompt:
        """The same as clew reads it. BadMessages names what cannot be."""
        if self._prompt is None:
            self._prompt = self.dialect.decode(self.parsed)
        return self._prompt


def _unpacked(sent: bytes, coding: bytes, most: int) -> bytes:
    if coding not in (b"gzip", b"deflate"):
        raise Unreadable(f"a body packed as {coding.decode('latin-1')}")
    unpack = zlib.decompressobj(wbits=47 if coding == b"gzip" else 15)
    try:
        whole = unpack.decompress(sent, most)
    except zlib.error as wrong:
        raise Unreadable(str(wrong)) from None
    if unpack.unconsumed_tail:
        raise Unreadable("unpacked it is larger than bodies may be")
    return whole

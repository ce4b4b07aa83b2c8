"""OpenAI's Responses: how a prompt, a reply, its stream and its failures are spelled."""

from __future__ import annotations

from clew.wire.dialect import Dialect
from clew.wire.responses.failures import encode_failure
from clew.wire.responses.reply import decode_reply, encode_reply, error_in
from clew.wire.responses.request import decode, encode
from clew.wire.responses.stream_in import StreamReader
from clew.wire.responses.stream_out import StreamWriter

__all__ = ["RESPONSES", "error_in"]

RESPONSES = Dialect(
    name="responses",
    path="/responses",
    encode=encode,
    decode=decode,
    encode_reply=encode_reply,
    decode_reply=decode_reply,
    reader=StreamReader,
    writer=StreamWriter,
    encode_failure=encode_failure,
)

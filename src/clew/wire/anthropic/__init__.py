"""Anthropic's Messages: how a prompt, a reply, its stream and its failures are spelled."""

from __future__ import annotations

from clew.wire.anthropic.blocks import OWN
from clew.wire.anthropic.failures import encode_failure
from clew.wire.anthropic.reply import decode_reply, encode_reply
from clew.wire.anthropic.request import decode, encode
from clew.wire.anthropic.stream_in import StreamReader
from clew.wire.anthropic.stream_out import StreamWriter
from clew.wire.dialect import Dialect

ANTHROPIC = Dialect(
    name=OWN,
    path="/messages",
    encode=encode,
    decode=decode,
    encode_reply=encode_reply,
    decode_reply=decode_reply,
    reader=StreamReader,
    writer=StreamWriter,
    encode_failure=encode_failure,
)

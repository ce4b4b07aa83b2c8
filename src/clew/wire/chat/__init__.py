"""OpenAI Chat Completions, as its many speakers spell it."""

from clew.wire.chat.failures import encode_failure
from clew.wire.chat.reply import decode_reply, encode_reply, error_in
from clew.wire.chat.request import decode, encode
from clew.wire.chat.stream_in import ChunkReader
from clew.wire.chat.stream_out import ChunkWriter
from clew.wire.dialect import Dialect

__all__ = ["CHAT", "ChunkReader", "error_in"]

CHAT = Dialect(
    name="chat",
    path="/chat/completions",
    encode=encode,
    decode=decode,
    encode_reply=encode_reply,
    decode_reply=decode_reply,
    reader=ChunkReader,
    writer=ChunkWriter,
    encode_failure=encode_failure,
)

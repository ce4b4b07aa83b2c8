"""What passed is written down by a process of its own: many exchanges in one transaction, in no one's way.

A thread would share the interpreter with the relay and cost it a third of its requests. It ends when its gateway does,
however that ends, with everything written that it was told.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import sys
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from struct import Struct

from clew.facts.messages import BadMessages
from clew.facts.usage import Cost, Usage
from clew.gateway.heard import Heard, hear
from clew.gateway.logs import to_stderr
from clew.gateway.prints import print_of
from clew.gateway.record import Record, Written
from clew.gateway.told import Messages, entry_of
from clew.runtime import models
from clew.store.address import open_store
from clew.store.ledger import Call
from clew.store.many import Entry, write_many
from clew.store.store import Store
from clew.store.trouble import StoreError
from clew.wire.catalog import Catalog, ModelFacts, cost

LINGER = 0.05
"""Seconds to wait for others that can share a transaction."""
AT_ONCE = 256
REPLIES = 50_000
"""Conversations whose last reply is remembered."""
STORE = "CLEW_STORE_URL"
SIZE = Struct("!I")


class Scribe:
    """Writes records down, in their order."""

    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._facts = lru_cache(512)(catalog.find)
        self._replies: OrderedDict[str, bytes | None] = OrderedDict()
        self._ready: list[tuple[Record, Heard, Call, Entry]] = []
        self._done: list[Written] = []

    def write(self, records: Sequence[Record]) -> list[Written]:
        """Write them; what came of each, once all are on the disk."""
        for record in records:
            self._read(record)
        self._flush()
        done, self._done = self._done, []
        return done

    def last_reply(self, conversation: str) -> bytes | None:
        if conversation not in self._replies:
            last = self.view(conversation)[-1:]
            self._note(conversation, print_of(last[0]) if last and last[0].get("role") == "assistant" else None)
        return self._replies[conversation]

    def view(self, conversation: str) -> Messages:
        self._flush()
        try:
            return [said.message for said in self._store.messages(self._store.get_compression_tip(conversation))]
        except StoreError:
            return []

    def _read(self, record: Record) -> None:
        heard = hear(record)
        call = self._call(record, heard)
        try:
            entry = entry_of(record, heard, call, self)
        except (BadMessages, ValueError):  # the provider made sense of it, or did not; there was a call all the same
            entry = Entry(record.conversation, call=call)
        self._ready.append((record, heard, call, entry))
        if heard.reply:
            self._note(record.conversation, print_of(heard.reply.message.raw))
        elif entry.messages or entry.first:
            self._note(record.conversation, None)

    def _flush(self) -> None:
        ready, self._ready = self._ready, []
        errors = write_many(self._store, [entry for *_, entry in ready]) if ready else ()
        for (record, heard, call, _), error in zip(ready, errors, strict=True):
            told = str(error) if error else ""
            usd = float(call.cost.usd) if call.cost else None
            used = call.usage
            counts = (used.input, used.output, used.cache_read, used.cache_write, used.reasoning, used.billed.total)
            self._done.append(Written(record.number, counts, usd, heard.reply.id if heard.reply else "", told))
            _log(record, call, told)

    def _note(self, conversation: str, reply: bytes | None) -> None:
        self._replies[conversation] = reply
        self._replies.move_to_end(conversation)
        if len(self._replies) > REPLIES:
            self._replies.popitem(last=False)

    def _call(self, record: Record, heard: Heard) -> Call:
        tools = tuple(call.name for call in heard.reply.message.calls) if heard.reply else ()
        priced = _priced(heard.usage, self._facts(record.model, record.provider))
        return Call(heard.usage, record.model, record.provider, "turn", heard.failed, priced, tools, record.began)


def _priced(usage: Usage, facts: ModelFacts | None) -> Cost | None:
    return cost(usage, facts) if facts and usage.total else None


def _log(record: Record, call: Call, error: str) -> None:
    first = record.first_byte
    to_stderr(
        "exchange",
        request=record.request,
        path=record.path,
        key=record.key or None,
        model=record.model,
        session=record.conversation,
        known=type(record.how).__name__.lower(),
        status=record.status,
        failed=call.failed or None,
        ms=round((record.ended - record.began) * 1e3, 1),
        first_byte_ms=round((first - record.began) * 1e3, 1) if first else None,
        bytes_in=record.size,
        bytes_out=len(record.answer),
        input=call.usage.prompt,
        output=call.usage.output,
        cached=call.usage.cache_read,
        why=f"not recorded: {error}" if error else None,
    )


def frame(value: object) -> bytes:
    """A value as it travels between the two processes."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return SIZE.pack(len(data)) + data


def unframed(heard: bytearray) -> Iterator[object]:
    """The values that are whole by now, taken out of what was heard."""
    start = 0
    while len(heard) - start >= SIZE.size:
        (size,) = SIZE.unpack_from(heard, start)
        if len(heard) - start - SIZE.size < size:
            break
        yield pickle.loads(memoryview(heard)[start + SIZE.size : start + SIZE.size + size])
        start += SIZE.size + size
    del heard[:start]


def listen(line: socket.socket, scribe: Scribe) -> None:
    """Write what comes until the other end is gone; an answer to nothing says that it is ready."""
    _answer(line, [])
    heard, waiting = bytearray(), list[Record]()
    open_, began = True, 0.0
    while open_ or waiting:
        left = began + LINGER - time.monotonic() if waiting else None
        if open_ and (left is None or left > 0) and len(waiting) < AT_ONCE:
            open_ = _hear_more(line, heard, left)
            came = [*unframed(heard)]
            began = time.monotonic() if came and not waiting else began
            waiting += [Record(*told) for some in came if isinstance(some, list) for told in some]
            if None not in came:  # None: someone waits for all to be written
                continue
        _answer(line, scribe.write(waiting))
        waiting = []


def _hear_more(line: socket.socket, heard: bytearray, seconds: float | None) -> bool:
    line.settimeout(seconds)
    try:
        data = line.recv(1 << 20)
    except TimeoutError:
        return True
    except OSError:
        return False
    heard += data
    return bool(data)


def _answer(line: socket.socket, done: list[Written]) -> None:
    line.settimeout(None)
    with suppress(OSError):  # no one is there any more to be told
        line.sendall(frame([tuple(written) for written in done]))


def main() -> None:
    """Started by the gateway, with the number of a socket; the address of the store is in the environment, where no one
    else can read the password that it may hold."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)  # it ends when its gateway hangs up, after the last word
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as line, open_store(os.environ[STORE]) as store:
        listen(line, Scribe(store, models.catalog()))


if __name__ == "__main__":
    main()

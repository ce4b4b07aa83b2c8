"""A log to index: a Python list, read as a store's log is."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clew.recall.index import Index
from clew.store.sqlite import Sqlite
from clew.store.trouble import NotFound
from clew.store.values import Mark, Stored


class Log:
    """Messages in the order they were said. A message that is forgotten leaves its number unused."""

    def __init__(self, first: int = 1) -> None:
        self.messages: list[Stored] = []
        self.blobs: dict[str, bytes] = {}
        self.next = first

    def say(
        self,
        text: str = "",
        *,
        role: str = "user",
        conversation: str = "c",
        at: float | None = None,
        tool: str = "",
        derived: bool = False,
        blob: str = "",
        message: dict[str, Any] | None = None,
    ) -> int:
        seq = self.next
        self.next += 1
        blobs: tuple[str, ...] = ()
        if blob:
            blobs = (f"blob-{seq}",)
            self.blobs[blobs[0]] = blob.encode()
        said = message or {"role": role, "content": text}
        moment = float(seq) if at is None else at
        self.messages.append(
            Stored(seq, conversation, len(self.messages), moment, role, tool, derived, not derived, said, blobs)
        )
        return seq

    def call(self, name: str, arguments: Any, **told: Any) -> int:
        spelled = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = {"id": "1", "type": "function", "function": {"name": name, "arguments": spelled}}
        return self.say(role="assistant", message={"role": "assistant", "content": None, "tool_calls": [call]}, **told)

    def forget(self, *seqs: int) -> None:
        self.messages = [stored for stored in self.messages if stored.seq not in seqs]

    def after(self, mark: Mark, limit: int) -> Sequence[tuple[Mark, Stored]]:
        start = bisect_right(self.messages, mark[1], key=lambda stored: stored.seq)
        return [((0, stored.seq), stored) for stored in self.messages[start : start + limit]]

    def behind(self, mark: Mark) -> int:
        return len(self.messages) - bisect_right(self.messages, mark[1], key=lambda stored: stored.seq)

    def fetch(self, seqs: Sequence[int]) -> Mapping[int, Stored]:
        places = [bisect_left(self.messages, seq, key=lambda stored: stored.seq) for seq in seqs]
        found = [self.messages[place] for place in places if place < len(self.messages)]
        return {stored.seq: stored for stored in found if stored.seq in seqs}

    def read_blob(self, name: str) -> bytes:
        try:
            return self.blobs[name]
        except KeyError:
            raise NotFound(name) from None


def plain(text: str) -> str:
    return text


class Opened:
    """An index over a log, in a file of its own."""

    def __init__(self, folder: Path, log: Log, veil: Callable[[str], str] = plain, name: str = "index.db") -> None:
        self.database = Sqlite(folder / name, durable=False)
        self.index = Index(self.database, log, veil)

    def __enter__(self) -> Index:
        return self.index

    def __exit__(self, *_: object) -> None:
        self.database.close()


def everything(index: Index) -> dict[bytes, list[int]]:
    """All that an index says: key → messages, whichever way it keeps them."""
    from clew.recall import shelves

    found: dict[bytes, set[int]] = {}
    now = index.state()
    with index.database.read() as work:
        spans = {span for (span,) in work.all("SELECT DISTINCT span FROM recall_posting")} | {0}
        for span in spans:
            for key, docs in shelves.everything(work, span, now.young and span == 0):
                found.setdefault(key, set()).update(docs)
    return {key: sorted(docs) for key, docs in found.items()}

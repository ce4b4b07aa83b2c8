"""Both backends keep the contract of a store, and the contract notices when one does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew.store.address import open_store
from clew.store.align import Aligned
from clew.store.blobs import pointer_to
from clew.store.leases import Purpose
from clew.store.ledger import Spent
from clew.store.store import Lease, Store
from clew.store.values import Stored
from clew.testing import check_store


def test_a_store_keeps_its_contract(store_url: str) -> None:
    check_store(lambda: open_store(store_url))


# Stores that break it, each in a way that one has broken somewhere.


class LosesTheLast(Store):
    def append(self, session: str, messages: Any) -> str:
        return super().append(session, messages[:-1] if len(messages) > 5 else messages)


class SortsKeys(Store):
    def messages(self, session: str) -> list[Stored]:
        return [said._replace(message=dict(sorted(said.message.items()))) for said in super().messages(session)]


class CleansText(Store):
    def append(self, session: str, messages: Any) -> str:
        text = [
            {**m, "content": m["content"].replace("\0", "")} if isinstance(m["content"], str) else m for m in messages
        ]
        return super().append(session, text)


class TakesTwinsForOne(Store):
    def append(self, session: str, messages: Any) -> str:
        return super().append(session, [m for n, m in enumerate(messages) if m not in messages[:n]])


class WritesReplaysAgain(Store):
    def align(self, session: str, messages: Any) -> Aligned:
        return Aligned(self.append(session, messages), added=len(messages))


class IgnoresEdits(Store):
    def align(self, session: str, messages: Any) -> Aligned:
        known = len(self.messages(session))
        return Aligned(self.append(session, messages[known:]), added=len(messages[known:]))


class ForgetsOldReadings(Store):
    def history(self, session: str, **options: Any) -> Iterator[Stored]:
        return super().history(session, **{**options, "aside": False})


class CopiesWhatIsKept(Store):
    def continue_session(self, session: str, messages: Any, **options: Any) -> str:
        copies = [{**message, "copy": True} for message in messages]
        return super().continue_session(session, copies, **options)


class LosesWhatIsSaidMeanwhile(Store):
    def continue_session(self, session: str, messages: Any, **options: Any) -> str:
        return super().continue_session(session, messages, **{**options, "upto": 1 << 40})


class LetsTwoCompact(Store):
    def continue_session(self, session: str, messages: Any, **options: Any) -> str:
        return super().continue_session(self.get_compression_tip(session), messages, **options)


class StaysAtTheOldTip(Store):
    def get_compression_tip(self, session: str) -> str:
        return self.sessions(session)[0].id


class UndoesTheViewAlone(Store):
    def undo(self, session: str, *, turns: int = 1) -> tuple[str, list[Stored]]:
        return session, self.messages(session)[-2 * turns :]


class CopiesBranches(Store):
    def branch(self, session: str, *, upto: int | None = None, title: str = "") -> str:
        copy = self.open_session(title=title)
        return self.append(copy, [said.message for said in self.messages(session)[:upto]])


class HoldsNothing(Store):
    @contextmanager
    def hold(self, session: str, purpose: Purpose = Purpose.WRITE, *, seconds: float = 60.0) -> Iterator[Lease]:
        yield Lease(self, session, purpose, seconds)


class HoldsForEver(Store):
    def hold(self, session: str, purpose: Purpose = Purpose.WRITE, *, seconds: float = 60.0) -> Any:
        return super().hold(session, purpose, seconds=max(seconds, 60.0))


class NamesBlobsAnew(Store):
    spilled = 0

    def spill(self, text: str) -> str:
        NamesBlobsAnew.spilled += 1
        return super().spill(f"{text}{NamesBlobsAnew.spilled}")


class PointsToAnything(Store):
    def read_blob(self, name: str) -> bytes:
        try:
            return super().read_blob(name)
        except Exception:
            return pointer_to(name).encode()


class GuessesPrices(Store):
    def spent(self, *by: Any, **options: Any) -> list[Spent]:
        return [replace(row, unpriced=0) for row in super().spent(*by, **options)]


class ForgetsFailures(Store):
    def record(self, session: str, call: Any) -> None:
        if not call.failed:
            super().record(session, call)


class ForgetsFamily(Store):
    def spent(self, *by: Any, **options: Any) -> list[Spent]:
        return super().spent(*by, **{**options, "family": False})


class RecognisesNoOne(Store):
    def recognise(self, messages: Any) -> None:
        return None


class SkipsInTheFeed(Store):
    def after(self, mark: Any, limit: int) -> Any:
        return super().after(mark, limit)[-1:]


BROKEN: dict[type[Store], str] = {
    LosesTheLast: "not k came back",
    SortsKeys: "the order of a message's keys",
    CleansText: "came back changed",
    TakesTwinsForOne: "identical messages became one",
    WritesReplaysAgain: "replaying identical messages",
    IgnoresEdits: "replaying 10 messages changed some",
    ForgetsOldReadings: "an edit took the old text out of the log",
    CopiesWhatIsKept: "the compacted view is not there",
    LosesWhatIsSaidMeanwhile: "what was said while the summary was made",
    LetsTwoCompact: "a second compactor has to get SessionBusy",
    StaysAtTheOldTip: "one tip, from any depth",
    UndoesTheViewAlone: "what was taken back is no longer shown",
    CopiesBranches: "a branch points to its beginning",
    HoldsNothing: "while the lease to write is held, has to get SessionBusy",
    HoldsForEver: "a lease that ran out goes to the next",
    NamesBlobsAnew: "the same text is kept once",
    PointsToAnything: "there is no such blob",
    GuessesPrices: "a price that is not known is not 0",
    ForgetsFailures: "a call that failed counts",
    ForgetsFamily: "a family is what was delegated",
    RecognisesNoOne: "a list that goes on is recognised",
    SkipsInTheFeed: "the feed shows every message once",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_the_contract_notices_and_names_a_store_that(
    broken: type[Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.testing.store.PATIENCE", 0.2)

    def open_broken() -> Store:
        opened = open_store(tmp_path / "store.db")
        opened.__class__ = broken
        return opened

    with pytest.raises(AssertionError, match=BROKEN[broken]):
        check_store(open_broken)

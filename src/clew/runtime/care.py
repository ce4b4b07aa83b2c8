"""A store with its index looked after: proven whole, mended after a backup, and what must go gone everywhere."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from clew.runtime.recall import index_of
from clew.store import care, portable
from clew.store.care import Forgotten
from clew.store.check import Finding, Kind, findings
from clew.store.sqlite import Sqlite
from clew.store.store import Store

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Mended:
    """What a repair came to."""

    backup: Path
    done: tuple[str, ...]
    left: tuple[Finding, ...]
    """What only a backup brings back."""


def examine(store: Store, progress: Progress = lambda done: None) -> list[Finding]:
    """Everything that is wrong with a store or its index; empty when both are whole."""
    wrong = findings(store, progress)
    if any(finding.kind is Kind.FILE for finding in wrong):
        return wrong
    index = index_of(store)
    return [*wrong, *(Finding(Kind.INDEX, "index", what) for what in index.verify())]


def repair(store: Store, backup: Path, progress: Progress = lambda done: None) -> Mended:
    """Mend everything that is derived, after a backup of what is there now."""
    back_up(store, backup)
    done = care.mend(store)
    index = index_of(store)
    if index.verify():
        done.append(f"index: made again from {index.rebuild(progress):,} messages")
    return Mended(backup, tuple(done), tuple(examine(store)))


def back_up(store: Store, target: Path) -> None:
    """A whole copy: of the file, or of every conversation where the store is a server."""
    if isinstance(store.database, Sqlite):
        store.database.copy_to(target)
        return
    with gzip.open(target, "xt", encoding="utf-8") as file:
        target.chmod(0o600)
        for conversation in store.conversations():
            for line in portable.export(store, conversation.id):
                file.write(json.dumps(line) + "\n")


def backup_beside(store: Store, folder: Path) -> Path:
    """Where a backup made now goes."""
    moment = time.strftime("%Y%m%d-%H%M%S")
    if isinstance(store.database, Sqlite):
        return store.database.path.with_name(f"{store.database.path.name}.backup-{moment}")
    return folder / f"clew-backup-{moment}.jsonl.gz"


def backups_of(store: Store) -> list[Path]:
    """The backups that were made beside an SQLite store."""
    if not isinstance(store.database, Sqlite):
        return []
    return sorted(store.database.path.parent.glob(f"{store.database.path.name}.backup-*"))


def forget(store: Store, session: str, *, reason: str = "asked") -> Forgotten:
    """Remove a conversation everywhere: log, blobs, index, journals, and the backups that still have it."""
    names = care.family_of(store, session)
    _forget_in_index(store, care.numbers_of(store, names))
    gone = care.forget(store, session, reason=reason)
    for path in backups_of(store):
        path.unlink()
    return gone


def _forget_in_index(store: Store, seqs: Sequence[int]) -> None:
    index_of(store).remove(seqs)
    store.beside.settle()

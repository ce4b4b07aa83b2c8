"""What `clew doctor --repair` does, in which order, and what it says about it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from clew.cli import screen, stores
from clew.cli.checkup import Checkup
from clew.cli.errors import Failed, why
from clew.runtime import care
from clew.runtime.recall import index_of
from clew.screen.amounts import count
from clew.screen.layout import say
from clew.screen.shown import shown
from clew.store.address import INDEX, beside
from clew.store.care import mend as mend_rows
from clew.store.check import Kind
from clew.store.inventory import messages_in
from clew.store.salvage import salvage
from clew.store.trouble import StoreBusy, StoreError, StoreReadOnly


@dataclass(frozen=True, slots=True)
class Mended:
    """What a repair did."""

    kept: tuple[Path, ...]
    """Where what was there before is kept."""
    done: tuple[str, ...]


def mend(url: str | None, found: Checkup, backup: Path | None) -> Mended:
    """First keep what is there, then mend."""
    done = [_close(path) for path in found.open_files]
    kinds = {finding.kind for finding in found.findings}
    if Kind.FILE in kinds:
        kept, told = _save(url, backup)
        return Mended(kept, (*done, *told))
    if Kind.INDEX in kinds:
        done += _drop_damaged_index(url)
    if not kinds:
        return Mended((), tuple(done))
    with stores.opened(url) as store:
        target = backup or care.backup_beside(store, Path())
        try:
            with screen.progress("mending", messages_in(store)) as progress:
                mended = care.repair(store, target, progress)
        except OSError as error:
            raise Failed(
                f"the backup {target} could not be written: {why(error)}. Nothing was changed; name another place."
            ) from None
    return Mended((target,), (*done, *mended.done))


def show(console: Console, mended: Mended) -> None:
    """Where the old one is, and what was done."""
    console.print()
    for path in mended.kept:
        say(console, f"What was there before is kept in {shown(str(path))}.")
    say(console, "Done:" if mended.done else "Nothing of it could be mended.")
    for line in mended.done:
        say(console, f"  · {shown(line)}")


def document(mended: Mended, before: Checkup) -> dict[str, Any]:
    """The same for a program."""
    return {
        "kept": [str(path) for path in mended.kept],
        "done": [shown(line) for line in mended.done],
        "found": [str(finding) for finding in before.findings],
    }


def _close(path: Path) -> str:
    try:
        path.chmod(path.stat().st_mode & ~0o077)
    except OSError as error:
        return f"{path} may still be read by others: {why(error)}"
    return f"{path} can be read by its owner only"


def _save(url: str | None, backup: Path | None) -> tuple[tuple[Path, ...], Sequence[str]]:
    """A damaged file: what is readable goes into a new one."""
    path = stores.place_of(url)
    if path is None:
        raise Failed("the server's own files are damaged: restore its backup. clew can mend only SQLite files.")
    saved = salvage(path)
    if backup:
        shutil.copy2(saved.kept_as, backup)
    rows = ", ".join(f"{number:,} of {table}" for table, number in saved.rows.items() if number)
    done = [f"saved into a new file, rows: {rows}", *(f"could not be read: {what}" for what in saved.unreadable)]
    done += _drop_damaged_index(url)
    with stores.opened(url) as store:
        done += mend_rows(store)
        with screen.progress("indexing", messages_in(store)) as progress:
            done.append(f"index: made again from {count(index_of(store).rebuild(progress), 'message')}")
    return ((backup, saved.kept_as) if backup else (saved.kept_as,)), done


def _drop_damaged_index(url: str | None) -> list[str]:
    """An index that cannot be read at all is removed: the log has everything that was in it."""
    path = stores.place_of(url)
    if path is None:
        return []
    with stores.opened(url) as store:
        try:
            index_of(store).verify()
            return []
        except (StoreBusy, StoreReadOnly):
            raise
        except StoreError:
            pass
    index = beside(path, INDEX)
    for end in ("", "-wal", "-shm"):
        index.with_name(index.name + end).unlink(missing_ok=True)
    return ["index: its file could not be read and was removed, to be made again"]

"""Who may write: a lease in the store that expires, and that the living take over from the dead."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from enum import StrEnum

from clew.store.database import Work
from clew.store.trouble import SessionBusy


class Purpose(StrEnum):
    """What a lease is for."""

    WRITE = "write"
    """Only its holder appends."""
    COMPACT = "compact"
    """Only its holder compacts; everyone goes on appending behind what is being summarised."""


def new_owner() -> str:
    """A name no one else has, from which the same machine can tell whether its bearer still lives."""
    return f"{_machine()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_ours(owner: str) -> bool:
    """Whether it is this process's."""
    return owner.rsplit("/", 2)[1] == str(os.getpid())


def take(
    work: Work, conversation: int, purpose: Purpose, *, owner: str, seconds: float, now: Callable[[Work], float]
) -> None:
    """Take or renew the lease, or say who has it."""
    refuse_others(work, conversation, (purpose,), owner=owner, now=now)
    work.run(
        "INSERT INTO lease (conversation, purpose, owner, until) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (conversation, purpose) DO UPDATE SET owner = excluded.owner, until = excluded.until",
        (conversation, purpose.value, owner, now(work) + seconds),
    )


def give_back(work: Work, conversation: int, purpose: Purpose, *, owner: str) -> None:
    work.run(
        "DELETE FROM lease WHERE conversation = ? AND purpose = ? AND owner = ?", (conversation, purpose.value, owner)
    )


def refuse_others(
    work: Work, conversation: int, purposes: tuple[Purpose, ...], *, owner: str, now: Callable[[Work], float]
) -> None:
    """Raise SessionBusy when someone else, alive, holds one of these leases."""
    for purpose, holder, until in work.all(
        "SELECT purpose, owner, until FROM lease WHERE conversation = ?", (conversation,)
    ):
        if purpose not in purposes or holder == owner:
            continue
        left = until - now(work)
        if left > 0 and not _is_dead(holder):
            raise SessionBusy(
                f"another process ({_readable(holder)}) is {'writing to' if purpose == 'write' else 'compacting'} this "
                f"session for up to {left:.0f} more seconds. Nothing was changed; try again then."
            )


def _machine() -> str:
    try:
        processes = os.stat("/proc/self/ns/pid").st_ino  # two containers have two, though both may call it process 7
    except OSError:
        processes = 0
    return f"{socket.gethostname()}/{processes}"


def _is_dead(owner: str) -> bool:
    machine, process, _ = owner.rsplit("/", 2)
    if machine != _machine():
        return False  # only its lease can tell
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, ValueError):
        return False
    return False


def _readable(owner: str) -> str:
    machine, process, _ = owner.rsplit("/", 2)
    return f"{process} on {machine.rsplit('/', 1)[0]}"

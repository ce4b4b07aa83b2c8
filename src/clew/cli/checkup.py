"""What does a look at a store find, told check by check?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from clew.cli import screen, stores
from clew.runtime import care
from clew.runtime.recall import index_of
from clew.screen.amounts import count, size
from clew.screen.layout import facts, say
from clew.screen.shown import shown
from clew.store.check import Finding, Kind, findings
from clew.store.inventory import (
    Facts,
    Lease,
    collectable,
    facts_of,
    leases_of,
    messages_in,
    readable_by_others,
    schema_of,
)
from clew.store.store import Store
from clew.store.trouble import StoreBusy, StoreDamaged, StoreError, StoreReadOnly

SHOWN = 5
"""Findings of one kind before the rest is counted."""


class Check(NamedTuple):
    """One thing that is proven, and what it means where it fails."""

    holds: str
    stake: str
    remedy: str


CHECKS: Mapping[Kind, Check] = {
    Kind.FILE: Check(
        "the database's own structure is sound",
        "everything in it, until it is saved",
        "'clew doctor --repair' saves every row that can be read and keeps the damaged file",
    ),
    Kind.TEXT: Check(
        "every message and every blob is what was stored",
        "what these said; nothing else in the store has it",
        "bring it back from a backup, or import its transcript again",
    ),
    Kind.CHAIN: Check(
        "every running hash fits its messages",
        "no words; a client that sends its whole history could be taken for a new one",
        "'clew doctor --repair' makes it again from the messages",
    ),
    Kind.POINTER: Check(
        "every pointer leads somewhere",
        "a part of what the model sees in these sessions; the log still has what was said",
        "'clew doctor --repair' removes what points to nothing",
    ),
    Kind.LEFTOVER: Check(
        "no text lies around that no message says",
        "where these texts stood; they themselves are there",
        "'clew doctor --repair' gives them a conversation of their own",
    ),
    Kind.INDEX: Check(
        "the search index is what the log says",
        "no words; a search may miss some of them",
        "'clew doctor --repair' makes it again from the log",
    ),
}


@dataclass(frozen=True, slots=True)
class Health:
    """What is good to know about a store that can be opened."""

    schema: int
    facts: Facts
    behind: int
    collectable: int
    leases: tuple[Lease, ...]


@dataclass(frozen=True, slots=True)
class Checkup:
    """What a look found."""

    findings: tuple[Finding, ...]
    open_files: tuple[Path, ...]
    """Files that others on this machine may read."""
    health: Health | None
    """None: it is too damaged to tell."""


def look(url: str | None) -> Checkup:
    """Prove everything there is to prove about a store."""
    try:
        with stores.opened(url) as store:
            with screen.progress("checking", messages_in(store)) as progress:
                found = tuple(_examined(store, progress))
            return Checkup(found, tuple(readable_by_others(store)), _health(store, found))
    except StoreDamaged as damaged:
        return Checkup((Finding(Kind.FILE, "database", str(damaged)),), (), None)


def show(console: Console, checkup: Checkup) -> None:
    """Each check with ok or what is wrong, what is at stake, what to do."""
    for kind, check in CHECKS.items():
        wrong = [finding for finding in checkup.findings if finding.kind is kind]
        if wrong:
            _show_wrong(console, check, wrong)
        elif any(finding.kind is Kind.FILE for finding in checkup.findings):
            say(console, Text(f" –  not looked at: {check.holds}", style="dim"))
        else:
            say(console, Text.assemble((" ok ", "green"), check.holds))
    for line in warnings(checkup):
        say(console, Text.assemble((" !  ", "yellow"), line))
    if checkup.health:
        console.print(facts(_rows(checkup.health)))


def show_left(console: Console, checkup: Checkup) -> None:
    """How things stand after a repair."""
    if not checkup.findings:
        say(console, Text.assemble((" ok ", "green"), "everything checked again: all is well"))
        return
    say(console, f"{count(len(checkup.findings), 'thing is', 'things are')} still wrong:")
    for kind, check in CHECKS.items():
        wrong = [finding for finding in checkup.findings if finding.kind is kind]
        if wrong:
            _show_wrong(console, check, wrong)


def warnings(checkup: Checkup) -> list[str]:
    """What is not wrong and still not as it should be."""
    return [
        f"{shown(str(path))} may be read by others on this machine: chmod go= {shown(str(path))}"
        for path in checkup.open_files
    ]


def document(checkup: Checkup) -> dict[str, Any]:
    """The same for a program."""
    return {
        "ok": not checkup.findings,
        "findings": [
            {"kind": finding.kind.value, "where": shown(finding.where), "what": shown(finding.what)}
            for finding in checkup.findings
        ],
        "warnings": warnings(checkup),
        "health": asdict(checkup.health) if checkup.health else None,
    }


def _examined(store: Store, progress: Callable[[int], None]) -> list[Finding]:
    try:
        return care.examine(store, progress)
    except (StoreBusy, StoreReadOnly):
        raise
    except StoreError as wrong:  # the index's; if it was the log's, this raises again
        return [*findings(store, progress), Finding(Kind.INDEX, "index", str(wrong))]


def _health(store: Store, found: Sequence[Finding]) -> Health | None:
    if any(finding.kind is Kind.FILE for finding in found):
        return None
    try:
        return Health(
            schema_of(store), facts_of(store), index_of(store).behind(), collectable(store), tuple(leases_of(store))
        )
    except StoreError:
        return None  # the index's; it is among the findings


def _show_wrong(console: Console, check: Check, wrong: Sequence[Finding]) -> None:
    say(console, Text.assemble((" !! ", "bold red"), f"not so: {check.holds}"))
    for finding in wrong[:SHOWN]:
        say(console, f"      {shown(str(finding))}")
    if len(wrong) > SHOWN:
        say(console, f"      … {len(wrong) - SHOWN:,} more; --json lists them all")
    say(console, Text(f"      at stake: {check.stake}", style="dim"))
    say(console, Text(f"      to do:    {check.remedy}", style="dim"))


def _rows(health: Health) -> list[tuple[str, str]]:
    told = health.facts
    behind = (
        "up to date" if not health.behind else f"{count(health.behind, 'message')} behind; the next search catches up"
    )
    rows = [
        ("schema", f"{health.schema}"),
        (
            "log",
            f"{size(told.log_bytes)}: {count(told.messages, 'message')} of {count(told.conversations, 'conversation')}",
        ),
        ("blobs", f"{size(told.blob_bytes)}: {count(told.blobs, 'blob')}"),
        ("index", f"{size(told.index_bytes)}, {behind}"),
    ]
    if health.collectable:
        rows.append(
            ("unused", f"{count(health.collectable, 'blob')} nothing points to; 'clew sessions prune' removes them")
        )
    for lease in health.leases:
        machine, process, _ = lease.owner.rsplit("/", 2)
        who = f"process {process} on {machine.rsplit('/', 1)[0]}"
        rows.append(("in use", f"{shown(lease.conversation)}: {who} may {lease.purpose} for {lease.seconds:.0f} s"))
    return rows

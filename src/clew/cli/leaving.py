"""What goes when conversations are removed: said before, exactly, and afterwards?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from clew.facts.session import Origin
from clew.runtime.care import backups_of
from clew.screen.amounts import count, size
from clew.screen.conversations import about_document
from clew.screen.layout import grid, in_one_line, say
from clew.screen.moments import age
from clew.screen.shown import shown
from clew.screen.titles import title_of
from clew.store import care
from clew.store.care import Forgotten
from clew.store.inventory import Weight, loose_blobs, weight_of
from clew.store.store import Store
from clew.store.values import Conversation

SHOWN = 50
"""Conversations listed before the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Leaver:
    """One conversation that goes."""

    about: Conversation
    title: str
    weight: Weight


@dataclass(frozen=True, slots=True)
class Leaving:
    """Everything that goes."""

    families: tuple[tuple[str, ...], ...]
    """Each conversation that is removed, with what it delegated."""
    leavers: tuple[Leaver, ...]
    blobs: tuple[int, int]
    """How many blobs nothing else points to, and their bytes."""
    branches: tuple[str, ...]
    """Conversations that stay and lose the beginning they share with one that goes."""
    backups: tuple[Path, ...]


def leaving(store: Store, sessions: Sequence[str]) -> Leaving:
    """What goes with these conversations."""
    families: list[tuple[str, ...]] = []
    for session in sessions:
        family = tuple(care.family_of(store, session))
        if not any(family[0] in other for other in families):
            families = [other for other in families if other[0] not in family] + [family]
    names = list(dict.fromkeys(name for family in families for name in family))
    leavers = [
        Leaver(about, title_of(store, about), weight_of(store, about.id)) for about in map(store.conversation, names)
    ]
    branches = [
        child.id
        for name in names
        for child in store.children(name)
        if child.origin is Origin.BRANCH and child.id not in names
    ]
    backups = tuple(backups_of(store)) if names else ()
    return Leaving(tuple(families), tuple(leavers), loose_blobs(store, names), tuple(branches), backups)


def inactive(store: Store, days: float, source: str | None) -> Leaving:
    """What retention takes: nothing that has a delegate at work."""
    until = time.time() - days * care.DAY
    quiet = [
        one.id
        for one in care.inactive(store, days=days, source=source)
        if all(store.conversation(name).active < until for name in care.family_of(store, one.id))
    ]
    return leaving(store, quiet)


def show(console: Console, leaves: Leaving, loose: Sequence[str]) -> None:
    """What would go."""
    if not leaves.leavers and not loose:
        say(console, "Nothing to remove.")
        return
    if leaves.leavers:
        table = grid("goes", "title", "active", "messages", "size", right=2, tight=True)
        table.columns[0].no_wrap = True
        for leaver in leaves.leavers[:SHOWN]:
            about = leaver.about
            title = f"(delegate) {leaver.title}" if about.origin is Origin.DELEGATE else leaver.title
            numbers = (age(about.active), f"{leaver.weight.messages:,}", size(leaver.weight.bytes))
            table.add_row(in_one_line(shown(about.id)), in_one_line(title), *numbers)
        console.print(table)
        if len(leaves.leavers) > SHOWN:
            say(console, f"… and {len(leaves.leavers) - SHOWN:,} more; --json lists them all")
    for line in _told(leaves, loose):
        say(console, line)


def show_done(console: Console, gone: Sequence[Forgotten], collected: Sequence[str]) -> None:
    """What went."""
    conversations = sum(len(one.conversations) for one in gone)
    blobs = sum(one.blobs for one in gone) + len(collected)
    messages = sum(one.messages for one in gone)
    say(
        console,
        f"Removed: {count(conversations, 'conversation')}, {count(messages, 'message')}, {count(blobs, 'blob')}.",
    )


def say_dry(console: Console) -> None:
    say(console, Text("Dry run: nothing was removed.", style="dim"))


def document(leaves: Leaving, loose: Sequence[str]) -> dict[str, Any]:
    """The same for a program."""
    return {
        "goes": [
            {
                **about_document(leaver.about),
                "title": leaver.title,
                "stored_messages": leaver.weight.messages,
                "bytes": leaver.weight.bytes,
            }
            for leaver in leaves.leavers
        ],
        "blobs": {"count": leaves.blobs[0], "bytes": leaves.blobs[1]},
        "loose_blobs": list(loose),
        "branches_cut": list(leaves.branches),
        "backups": [str(path) for path in leaves.backups],
    }


def _told(leaves: Leaving, loose: Sequence[str]) -> list[str]:
    told = []
    if leaves.leavers:
        messages = sum(leaver.weight.messages for leaver in leaves.leavers)
        bytes_ = sum(leaver.weight.bytes for leaver in leaves.leavers)
        delegates = sum(leaver.about.origin is Origin.DELEGATE for leaver in leaves.leavers)
        with_ = f" ({count(delegates, 'of them a delegate', 'of them delegates')})" if delegates else ""
        told.append(
            f"{count(len(leaves.leavers), 'conversation')}{with_}: {count(messages, 'message')}, {size(bytes_)}, and "
            f"{count(leaves.blobs[0], 'blob')} of {size(leaves.blobs[1])} that nothing else points to."
        )
    if loose:
        told.append(f"{count(len(loose), 'blob')} that nothing points to.")
    if leaves.branches:
        names = ", ".join([*map(shown, leaves.branches[:3]), *(["…"] if len(leaves.branches) > 3 else [])])
        told.append(
            f"{count(len(leaves.branches), 'branch of it stays and loses', 'branches of it stay and lose')} the "
            f"beginning shared with what goes: {names}."
        )
    if leaves.backups:
        told.append(
            f"{count(len(leaves.backups), 'backup')} beside the store, which may still have it: "
            f"{', '.join(path.name for path in leaves.backups)}."
        )
    return told

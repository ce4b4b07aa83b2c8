"""Which conversations came from which, drawn as a tree?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from clew.facts.session import Origin
from clew.screen.amounts import cost, count
from clew.screen.conversations import about_document, spent_document
from clew.screen.layout import say
from clew.screen.moments import age, exact
from clew.screen.shown import shown
from clew.screen.titles import one_line, title_of
from clew.store import chain
from clew.store.ledger import By, Spent
from clew.store.store import Store
from clew.store.trouble import NotFound
from clew.store.values import Conversation, SessionRecord

TITLE = 32
"""Characters of a title beside a branch of the tree."""


@dataclass(frozen=True, slots=True)
class Part:
    """One session, and the conversations that came from it."""

    record: SessionRecord
    messages: int
    """How many the model sees, or saw when it ended."""
    spent: Spent | None
    children: tuple[Family, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """A conversation with all that came from it."""

    about: Conversation
    title: str
    spent: Spent | None
    parts: tuple[Part, ...]


def root_of(store: Store, conversation: str) -> str:
    """The conversation from which all of its family comes."""
    seen = {conversation}
    while (parent := store.conversation(conversation).parent) is not None:
        try:
            conversation = store.conversation(parent).id
        except NotFound:  # it was forgotten, or is in another store
            break
        if conversation in seen:
            break
        seen.add(conversation)
    return conversation


def newest_roots(store: Store, limit: int) -> list[str]:
    """The roots of the families last active."""
    roots: dict[str, None] = {}
    for one in store.conversations():
        roots[root_of(store, one.id)] = None
        if len(roots) == limit:
            break
    return list(roots)


def family(store: Store, conversation: str) -> Family:
    """A conversation with its sessions and everything below them."""
    about = store.conversation(conversation)
    spent = {row.key: row for row in store.spent(By.SESSION, conversation=about.id)}
    own = store.spent(conversation=about.id)[0]
    children = store.children(about.id)
    parts = [
        Part(
            record,
            _seen(store, record.id),
            spent.get(record.id),
            tuple(family(store, child.id) for child in reversed(children) if child.parent == record.id),
        )
        for record in store.sessions(about.id)
    ]
    return Family(about, title_of(store, about), own if own.calls else None, tuple(parts))


def show(console: Console, families: Sequence[Family], asked: str | None) -> None:
    """Each family as a tree, the one asked for marked."""
    if not families:
        say(console, "The store is empty. 'clew import FILE' puts conversations into it.")
    for root in families:
        drawn = Tree(_label(root, asked), guide_style="dim")
        _grow(drawn, root, asked)
        console.print(drawn)


def document(family: Family) -> dict[str, Any]:
    """The same for a program."""
    return {
        **about_document(family.about),
        "title": family.title,
        "spent": spent_document(family.spent),
        "chain": [
            {
                "id": part.record.id,
                "parent": part.record.parent,
                "origin": part.record.origin.value,
                "opened": exact(part.record.opened),
                "ended": exact(part.record.ended),
                "end_reason": part.record.end_reason,
                "messages_seen": part.messages,
                "spent": spent_document(part.spent),
                "children": [document(child) for child in part.children],
            }
            for part in family.parts
        ],
    }


def _grow(tree: Tree, family: Family, asked: str | None) -> None:
    if len(family.parts) == 1:  # never compacted: what came from it hangs on the conversation itself
        _hang(tree, family.parts[0].children, asked)
        return
    previous = None
    for part in family.parts:
        branch = tree.add(_session_label(part, previous, family.about.tip))
        _hang(branch, part.children, asked)
        previous = part.record.id


def _hang(tree: Tree, children: Sequence[Family], asked: str | None) -> None:
    for child in children:
        _grow(tree.add(_label(child, asked)), child, asked)


def _label(family: Family, asked: str | None) -> Text:
    about = family.about
    kind = "" if about.origin is Origin.NEW else f"{about.origin.value} "
    style = "bold reverse" if about.id == asked else "bold"
    told = [*_ending(family), count(about.messages, "message"), cost(family.spent), age(about.active)]
    return Text.assemble(
        kind,
        (shown(about.id), style),
        f" {one_line(family.title, TITLE)}",
        (f"  {' · '.join(told)}", "dim"),
        overflow="fold",
    )


def _ending(family: Family) -> Iterator[str]:
    if len(family.parts) == 1 and family.parts[0].record.end_reason:
        yield f"ended: {shown(family.parts[0].record.end_reason)}"


def _session_label(part: Part, previous: str | None, tip: str) -> Text:
    record = part.record
    state = f"ended: {shown(record.end_reason)}" if record.end_reason else "goes on" if record.id == tip else "left"
    from_ = f", from {_short(record.parent)}" if record.parent and previous and record.parent != previous else ""
    style = "bold" if record.id == tip else ""
    told = f"  {state}{from_} · model sees {part.messages:,} · {cost(part.spent)} · {age(record.opened)}"
    return Text.assemble((_short(record.id), style), (told, "dim"), overflow="fold")


def _short(session: str) -> str:
    """`.2` of `20261116-8f0c2a11.2`: the rest stands above it."""
    return "." + shown(session).rsplit(".", 1)[-1]


def _seen(store: Store, session: str) -> int:
    with store.database.read() as work:
        return len(chain.view(work, session))

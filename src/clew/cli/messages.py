"""How does a stored message look in a terminal, and as JSON?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from clew.facts.messages import Message, other_parts
from clew.facts.session import Origin
from clew.screen.amounts import cost, count, size
from clew.screen.layout import facts, say
from clew.screen.moments import age, exact, moment
from clew.screen.shown import shown
from clew.screen.titles import one_line, read
from clew.store.store import Store
from clew.store.trouble import StoreError
from clew.store.values import Stored

if TYPE_CHECKING:
    from clew.cli.show import Page
    from clew.screen.conversations import Listed

TEXT_SHOWN, LINES_SHOWN = 1_000, 16
"""Characters and lines of a text before it is folded."""
ARGUMENTS_SHOWN = 160
"""Characters of a call's arguments."""
_KNOWN = {"role", "content", "tool_calls", "tool_call_id", "name", "tool_name"}


def show_about(console: Console, listed: Listed) -> None:
    """What the conversation is."""
    about = listed.about
    say(console, Text.assemble((shown(about.id), "bold"), f" — {listed.title}"))
    rows = [("messages", f"{about.messages:,} in {count(about.sessions, 'session')}; goes on in {about.tip}")]
    rows += [("origin", f"{about.origin.value} of {about.parent}")] if about.origin is not Origin.NEW else []
    rows += [
        (name, shown(value))
        for name, value in (("model", about.model), ("source", about.source), ("folder", about.cwd))
        if value
    ]
    rows += [("tags", ", ".join(map(shown, about.tags)))] if about.tags else []
    rows += [("active", f"{moment(about.active)} ({age(about.active)}), since {moment(about.created)}")]
    rows += [("cost", f"{cost(listed.spent)} for {count(listed.spent.calls, 'call')}")] if listed.spent else []
    console.print(facts(rows))


def show(console: Console, stored: Stored, blobs: Mapping[str, int], *, full: bool, number: int) -> None:
    """One message: who and when in a line, then what it says, folded where it is long."""
    said = read(stored)
    console.print()
    say(console, heading(stored, number))
    text = shown(said.text).strip("\n")
    if text:
        say(console, _indented(text if full else folded(text)))
    for call in said.calls:
        arguments = shown(call.arguments)
        told = arguments if full else one_line(arguments, ARGUMENTS_SHOWN)
        say(console, Text.assemble("  → ", (shown(call.name), "bold"), " ", told))
    for line in _rest(stored, said, blobs):
        say(console, Text(f"  {line}", style="dim"))


def heading(stored: Stored, number: int) -> Text:
    """`#12 tool read_file · 2026-11-16 14:03`."""
    marks = ["summary by clew"] if stored.derived else [] if stored.standing else ["taken back or edited since"]
    tool = f" {shown(stored.tool)}" if stored.tool else ""
    return Text.assemble(
        (f"#{number:,} ", "dim"),
        (f"{shown(stored.role)}{tool}", "bold"),
        (" · ".join(["", moment(stored.at), *marks]), "dim"),
    )


def show_end(console: Console, page: Page) -> None:
    """What was not shown, and how to see it."""
    console.print()
    if page.left:
        what = f"{count(page.left, 'more message')}: --from {page.following} shows the next, --all all of them."
        say(console, Text(what, style="dim"))
    elif not page.shown:
        say(console, "No messages here.")


def document(stored: Stored, blobs: Mapping[str, int]) -> dict[str, Any]:
    """The same for a program; credentials are taken out, so that it may be passed on."""
    said = read(stored)
    return {
        "seq": stored.seq,
        "conversation": stored.conversation,
        "place": stored.place,
        "at": exact(stored.at),
        "role": shown(stored.role),
        "tool": shown(stored.tool) or None,
        "derived": stored.derived,
        "standing": stored.standing,
        "text": shown(said.text),
        "calls": [{"id": call.id, "name": shown(call.name), "arguments": shown(call.arguments)} for call in said.calls],
        "other_parts": _other_parts(said),
        "other_fields": sorted(map(shown, stored.message.keys() - _KNOWN)),
        "blobs": [{"name": name, "bytes": blobs.get(name)} for name in stored.blobs],
    }


def blob_sizes(store: Store, messages: Sequence[Stored]) -> dict[str, int]:
    """How big the blobs are that these messages point to; one that is gone is left out."""
    sizes = {}
    for name in dict.fromkeys(name for said in messages for name in said.blobs):
        try:
            sizes[name] = len(store.read_blob(name))
        except StoreError:
            continue
    return sizes


def folded(text: str) -> str:
    """How a text begins, and how much more there is."""
    begins = "\n".join(text[:TEXT_SHOWN].split("\n")[:LINES_SHOWN])
    left = len(text) - len(begins)
    return f"{begins}\n… {left:,} more characters; --full shows all" if left > 0 else text


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.split("\n"))


def _rest(stored: Stored, said: Message, blobs: Mapping[str, int]) -> list[str]:
    told = [f"[{part}]" for part in _other_parts(said)]
    fields = sorted(map(shown, stored.message.keys() - _KNOWN))
    told += [f"also has {', '.join(fields)}"] if fields else []
    told += [f"blob:{name}  {size(blobs[name]) if name in blobs else 'is not there any more'}" for name in stored.blobs]
    return told


def _other_parts(said: Message) -> list[str]:
    parts = other_parts(said)
    return [shown(str(part.get("type", "part"))) if isinstance(part, Mapping) else "part" for part in parts]

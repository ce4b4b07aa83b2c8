"""How does what a search found look in a terminal?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from clew.recall.search import Found, Hit
from clew.screen.amounts import count
from clew.screen.layout import say
from clew.screen.moments import age, moment
from clew.screen.shown import harmless, shown
from clew.screen.titles import one_line, read, title_of
from clew.store.store import Store
from clew.store.values import Stored

INDENT = "    "
TITLE = 76
"""Characters of the title above a hit."""
NEIGHBOUR = 70
"""Characters of a message beside a hit."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the search was narrowed to."""

    conversation: str | None = None
    role: str | None = None
    tool: str | None = None
    after: float | None = None
    before: float | None = None
    derived: bool = False

    def told(self) -> list[str]:
        named = (("in", self.conversation), ("role", self.role), ("tool", self.tool))
        timed = (("after", self.after), ("before", self.before))
        return [
            *(f"{name} {shown(value)}" for name, value in named if value is not None),
            *(f"{name} {moment(at)}" for name, at in timed if at is not None),
        ]


@dataclass(frozen=True, slots=True)
class Seen:
    """A hit with what stands around it."""

    hit: Hit
    title: str
    before: tuple[Stored, ...]
    after: tuple[Stored, ...]


def seen(store: Store, hit: Hit, context: int) -> Seen:
    """Look around a hit."""
    title = title_of(store, store.conversation(hit.conversation))
    around = store.neighbours(hit.seq, before=context, after=context) if context else []
    here = next((n for n, said in enumerate(around) if said.seq == hit.seq), len(around))
    return Seen(hit, title, tuple(around[:here]), tuple(around[here + 1 :]))


def show(console: Console, question: str, found: Found, chosen: Chosen, hits: Sequence[Seen]) -> None:
    """How many there are and where was looked, then each hit."""
    say(console, _heading(question, found, chosen))
    for warning in _warnings(found):
        say(console, Text(warning, style="yellow"))
    for one in hits:
        console.print()
        _show_hit(console, one)


def _heading(question: str, found: Found, chosen: Chosen) -> Text:
    where = count(found.searched, "message")
    narrowed = "; ".join([*chosen.told(), *left_out(found), *(["with summaries"] if chosen.derived else [])])
    narrowed = f" ({narrowed})" if narrowed else ""
    if not found.total:
        return Text(f"Nothing found for {one_line(question, 80)!r} in {where}{narrowed}.")
    about = "" if found.exact else "about "
    total = count(found.total, "match", "matches")
    return Text.assemble((f"{len(found.hits):,} of {about}{total}", "bold"), f" in {where}{narrowed}")


def left_out(found: Found) -> list[str]:
    return [shown(one) for one in found.filters if one.startswith("without ")]


def _warnings(found: Found) -> list[str]:
    """What was not looked into comes first; then what makes the number an estimate."""
    told = [f"· {shown(note)}" for note in found.notes]
    if found.complete:
        return told
    return ["Not everything was searched:", *told]


def _show_hit(console: Console, one: Seen) -> None:
    hit = one.hit
    tool = f" {shown(hit.tool)}" if hit.tool else ""
    line = [f"line {hit.line:,}"] if hit.line and hit.line > 1 else []
    blob = [f"in blob:{hit.blob}"] if hit.blob else []
    marks = ["summary by clew"] if hit.derived else [] if hit.standing else ["taken back or edited since"]
    facts = " · ".join([f"{shown(hit.role)}{tool}", age(hit.at), *line, *marks])
    say(console, Text.assemble((f"{shown(hit.conversation)} #{hit.place:,}", "bold"), f"  {facts}"))
    say(console, Text(f"  {one_line(one.title, TITLE)}", style="dim"))
    for said in one.before:
        say(console, _neighbour(said))
    for words in _snippet(hit).wrap(console, console.width - len(INDENT)):
        words.rstrip()
        say(console, Text.assemble(INDENT, words))
    for said in one.after:
        say(console, _neighbour(said))
    if blob:
        say(console, Text(f"  {blob[0]}", style="dim"))


def _snippet(hit: Hit) -> Text:
    """The words around the best place, what was looked for in bold."""
    if not _is_clean(hit):
        return Text(" ".join(shown(hit.snippet).split()))
    told, at = Text(), 0
    for start, end in hit.marks:
        if start >= at:
            told.append(_flat(hit.snippet[at:start])).append(_flat(hit.snippet[start:end]), style="bold yellow")
            at = end
    return told.append(_flat(hit.snippet[at:]))


def _is_clean(hit: Hit) -> bool:
    """Whether it can be shown piece by piece: a credential may span two of them."""
    return shown(hit.snippet) == harmless(hit.snippet)


def _flat(text: str) -> str:
    """In one line, with one blank where there were more; the ends stay, for a piece goes on in the next."""
    clean = harmless(text)
    flat = " ".join(clean.split())
    return f"{' ' * clean[:1].isspace()}{flat}{' ' * (clean[-1:].isspace() and bool(flat))}"


def _neighbour(said: Stored) -> Text:
    message = read(said)
    calls = "".join(f" → {shown(call.name)}" for call in message.calls)
    tool = f" {shown(said.tool)}" if said.tool else ""
    return Text(
        f"{INDENT}#{said.place:,} {shown(said.role)}{tool}: {one_line(message.text, NEIGHBOUR)}{calls}", style="dim"
    )

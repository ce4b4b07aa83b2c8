"""The story of a lossless compaction: stubs first, then leaves over what leaves, then fewer words for old ones."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from clew.core.effects import Effect, ask
from clew.core.pairs import legal_cuts, repair
from clew.core.ports import Scale
from clew.engines.handoff import pinned_block, unwrap
from clew.engines.lossless.blocks import block, bridged
from clew.engines.lossless.condensing import Habits, due
from clew.engines.lossless.cut import Cut, cut
from clew.engines.lossless.effects import Ailing, Publish, Rows, Sources
from clew.engines.lossless.seen import Seen, Shown, frontier_of
from clew.engines.lossless.shares import Shares
from clew.engines.lossless.stubs import stub_all
from clew.engines.lossless.texts import Text, Writer, trimmed
from clew.facts.node import Draft, Node, Row, made_from
from clew.facts.session import Compaction

REPAIRS = 4
"""Texts written again in one pass: a pass must not take for ever because many were made while no model answered."""
MIN_PROGRESS = 0.05
"""A compaction that frees less than this share of the prompt changes nothing."""
STUBS_WORTH = 0.20
"""Of the prompt. Stubs that free less are no compaction."""
OUTPUT = 400
"""Tokens of tool output that count as something to tell."""
WORTH = 1.5
"""How many times the text that would stand for them messages have to weigh."""
ADOPTED = "handoff"
"""Who wrote the text of a leaf that another engine's summary became."""

T = TypeVar("T")
Story = Generator[Effect[Any], Any, T]


@dataclass(frozen=True, slots=True)
class Lossless:
    """Makes room by the rules of `shares`. Nothing is lost: what leaves the prompt is in the log, under a node."""

    shares: Shares
    scale: Scale
    habits: Habits
    window: int
    """Tokens a prompt of the summariser's may have."""
    model: str | None = None
    """The summariser's name; None: there is none."""

    def make_room(self, seen: Seen, *, focus: str | None = None, pinned: tuple[str, ...] = ()) -> Story[Compaction]:
        """The messages to go on with: summaries of what left, in the order of time, and the tail as it was."""
        writer = Writer(self.scale, self.window, self.model, focus)
        before = self.scale.messages(seen.messages)
        seen = replace(seen, nodes=(yield from self._mended(seen.nodes, writer)))
        done = self._assembled(seen, pinned, before)
        if focus or done.tokens_after > min(self.shares.enough, before * (1 - STUBS_WORTH)):
            nodes = yield from self._covered(seen.nodes, cut(seen, self.shares, self.scale), writer)
            nodes = yield from self._in_fewer_words(nodes, writer)
            done = self._assembled(replace(seen, nodes=nodes), pinned, before)
        if done.tokens_after > before * (1 - MIN_PROGRESS):
            return self._unchanged(seen, before, pinned)
        return replace(done, notes=_notes(writer))

    def _mended(self, nodes: tuple[Node, ...], writer: Writer) -> Story[tuple[Node, ...]]:
        """Texts that are stale or degraded, written again, the deepest first."""
        better: dict[str, Node] = {}
        for node in (yield from ask(Ailing(REPAIRS, degraded=writer.wanted))):
            if node.depth == 0:
                rows = yield from ask(Rows(node.first, node.last))
                draft = yield from self._leaf(rows, writer)
            else:
                sources = yield from ask(Sources(node.id))
                draft = yield from self._over(sources, writer)
            if draft.degraded and not node.stale:
                continue  # no better than it was
            better[node.id] = yield from ask(Publish(replace(draft, replaces=node.id)))
        return tuple(better.get(node.id, node) for node in nodes)

    def _covered(self, nodes: tuple[Node, ...], where: Cut, writer: Writer) -> Story[tuple[Node, ...]]:
        """Leaves over everything between the last node and the tail, each published as soon as its text is there."""
        frontier, upto = frontier_of(nodes), where.upto
        if upto is None or upto <= frontier:
            return nodes
        rows = yield from ask(Rows(frontier + 1, upto))
        gone = [row for row in rows if row.place < where.behind]
        if where.handoff and gone:
            text = trimmed(unwrap(where.handoff))
            adopted = self._draft(gone, Text(text, ADOPTED))
            nodes = (*nodes, (yield from ask(Publish(adopted))))
            rows = rows[len(gone) :]
        for part in self._parts(rows):
            draft = yield from self._leaf(part, writer)
            if draft.tokens * WORTH > self._content(part):
                break
            nodes = (*nodes, (yield from ask(Publish(draft))))
        return nodes

    def _in_fewer_words(self, nodes: tuple[Node, ...], writer: Writer) -> Story[tuple[Node, ...]]:
        """Old summaries together in fewer words, until all of them have room."""
        forced = False
        while group := due(nodes, self.shares, self.habits, forced=forced):
            forced = forced or sum(node.tokens for node in nodes) > self.shares.blocks
            draft = yield from self._over(group, writer)
            if draft.tokens >= sum(node.tokens for node in group):
                break
            made = yield from ask(Publish(replace(draft, sources=tuple(node.id for node in group))))
            start = nodes.index(group[0])
            nodes = (*nodes[:start], made, *nodes[start + len(group) :])
        return nodes

    def _leaf(self, rows: Sequence[Row], writer: Writer) -> Story[Draft]:
        text = yield from writer.leaf(rows, self.shares.text_for(self._content(rows)))
        return self._draft(rows, text)

    def _over(self, nodes: Sequence[Node], writer: Writer) -> Story[Draft]:
        budget = self.shares.text_over(sum(node.tokens for node in nodes))
        text = yield from writer.over([node.text for node in nodes], budget)
        return Draft(
            first=nodes[0].first,
            last=nodes[-1].last,
            rows=sum(node.rows for node in nodes),
            text=text.text,
            tokens=self.scale.text(text.text),
            made_by=text.made_by,
            degraded=text.degraded or any(node.degraded for node in nodes),
            sources=tuple(node.id for node in nodes),
        )

    def _draft(self, rows: Sequence[Row], text: Text) -> Draft:
        return Draft(
            first=rows[0].place,
            last=rows[-1].place,
            rows=len(rows),
            text=text.text,
            tokens=self.scale.text(text.text),
            made_by=text.made_by,
            degraded=text.degraded,
            prints=made_from(row.hash for row in rows),
        )

    def _parts(self, rows: Sequence[Row]) -> list[Sequence[Row]]:
        """The rows in stretches of about a leaf's weight, cut where nothing is torn apart."""
        cuts = [place for place in legal_cuts([row.message for row in rows]) if 0 < place < len(rows)]
        parts: list[Sequence[Row]] = []
        start = weight = 0
        for begin, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
            more = self._content(rows[begin:end])
            if weight > self.shares.leaf // 4 and weight + more > self.shares.leaf:
                parts.append(rows[start:begin])
                start, weight = begin, 0
            weight += more
        if rows[start:]:
            parts.append(rows[start:])
        return parts

    def _content(self, rows: Sequence[Row]) -> int:
        """What there is to tell of some messages: of output no more than its stub would say."""
        weights = ((row.message, self.scale.message(row.message)) for row in rows)
        return sum(min(weight, OUTPUT) if said.is_result else weight for said, weight in weights)

    def _assembled(self, seen: Seen, pinned: tuple[str, ...], before: int) -> Compaction:
        """System, summaries, what is pinned, the newest request, stubs for what is old and big, the tail."""
        where = cut(seen, self.shares, self.scale)
        said = [*([where.asked] if where.asked else []), *stub_all(where.old, self.scale), *where.tail]
        messages = [one.message for one in said]
        own = [block(node) for node in seen.nodes]
        gone = [text for text in pinned if not any(text in told for told in (*own, *(one.text for one in messages)))]
        if gone:
            own.append(pinned_block(gone))
        made = repair([*where.system, *bridged(own, messages)])
        kept, shortened, dropped = _account(seen, said)
        return Compaction(
            made,
            summary="\n\n".join(own),
            tokens_before=before,
            tokens_after=self.scale.messages(made),
            kept=kept,
            shortened=shortened,
            dropped=dropped,
        )

    def _unchanged(self, seen: Seen, before: int, pinned: tuple[str, ...]) -> Compaction:
        told = [said.text for said in seen.messages]
        gone = [text for text in pinned if not any(text in said for said in told)]
        made = repair(seen.messages)
        if gone:
            leading = next((n for n, said in enumerate(made) if not said.is_system), len(made))
            made = (*made[:leading], *bridged([pinned_block(gone)], list(made[leading:])))
        kept = tuple(range(len(seen.shown)))
        why = "everything there is stands in the tail, or its summary would free too little to be worth it"
        return Compaction(made, tokens_before=before, tokens_after=before, kept=kept, notes=(why,))


def _account(seen: Seen, said: Sequence[Shown]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Which of the messages handed in stayed, which in part, and which did not."""
    whole, in_part = {id(one.message) for one in said}, {one.place for one in said} - {None}
    kept: list[int] = []
    shortened: list[int] = []
    dropped: list[int] = []
    for n, one in enumerate(seen.shown):
        stays = id(one.message) in whole or one.message.is_system
        (kept if stays else shortened if one.place in in_part else dropped).append(n)
    return tuple(kept), tuple(shortened), tuple(dropped)


def _notes(writer: Writer) -> tuple[str, ...]:
    if writer.wanted and writer.model is None:
        return ("no model's summary was to be had: rules wrote it, and it is written again when one answers",)
    return ()

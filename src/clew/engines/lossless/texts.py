"""The text of a node: a model's, checked against its sources; without one, what rules read, with its places."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from clew.core.effects import Effect, Summarise, ask
from clew.core.pairs import Exchange, exchanges
from clew.core.ports import Scale
from clew.core.redact import redact
from clew.core.speaker import Speaker, is_handoff, speaker
from clew.engines.actions import Action, one_line, read_actions
from clew.engines.digest import Carried, essentials, read_digest, write_digest
from clew.engines.handoff import SECTIONS, first_prompt, sections_of, unwrap, update_prompt
from clew.engines.importance import exact_strings
from clew.engines.ledger import Ledger, read_ledger
from clew.engines.lossless.merging import merged
from clew.engines.lossless.telling import in_pieces, tell
from clew.engines.talk import read_talk
from clew.engines.veil import veil, veil_results
from clew.engines.verify import verify
from clew.facts.messages import Message
from clew.facts.node import RULES, Row

TOO_LONG = 1.5
"""A text of more than this many times its budget is no summary; rules write a shorter."""
NOTHING = "Nothing in these messages calls for a note."
COURSE = 120
"""Characters of a message where only its beginning is told."""
LAST_SECTION = f"## {SECTIONS[-1]}"
_TALKING = (Speaker.PERSON, Speaker.MODEL)
Writing = Generator[Effect[Any], Any, "Text"]


@dataclass(frozen=True, slots=True)
class Text:
    """A text and who wrote it."""

    text: str
    made_by: str
    degraded: bool = False


class Writer:
    """Writes texts for one pass. A summariser that fails once is not asked again in the same pass."""

    def __init__(self, scale: Scale, window: int, model: str | None, focus: str | None) -> None:
        """`window` is what the summariser takes; `model` its name, None: there is none."""
        self.scale, self.window, self.focus = scale, window, redact(focus) if focus else None
        self.model = model
        self.wanted = model is not None

    def leaf(self, rows: Sequence[Row], budget: int) -> Writing:
        """What stands for some messages."""
        rows = [row for row in rows if not row.message.is_system]  # which stays where it is
        messages = [row.message for row in rows]
        history = veil(exchanges(messages))
        actions = [read_actions(exchange) if exchange.results else () for exchange in history]
        carried = _carried(messages)
        ledger = read_ledger(zip(history, actions, strict=True), carried.ledger)
        pieces = in_pieces(tell(zip(history, actions, strict=True)), self._most(budget), self.scale)
        written = yield from self.asked(pieces, budget)
        if written:
            vital = essentials(ledger, "", budget=budget, count=self.scale.text)
            return self._checked(written, partial(_everything_said, messages), vital)
        talk = read_talk(zip(history, actions, strict=True), carried.talk)
        strings = exact_strings(veil_results(history), carried.strings, self.focus)
        text = write_digest(
            ledger, talk, "", strings, budget=int(budget * 0.9), count=self.scale.text, focus=self.focus
        )
        text = trimmed(_with_places(text, _places(zip(history, actions, strict=True), rows)))
        return Text(self._with_course(text, history, rows, budget), RULES, degraded=True)

    def over(self, texts: Sequence[str], budget: int) -> Writing:
        """What stands for the texts of several nodes."""
        carried = merged([read_digest(text) for text in texts])
        written = yield from self.asked(in_pieces(texts, self._most(budget), self.scale), budget)
        if written:
            vital = essentials(carried.ledger, "", budget=budget, count=self.scale.text)
            return self._checked(written, lambda: iter(texts), vital)
        strings = exact_strings([], carried.strings, self.focus)
        text = write_digest(
            carried.ledger, carried.talk, "", strings, budget=budget, count=self.scale.text, focus=self.focus
        )
        return Text(trimmed(text), RULES, degraded=True)

    def asked(self, pieces: Sequence[str], budget: int) -> Generator[Effect[Any], Any, str | None]:
        """The summariser's text, each piece bringing it up to date; None where there is none, or none that is one."""
        summary = ""
        for piece in pieces if self.model is not None else ():
            told = (
                update_prompt(summary, piece, budget, self.focus)
                if summary
                else first_prompt(piece, budget, self.focus)
            )
            answer = yield from ask(Summarise(told, budget))
            summary = redact(answer.strip()) if answer else ""
            if not summary:
                self.model = None
                return None
        return summary if summary and self.scale.text(summary) <= max(budget * TOO_LONG, budget + 500) else None

    def _most(self, budget: int) -> int:
        return max(self.window * 6 // 10 - 2 * budget, self.window // 4)

    def _checked(self, written: str, sources: Any, vital: Mapping[str, str]) -> Text:
        text = trimmed(verify(written, sources=sources, essential={**vital, "Active Task": "None."}))
        return Text(text, self.model or RULES)

    def _with_course(self, text: str, history: Sequence[Exchange], rows: Sequence[Row], budget: int) -> str:
        """What room is left tells the course of the talk: how messages begin, evenly spread."""
        said = [(rows[each.place].place, each.said) for each in history if speaker(each.said) in _TALKING]
        lines = [f"- @{place} {one.role}: {one_line(one.text, COURSE)}" for place, one in said if one.text.strip()]
        left = budget - self.scale.text(text) - 10
        every = -(-sum(map(self.scale.text, lines)) // left) if left > 0 else 0
        if not lines or not 0 < every <= len(lines):
            return text
        heading = [] if LAST_SECTION in text else [f"\n{LAST_SECTION}"]
        return "\n".join([*([text] if text != NOTHING else []), *heading, *lines[::every]]).strip()


def trimmed(text: str) -> str:
    """Without headings that have nothing under them, and without a task: the newest one stands in the tail."""
    sections = sections_of(text)
    kept = [
        f"## {name}\n{sections[name]}"
        for name in SECTIONS
        if name != "Active Task" and sections.get(name, "None.").strip() not in ("", "None", "None.")
    ]
    return "\n\n".join(kept) or NOTHING


def _carried(messages: Sequence[Message]) -> Carried:
    """What summaries among the messages bring along: those of another engine, or of the conversation branched from."""
    summaries = [unwrap(said.text) for said in messages if is_handoff(said)]
    if not summaries:
        return Carried(Ledger())
    return merged([read_digest(summary) for summary in summaries])


def _everything_said(messages: Sequence[Message]) -> Iterator[str]:
    for said in messages:
        yield said.text
        yield from (call.arguments for call in said.calls)


_NUMBER = re.compile(r"^(?:\d+\. |- )")


def _places(history: Any, rows: Sequence[Row]) -> dict[str, int]:
    """Where the things that a digest's lines tell of stood, by those lines."""
    found: dict[str, int] = {}
    each: tuple[Exchange, tuple[Action, ...]]
    for each in history:
        exchange, actions = each
        place = rows[exchange.place].place
        for action in actions:
            found[action.line] = place
            if action.error:
                found[f"`{action.verb} {one_line(action.target, 100)}` failed: {action.error}"] = place
            for path, touch in action.touched:
                found[f"{touch}: {path}"] = place
    return found


def _with_places(text: str, places: Mapping[str, int]) -> str:
    """The lines of a digest, each with where it stood: `@12` is message 12."""
    lines = []
    for line in text.splitlines():
        place = places.get(_NUMBER.sub("", line))
        lines.append(line if place is None else f"{line} @{place}")
    return "\n".join(lines)

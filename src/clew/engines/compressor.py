"""The default engine: keep both ends, hand the middle over as a summary."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from clew.core.effects import Effect, Summarise, ask
from clew.core.pairs import Exchange, repair
from clew.core.ports import Asking, Deciding, Scale
from clew.core.redact import redact
from clew.core.speaker import HANDOFF_READ, Speaker, is_clews_own, speaker
from clew.engines.actions import read_actions
from clew.engines.boundaries import Plan, plan
from clew.engines.digest import Carried, essentials, read_digest, write_digest
from clew.engines.handoff import SYSTEM_NOTE, WITHOUT_MODEL, first_prompt, sections_of, update_prompt, wrap
from clew.engines.importance import exact_strings
from clew.engines.ledger import Ledger, read_ledger
from clew.engines.talk import read_talk
from clew.engines.telling import in_parts, tell
from clew.engines.veil import veil, veil_results
from clew.engines.verify import verify
from clew.facts.budget import Budget
from clew.facts.messages import Message, message
from clew.facts.model import Policy
from clew.facts.session import Compaction, Outlook, Session

TOO_LONG = 1.25
"""A summary of more than this many times its budget is not one; rules write a shorter."""


@dataclass(frozen=True, slots=True)
class Compressor:
    """Makes room by the rules of `policy`; with a summariser when there is one, by rules alone when not."""

    policy: Policy
    scale: Scale
    has_summariser: bool = False
    summariser_window: int | None = None
    """Tokens its prompt may have; None: as many as the window that is being compacted."""

    def is_due(self, session: Session, weight: int, budget: Budget) -> Deciding:  # noqa: ARG002 its weight is enough
        yield from ()
        return weight >= budget.trigger

    def outlook(self, messages: tuple[Message, ...], budget: Budget) -> Outlook:
        where = plan(messages, budget, self.policy, self.scale)
        before, leaving = self.scale.messages(messages), self._leaving(where)
        after = before - leaving + budget.summary_for(leaving, self.scale.text(where.previous)) if leaving else before
        return Outlook(len(messages) - len(where.middle), where.middle, before, min(after, before))

    def make_room(
        self, messages: tuple[Message, ...], budget: Budget, *, focus: str | None = None, pinned: tuple[str, ...] = ()
    ) -> Asking:
        """Plan, have the middle summed up, put the parts together. Never larger than before, legal on every way out."""
        where = plan(messages, budget, self.policy, self.scale)
        if not where.middle and not where.shortened:
            return self._unchanged(messages, "everything there is stands in the protected head and tail")
        leaving = self._leaving(where)
        tokens = budget.summary_for(leaving, self.scale.text(where.previous))
        summary, note = yield from self._sum_up(where, tokens, budget, redact(focus) if focus else None)
        made = assemble(where, wrap(summary, note=note, pinned=_gone(pinned, where)))
        before = leaving + self.scale.messages(messages[place] for place in _others(where))
        after = self.scale.messages(made)
        if after > before * (1 - self.policy.min_progress):
            return self._unchanged(messages, "a summary would free too little to be worth it")
        return Compaction(
            messages=made,
            system_note="" if where.previous or where.system else SYSTEM_NOTE,
            summary=summary,
            tokens_before=before,
            tokens_after=after,
            kept=tuple(sorted({*where.system, *where.head, *where.tail, *_one(where.newest_request)})),
            dropped=where.middle,
            shortened=tuple(where.shortened),
            notes=(note,) if note else (),
        )

    def _leaving(self, where: Plan) -> int:
        return self.scale.messages(where.messages[place] for place in where.middle)

    def _unchanged(self, messages: tuple[Message, ...], why: str) -> Compaction:
        weight = self.scale.messages(messages)
        everything = tuple(range(len(messages)))
        return Compaction(repair(messages), tokens_before=weight, tokens_after=weight, kept=everything, notes=(why,))

    def _sum_up(
        self, where: Plan, tokens: int, budget: Budget, focus: str | None
    ) -> Generator[Effect[Any], Any, tuple[str, str]]:
        """The summary, and what has to be said about how it came to be."""
        carried = read_digest(where.previous) if where.previous else Carried(Ledger(requests=_opening_request(where)))
        history = veil((*where.leaving, *_cut_short(where)))
        actions = [read_actions(exchange) if exchange.results else () for exchange in history]
        ledger = read_ledger(zip(history, actions, strict=True), carried.ledger)
        task, count = redact(where.task), self.scale.text
        if self.has_summariser:
            written = yield from self._written(
                tell(zip(history, actions, strict=True)), where.previous, tokens, budget, focus
            )
            if written and sections_of(written) and count(written) <= max(tokens * TOO_LONG, budget.summary):
                essential = essentials(ledger, task, budget=tokens, count=count)
                return verify(written, sources=partial(_everything_said, where), essential=essential), ""
        talk = read_talk(zip(history, actions, strict=True), carried.talk)
        strings = exact_strings(veil_results(history), carried.strings, focus)
        digest = write_digest(ledger, talk, task, strings, budget=tokens, count=count, focus=focus)
        return digest, WITHOUT_MODEL if self.has_summariser else ""

    def _written(
        self, turns: list[str], previous: str, tokens: int, budget: Budget, focus: str | None
    ) -> Generator[Effect[Any], Any, str | None]:
        """The model's summary. What is too much for one prompt goes in parts, each updating the summary so far."""
        window = self.summariser_window or budget.window
        summary = redact(previous)
        for part in in_parts(turns, max(window * 6 // 10 - 2 * tokens, window // 4), self.scale):
            prompt = update_prompt(summary, part, tokens, focus) if summary else first_prompt(part, tokens, focus)
            answer = yield from ask(Summarise(prompt, tokens))
            if not answer or not answer.strip():
                return None
            summary = redact(answer.strip())
        return summary


def assemble(where: Plan, handoff: str) -> tuple[Message, ...]:
    """Head, summary, newest request, tail; the summary in a role that neither neighbour has."""
    system, head, tail = where.kept(where.system), where.kept(where.head), where.kept(where.tail)
    following = [*where.kept(_one(where.newest_request)), *tail]
    if system and not where.previous and not system[-1].text.endswith(SYSTEM_NOTE):
        system[-1] = system[-1].saying(system[-1].text + SYSTEM_NOTE)
    before = head[-1].role if head else ""
    after = following[0].role if following else ""
    role = "assistant" if before not in ("", "assistant") and after == "user" else "user"
    bridge = [message("assistant", HANDOFF_READ)] if role == after == "user" else []
    return repair([*system, *head, message(role, handoff), *bridge, *following])


def _gone(pinned: tuple[str, ...], where: Plan) -> list[str]:
    """Those pinned texts that no message says any more once the middle has left."""
    kept = where.kept((*where.system, *where.head, *_one(where.newest_request), *where.tail))
    return [text for text in pinned if not any(text in said.text for said in kept)]


def _opening_request(where: Plan) -> tuple[str, ...]:
    """What it all began with: the goal, also while the opening itself still stands in front of the summary."""
    persons = (said.text for said in where.kept(where.head) if speaker(said) is Speaker.PERSON)
    return tuple(redact(text) for text in islice(persons, 1))


def _cut_short(where: Plan) -> list[Exchange]:
    """What stays only in part is heard in full before it is cut: a person's words, a tool's strings."""
    cut = ((place, where.messages[place]) for place in where.shortened)
    return [Exchange(said, place, (None,) * len(said.calls), (place,)) for place, said in cut]


def _everything_said(where: Plan) -> Iterator[str]:
    yield where.previous
    for said in where.messages:
        if not is_clews_own(said):
            yield said.text
            yield from (call.arguments for call in said.calls)


def _others(where: Plan) -> list[int]:
    leaving = set(where.middle)
    return [place for place in range(len(where.messages)) if place not in leaving]


def _one(place: int | None) -> tuple[int, ...]:
    return () if place is None else (place,)

"""The default engine: keep both ends, hand the middle over as a summary."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from clew.core.effects import Effect, Summarise, ask
from clew.core.pairs import exchanges, repair
from clew.core.ports import Asking, Scale
from clew.core.redact import redact
from clew.core.speaker import HANDOFF_READ, Speaker, is_clews_own, speaker
from clew.engines.boundaries import Plan, plan
from clew.engines.digest import read_digest, vital_lines, write_digest
from clew.engines.handoff import SYSTEM_NOTE, WITHOUT_MODEL, first_prompt, sections_of, update_prompt, wrap
from clew.engines.importance import exact_strings
from clew.engines.ledger import Ledger, read_ledger
from clew.engines.prune import RESULT_WORTH_PRUNING, one_liner, shape, short_arguments
from clew.engines.verify import verify
from clew.facts.budget import Budget
from clew.facts.messages import Message, message
from clew.facts.model import Policy
from clew.facts.session import Compaction

TOO_LONG = 1.5
"""A summary of more than this many times its budget is not one; rules write a shorter."""
SHOWN = 4_000
"""Characters of one message that the summariser sees; what it cuts out is in the log."""


@dataclass(frozen=True, slots=True)
class Compressor:
    """Makes room by the rules of `policy`; with a summariser when there is one, by rules alone when not."""

    policy: Policy
    scale: Scale
    has_summariser: bool = False
    summariser_window: int | None = None
    """Tokens its prompt may have; None: as many as the window that is being compacted."""

    def make_room(self, messages: tuple[Message, ...], budget: Budget, *, focus: str | None = None) -> Asking:
        """Plan, have the middle summed up, put the parts together. Never larger than before, legal on every way out."""
        where = plan(messages, budget, self.policy, self.scale)
        if not where.middle and not where.shortened:
            return self._unchanged(messages, "everything there is stands in the protected head and tail")
        leaving = self.scale.messages(where.leaving)
        summary, note = yield from self._sum_up(
            where, budget.summary_for(leaving), budget, redact(focus) if focus else None
        )
        made = assemble(where, wrap(summary, note=note))
        before = self.scale.messages(messages)
        after = self.scale.messages(made)
        if after >= before:
            return self._unchanged(messages, "a summary would be larger than what it replaces")
        return Compaction(
            messages=made,
            system_note="" if where.previous or where.system else SYSTEM_NOTE,
            summary=summary,
            tokens_before=before,
            tokens_after=after,
            kept=tuple(sorted({*where.system, *where.head, *where.tail, *_one(where.newest_request)})),
            dropped=where.middle,
            shortened=tuple(where.shortened),
            notes=(note,) if note and self.has_summariser else (),
        )

    def _unchanged(self, messages: tuple[Message, ...], why: str) -> Compaction:
        weight = self.scale.messages(messages)
        everything = tuple(range(len(messages)))
        return Compaction(repair(messages), tokens_before=weight, tokens_after=weight, kept=everything, notes=(why,))

    def _sum_up(
        self, where: Plan, tokens: int, budget: Budget, focus: str | None
    ) -> Generator[Effect[Any], Any, tuple[str, str]]:
        """The summary, and what has to be said about how it came to be."""
        earlier, carried = read_digest(where.previous) if where.previous else (Ledger(), [])
        ledger = read_ledger((*where.leaving, *_persons_words_cut(where)), earlier)
        task = redact(where.task)
        written = (yield from self._written(where, tokens, budget, focus)) if self.has_summariser else None
        if written and self.scale.text(written) <= max(tokens * TOO_LONG, budget.summary):
            rules = write_digest(ledger, task, {}, budget=tokens, count=self.scale.text, focus=focus)
            sections = sections_of(rules)
            verified = verify(
                written,
                sources="\n".join((where.previous, *_everything_said(where.messages))),
                fallback=sections,
                vital=vital_lines(ledger),
                task=sections["Active Task"],
            )
            return verified.summary, ""
        strings = exact_strings((*where.leaving, *(where.messages[place] for place in where.shortened)), carried)
        digest = write_digest(ledger, task, strings, budget=tokens, count=self.scale.text, focus=focus)
        return digest, WITHOUT_MODEL if self.has_summariser else ""

    def _written(
        self, where: Plan, tokens: int, budget: Budget, focus: str | None
    ) -> Generator[Effect[Any], Any, str | None]:
        """The model's summary. What is too much for one prompt goes in parts, each updating the summary so far."""
        turns = list(_told(where.leaving))
        window = self.summariser_window or budget.window
        most = max(window * 6 // 10 - 2 * tokens, window // 4)
        summary = where.previous
        for part in _parts(turns, most, self.scale):
            told = "\n\n".join(part)
            prompt = (
                update_prompt(redact(summary), told, tokens, focus) if summary else first_prompt(told, tokens, focus)
            )
            answer = yield from ask(Summarise(prompt, tokens))
            if not answer or not answer.strip():
                return None
            summary = answer.strip()
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


def _told(messages: Sequence[Message]) -> Iterator[str]:
    """The turns as the summariser reads them: who spoke, what was called, what came of it; no credentials."""
    results = {
        id(result): one_liner(call, result)
        for exchange in exchanges(messages)
        for call, result in zip(exchange.said.calls, exchange.results, strict=True)
        if result is not None and len(result.text) > RESULT_WORTH_PRUNING
    }
    for said in messages:
        who = speaker(said)
        name = f"tool {said.name}".strip() if who is Speaker.TOOL else "user" if who is Speaker.PERSON else said.role
        if who is Speaker.HOST:
            name = f"{said.role}, written by the host program"
        text = results.get(id(said)) or shape(redact(said.text), most=SHOWN, where="see the log")
        calls = [f"→ {call.name}({short_arguments(redact(call.arguments), 1_000)})" for call in said.calls]
        yield "\n".join([f"[{name}] {text}", *calls])


def _parts(turns: Sequence[str], most: int, scale: Scale) -> Iterator[list[str]]:
    """The turns in as few parts as fit a prompt of `most` tokens each."""
    everything = sum(map(len, turns))
    sample = "".join(turns[:: max(1, len(turns) // 64)])[:32_000]
    density = scale.text(sample) / max(len(sample), 1)
    limit = everything + 1 if density == 0 else most / density
    part: list[str] = []
    size = 0
    for turn in turns:
        if part and size + len(turn) > limit:
            yield part
            part, size = [], 0
        part.append(turn)
        size += len(turn)
    if part:
        yield part


def _persons_words_cut(where: Plan) -> list[Message]:
    """A person's message that stays only in part is heard in full before it is cut."""
    return [where.messages[place] for place in where.shortened if speaker(where.messages[place]) is Speaker.PERSON]


def _everything_said(messages: Sequence[Message]) -> Iterator[str]:
    for said in messages:
        if not is_clews_own(said):
            yield said.text
            yield from (call.arguments for call in said.calls)


def _one(place: int | None) -> tuple[int, ...]:
    return () if place is None else (place,)

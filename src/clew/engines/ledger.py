"""What the task stands at: requests, constraints, actions, files, errors, decisions, read from the messages alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.core.pairs import exchanges
from clew.core.redact import redact
from clew.core.speaker import Speaker, speaker
from clew.engines.actions import Action, Touch, Verb, leaves, one_line, read_action, read_arguments
from clew.facts.messages import Message, ToolCall

OPEN_ERRORS = 12
"""The newest that still stand. What failed before that and never came up again is history, not a blocker."""
RECENT = 60
"""Entries remembered of lists that only grow: actions, decisions, answers. Their numbers go on."""

_CONSTRAINT = re.compile(
    r"\b(?:must|never|only|always|don['’]?t|do\s+not|cannot|can['’]?t|should(?:n['’]?t|\s+not)|make\s+sure|ensure|avoid"
    r"|require[sd]?|required|forbidden|prohibited|not\s+allowed|no\s+longer|at\s+(?:most|least)|instead\s+of|rather\s+than"
    r"|prefer(?:ably|red)?|without|keep|exactly|strictly|mandatory|under\s+no|no\s+need"
    r"|muss|nie|niemals|nur|immer|kein\w*|nicht|doit|jamais|seulement|toujours|debe|nunca|s[oó]lo|siempre"
    r"|должен|должна|должно|должны|нельзя|только|никогда|всегда|обязательно|не\s+надо|не\s+нужно)\b"
    r"|不要|必须|只能|只需|只用|只要|禁止|不能|不可|务必|一定|不得|不许|别|永远|总是|避免|尽量|应该|不应"
    r"|必ず|しないで|しないこと|禁止|だけ|のみ|絶対|いけない|なければ|べき|ないように"
    r"|반드시|하지\s*마|금지|절대|항상|만\s+사용|해야",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:decided?|decision|going with|chose|choose|let['’]?s use|(?:I|we)['’]ll use|instead of|rather than|root cause"
    r"|the (?:issue|problem|bug|reason|fix) (?:is|was)|turns? out|because)\b"
    r"|决定|改用|采用|原因是|因为|根本原因|ことにし|решил",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])")
_QUESTION = re.compile(r"[^\n.!?。！？]*[?？]")
_TESTS = re.compile(r"\b(?:pytest|test|tests|jest|vitest|tox|check|spec|ctest|rspec)\b")
_BRANCH = re.compile(r"(?:^On branch |git (?:checkout|switch) -[bc] )(\S+)", re.MULTILINE)
_DIRECTORY = re.compile(r"^\s*cd\s+([^\s;&|]+)")
_TASK_NUMBER = re.compile(r"#(\d+)")


@dataclass(frozen=True, slots=True)
class Ledger:
    """The structured state of a task. Mappings keep the order in which things last happened."""

    requests: tuple[str, ...] = ()
    """What persons said, verbatim, oldest first."""
    constraints: tuple[str, ...] = ()
    """Every line in which a person demanded, forbade or preferred something, verbatim."""
    actions: tuple[str, ...] = ()
    """The newest ones; `done` counts all, so their numbers go on."""
    done: int = 0
    files: Mapping[str, Touch] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    """What was tried → the exact error, while the same has not succeeded since."""
    decisions: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    state: Mapping[str, str] = field(default_factory=dict)
    """Working directory, branch, tests: the latest of each."""
    plan: Mapping[str, str] = field(default_factory=dict)
    """Items of the agent's own to-do list → their status."""
    doing: str = ""
    """What the model last said it was about."""


def read_ledger(messages: Sequence[Message], since: Ledger | None = None) -> Ledger:
    """The state after `messages`; `since` is the state before them."""
    pen = _Pen(since or Ledger())
    for exchange in exchanges(messages):
        pen.hear(exchange.said)
        for call, result in zip(exchange.said.calls, exchange.results, strict=True):
            pen.note(call, result)
    return pen.written()


def constraints_in(text: str) -> Iterator[str]:
    """The lines of a text that demand, forbid or prefer something; of a very long line the sentences that do."""
    for line in text.splitlines():
        if not _CONSTRAINT.search(line):
            continue
        if len(line) <= 500:
            yield line.strip()
        else:
            yield from (said.strip() for said in _SENTENCE_END.split(line) if _CONSTRAINT.search(said))


class _Pen:
    """Writes the ledger, one event at a time. Lives for one reading."""

    def __init__(self, since: Ledger) -> None:
        self.requests = dict.fromkeys(since.requests)
        self.constraints = dict.fromkeys(since.constraints)
        self.actions = list(since.actions)
        self.done = since.done
        self.files = dict(since.files)
        self.errors = dict(since.errors)
        self.decisions = dict.fromkeys(since.decisions)
        self.answered = list(since.answered)
        self.pending = list(since.pending)
        self.state = dict(since.state)
        self.plan = dict(since.plan)
        self.doing = since.doing

    def hear(self, said: Message) -> None:
        match speaker(said):
            case Speaker.PERSON:
                self._hear_person(redact(said.text))
            case Speaker.MODEL if said.text:
                self._hear_model(redact(said.text))

    def _hear_person(self, text: str) -> None:
        if not text.strip():
            return
        self.requests.pop(text, None)
        self.requests[text] = None
        self.constraints |= dict.fromkeys(constraints_in(text))
        self.pending += [one_line(asked, 300) for asked in _QUESTION.findall(text) if len(asked.strip()) > 8][-3:]

    def _hear_model(self, text: str) -> None:
        self.doing = text
        if self.pending:
            answer = one_line(text, 240)
            self.answered += [f"{asked} → {answer}" for asked in self.pending]
            self.pending = []
        if _DECISION.search(text):
            for sentence in _SENTENCE_END.split(text.replace("\n", " ")):
                if len(sentence) < 600 and _DECISION.search(sentence):
                    self.decisions[one_line(sentence, 260)] = None

    def note(self, call: ToolCall, result: Message | None) -> None:
        action = read_action(call, result)
        if result is None:
            return
        if action.verb is Verb.PLAN:
            self._note_plan(call, result)
        else:
            self._note_action(action)
        if action.verb is Verb.ASK:
            answer = redact(result.text)
            self.answered.append(f"{action.target} → {one_line(answer, 300)}")
            self.constraints |= dict.fromkeys(constraints_in(answer))
        self._note_state(action, result)

    def _note_action(self, action: Action) -> None:
        self.done += 1
        self.actions.append(action.line)
        tried = f"{action.verb} {action.target}"
        self.errors.pop(tried, None)
        if action.failed and action.error:
            self.errors[tried] = action.error
        for path, touch in action.touched:
            before = self.files.pop(path, None)
            self.files[path] = _latest(before, touch)

    def _note_plan(self, call: ToolCall, result: Message) -> None:
        arguments = read_arguments(call)
        items = next((value for value in arguments.values() if isinstance(value, list)), None)
        if items is not None:
            self.plan = {one_line(text, 160): status for text, status in map(_plan_item, items) if text}
        elif (subject := arguments.get("subject")) and (number := _TASK_NUMBER.search(result.text)):
            self.plan[f"#{number[1]} {one_line(redact(str(subject)), 160)}"] = "open"
        elif "status" in arguments:
            number_given = str(arguments.get("taskId", ""))
            for item in self.plan:
                if item.startswith(f"#{number_given} "):
                    self.plan[item] = str(arguments["status"])

    def _note_state(self, action: Action, result: Message) -> None:
        if action.verb is not Verb.RUN:
            return
        if where := _DIRECTORY.match(action.target):
            self.state["directory"] = where[1]
        if branch := _BRANCH.search(action.target) or _BRANCH.search(result.text[:400]):
            self.state["branch"] = branch[1]
        if _TESTS.search(action.target):
            self.state["tests"] = f"`{one_line(action.target, 120)}` — {action.outcome}"

    def written(self) -> Ledger:
        return Ledger(
            requests=tuple(self.requests),
            constraints=tuple(self.constraints),
            actions=tuple(self.actions[-RECENT:]),
            done=self.done,
            files=self.files,
            errors=dict(list(self.errors.items())[-OPEN_ERRORS:]),
            decisions=tuple(self.decisions)[-RECENT:],
            answered=tuple(self.answered[-RECENT:]),
            pending=tuple(self.pending),
            state=self.state,
            plan=self.plan,
            doing=self.doing,
        )


def _latest(before: Touch | None, touch: Touch) -> Touch:
    """What is to be known of a file after one more touch: reading tells nothing new, a new file stays new."""
    if touch is Touch.READ and before is not None:
        return before
    if before is Touch.CREATED and touch is Touch.CHANGED:
        return before
    if touch is Touch.CREATED and before is not None and before is not Touch.DELETED:
        return before if before is Touch.CREATED else Touch.CHANGED
    return touch


def _plan_item(item: Any) -> tuple[str, str]:
    if not isinstance(item, Mapping):
        return redact(str(item)), "open"
    words = [text for key, value in item.items() if key not in ("status", "id", "priority") for text in leaves(value)]
    return redact(words[0]) if words else "", str(item.get("status", "open"))

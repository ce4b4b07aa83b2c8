"""What the task stands at: requests, constraints, actions, files, open errors, read from the messages alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clew.core.pairs import Exchange
from clew.core.redact import redact
from clew.core.speaker import Speaker, speaker
from clew.engines.actions import Action, Touch, Verb, leaves, one_line, read_arguments
from clew.engines.phrases import Phrases
from clew.facts.messages import Message, ToolCall

OPEN_ERRORS = 10
"""The newest that still stand. What failed before that and never came up again is history, not a blocker."""
RECENT = 60
"""Actions remembered; their numbers go on."""

_DEMANDS = Phrases(
    "must", "never", "only", "always", "don't", "dont", "do not", "does not", "cannot", "can't", "should", "shouldn't",
    "won't", "avoid", "keep", "make sure", "ensure", "require", "requires", "required", "forbid", "forbidden",
    "prohibited", "not allowed", "no longer", "at most", "at least", "instead of", "rather than", "prefer",
    "preferably", "preferred", "without", "exactly", "strict", "strictly", "mandatory", "no need", "need not",
    "must not", "may not",
    "muss", "nie", "niemals", "nur", "immer", "kein", "keine", "nicht", "doit", "jamais", "seulement", "toujours",
    "debe", "nunca", "solo", "siempre", "sólo",
    "don’t", "can’t", "shouldn’t", "won’t",
    "должен", "должна", "должно", "должны", "нельзя", "только", "никогда", "всегда", "обязательно", "не надо",
    "不要", "必须", "只", "禁止", "不能", "不可", "务必", "一定", "不得", "不许", "别",
    "永远", "总是", "避免", "尽量", "应该",
    "必ず", "しない", "だけ", "のみ", "絶対", "いけない", "なければ", "べき", "ないように",
    "반드시", "하지 마", "하지마", "금지", "절대", "항상", "만 사용", "해야",
)  # fmt: skip
"""How people demand, forbid and prefer."""
WHOLE_LINE = 500
"""Characters. A constraint is kept with the line it stands in; of a longer line, its sentence."""
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
    state: Mapping[str, str] = field(default_factory=dict)
    """Working directory, branch, tests: the latest of each."""
    plan: Mapping[str, str] = field(default_factory=dict)
    """Items of the agent's own to-do list → their status."""


def read_ledger(history: Iterable[tuple[Exchange, tuple[Action, ...]]], since: Ledger | None = None) -> Ledger:
    """The state after these exchanges and what their calls did; `since` is the state before them."""
    pen = _Pen(since or Ledger())
    for exchange, actions in history:
        if exchange.said.role == "user":
            pen.hear(exchange.said)
        for call, result, action in zip(exchange.said.calls, exchange.results, actions, strict=True) if actions else ():
            if result is not None:
                pen.note(call, result, action)
    return pen.written()


def constraints_in(text: str) -> list[str]:
    """The lines of a text that demand, forbid or prefer something, verbatim."""
    return _DEMANDS.sentences(text, line_up_to=WHOLE_LINE)


class _Pen:
    """Writes the ledger, one event at a time. Lives for one reading."""

    def __init__(self, since: Ledger) -> None:
        self.requests = dict.fromkeys(since.requests)
        self.constraints = dict.fromkeys(since.constraints)
        self.actions: list[str | Action] = list(since.actions)
        self.done = since.done
        self.files = dict(since.files)
        self.errors = dict(since.errors)
        self.state = dict(since.state)
        self.plan = dict(since.plan)

    def hear(self, said: Message) -> None:
        if speaker(said) is not Speaker.PERSON or not said.text.strip():
            return
        self.requests.setdefault(said.text)
        self.constraints |= dict.fromkeys(constraints_in(said.text))

    def note(self, call: ToolCall, result: Message, action: Action) -> None:
        if action.verb is Verb.PLAN:
            self._note_plan(call, result)
        else:
            self._note_action(action)
        if action.verb is Verb.ASK:
            self.constraints |= dict.fromkeys(constraints_in(redact(result.text)))  # the answer is a person's
        self._note_state(action, result)

    def _note_action(self, action: Action) -> None:
        self.done += 1
        self.actions.append(action)
        if action.failed or self.errors:
            tried = f"{action.verb} {one_line(action.target, 100)}"
            self.errors.pop(tried, None)
            if action.error:
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
            self.plan[f"#{number[1]} {one_line(str(subject), 160)}"] = "open"
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
            actions=tuple(did if isinstance(did, str) else did.line for did in self.actions[-RECENT:]),
            done=self.done,
            files=self.files,
            errors=dict(list(self.errors.items())[-OPEN_ERRORS:]),
            state=self.state,
            plan=self.plan,
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
        return str(item), "open"
    words = [text for key, value in item.items() if key not in ("status", "id", "priority") for text in leaves(value)]
    return words[0] if words else "", str(item.get("status", "open"))

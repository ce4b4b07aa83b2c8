"""The ledger written as a handoff summary, and read back from one: no model needed, nothing vital lost in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from clew.core.ports import Count
from clew.engines.actions import Touch, one_line
from clew.engines.handoff import joined, sections_of
from clew.engines.importance import Kind, Seen, focus_words, worth
from clew.engines.ledger import Ledger
from clew.engines.talk import Talk

# What each vital part may take of the whole, at most and in this order. What they leave goes to what follows.
TASK, CONSTRAINTS, FILES, ERRORS = 0.12, 0.50, 0.26, 0.22
# How what is left is shared; what one does not use goes to the exact strings, which come last.
STATE, REQUESTS, ACTIONS, DECISIONS, ANSWERED, READ = 0.06, 0.08, 0.16, 0.06, 0.06, 0.06
HEADINGS = 80
"""Tokens of the thirteen headings with nothing under them."""
FOCUS_STRETCH, OFF_FOCUS = 2.0, 0.35
"""With a focus, lines about it may take twice their part's share, and the others a third of it: two thirds of the whole
are then about the focus."""

_TOUCHES = {"changed": Touch.CHANGED, "created": Touch.CREATED, "deleted": Touch.DELETED}


def write_digest(
    ledger: Ledger,
    talk: Talk,
    task: str,
    strings: Mapping[str, Seen],
    *,
    budget: int,
    count: Count,
    focus: str | None = None,
) -> str:
    """The summary of at most `budget` tokens. Vital first, then what helps, then the exact strings."""
    page = _Page(budget - HEADINGS, count, _about(focus))
    sections = _vital(page, ledger, task)
    rest = page.left
    sections["Active State"] = page.lines(_bullets(f"{k}: {v}" for k, v in ledger.state.items()), rest * STATE)
    first, *others = [one_line(said, 360) for said in ledger.requests] or [""]
    goal = (
        page.quote(first, rest * REQUESTS),
        page.lines([f"> {said}" for said in others], rest * REQUESTS, newest=True),
    )
    sections["Goal"] = "\n".join(filter(None, goal))
    sections["Completed Actions"] = page.lines(_actions(ledger), rest * ACTIONS, newest=True)
    sections["Key Decisions"] = page.lines(_bullets(talk.decisions), rest * DECISIONS, newest=True)
    sections["Resolved Questions"] = page.lines(_bullets(talk.answered), rest * ANSWERED, newest=True)
    sections["Pending User Asks"] = page.lines(_bullets(talk.pending), rest * STATE)
    sections["In Progress"] = page.lines([one_line(talk.doing, 300)] if talk.doing else [], rest * STATE)
    sections["Remaining Work"] = page.lines(_plan(ledger), rest * STATE)
    read = page.words("read", [path for path, touch in ledger.files.items() if touch is Touch.READ][::-1], rest * READ)
    sections["Relevant Files"] = "\n".join(filter(None, (sections["Relevant Files"], read)))
    sections["Critical Context"] = _strings(strings, page, joined(sections))
    return joined(sections)


@dataclass(frozen=True, slots=True)
class Carried:
    """What an earlier summary brings along: how the next compaction goes on, also after a restart."""

    ledger: Ledger
    talk: Talk = field(default_factory=Talk)
    strings: tuple[tuple[str, Kind], ...] = ()
    """Best first."""


def read_digest(summary: str) -> Carried:
    """A summary read back."""
    parts = sections_of(summary)
    requests = [line[2:] for line in parts.get("Goal", "").splitlines() if line.startswith("> ")]
    actions = [line.partition(". ") for line in parts.get("Completed Actions", "").splitlines()]
    numbered = [(int(n), did) for n, dot, did in actions if dot and n.isdigit()]
    ledger = Ledger(
        requests=tuple(requests),
        constraints=tuple(_unbulleted(parts.get("Constraints & Preferences", ""))),
        actions=tuple(did for _, did in numbered),
        done=numbered[-1][0] if numbered else 0,
        files=dict(_read_files(parts.get("Relevant Files", ""))),
        errors=dict(_read_errors(parts.get("Blocked", ""))),
        state=dict(line.partition(": ")[::2] for line in _unbulleted(parts.get("Active State", "")) if ": " in line),
        plan=dict.fromkeys(_unbulleted(parts.get("Remaining Work", "")), "open"),
    )
    talk = Talk(
        decisions=tuple(_unbulleted(parts.get("Key Decisions", ""))),
        answered=tuple(_unbulleted(parts.get("Resolved Questions", ""))),
        pending=tuple(_unbulleted(parts.get("Pending User Asks", ""))),
        doing=parts.get("In Progress", "").removesuffix("None."),
    )
    return Carried(ledger, talk, tuple(_read_strings(parts.get("Critical Context", ""))))


VITAL = ("Constraints & Preferences", "Blocked", "Relevant Files")
"""Sections whose every line must stand in any summary, whoever wrote it."""


def essentials(ledger: Ledger, task: str, *, budget: int, count: Count) -> dict[str, str]:
    """What a summary cannot be without: the vital sections, the task, and what a model must not have left out."""
    page = _Page(budget, count, None)
    return {
        **_vital(page, ledger, task),
        "Completed Actions": page.lines(_actions(ledger), page.share(ACTIONS), newest=True),
        "Remaining Work": page.lines(_plan(ledger), page.share(STATE)),
    }


def _vital(page: _Page, ledger: Ledger, task: str) -> dict[str, str]:
    """The task and the sections of `VITAL`, filled first, in the order of their shares."""
    return {
        "Active Task": page.quote(task, page.share(TASK)) if task else "None.",
        "Constraints & Preferences": page.lines(_bullets(ledger.constraints), page.share(CONSTRAINTS), newest=True),
        "Relevant Files": page.lines(_files(ledger), page.share(FILES)),
        "Blocked": page.lines(_errors(ledger), page.share(ERRORS)),
    }


@dataclass(slots=True)
class _Page:
    """Tokens to write with. Lives for one digest."""

    whole: float
    count: Count
    about: Callable[[str], bool] | None
    spent: float = 0

    @property
    def left(self) -> float:
        return self.whole - self.spent

    def share(self, part: float) -> float:
        """A part of the whole, as far as it is still there."""
        return max(min(self.whole * part, self.left), 0)

    def lines(self, lines: Sequence[str], allowance: float, *, newest: bool = False) -> str:
        """As many lines as the allowance takes, in their order; `newest` prefers the last ones."""
        order = range(len(lines) - 1, -1, -1) if newest else range(len(lines))
        if self.about is None:
            taken = self._take(lines, order, allowance)
        else:
            about = [place for place in order if self.about(lines[place])]
            taken = self._take(lines, about, min(allowance * FOCUS_STRETCH, self.left))
            others = [place for place in order if place not in taken]
            spent = sum(taken.values())
            taken |= self._take(lines, others, min(allowance - spent, allowance * OFF_FOCUS))
        self.spent += sum(taken.values())
        return "\n".join(lines[place] for place in sorted(taken))

    def _take(self, lines: Sequence[str], order: Iterable[int], allowance: float) -> dict[int, int]:
        taken: dict[int, int] = {}
        for place in order:
            cost = self.count(lines[place]) + 1
            if cost <= allowance:
                taken[place] = cost
                allowance -= cost
            elif allowance < 8:
                break
        return taken

    def words(self, title: str, words: Sequence[str], allowance: float) -> str:
        """A titled line of as many words as the allowance takes."""
        taken: list[str] = []
        allowance -= self.count(f"- {title}:")
        for word in words:
            cost = self.count(f" {word},")
            if cost > allowance:
                if allowance < 4:
                    break
                continue
            taken.append(word)
            allowance -= cost
            self.spent += cost
        return f"- {title}: {', '.join(taken)}" if taken else ""

    def quote(self, text: str, allowance: float) -> str:
        """A text quoted line by line, as far as the allowance goes."""
        for share in (None, 4, 3, 2, 1):  # characters for a token, until it fits: scripts and words differ that much
            shown = text
            if share is not None:
                shown = f"{text[: max(int(allowance * share) - 40, 16)]}… ({len(text):,} characters in all)"
            quoted = "\n".join(f"> {line}" for line in shown.splitlines())
            cost = self.count(quoted) + 1
            if cost <= allowance:
                self.spent += cost
                return quoted
        return ""


def _bullets(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def _unbulleted(text: str) -> list[str]:
    return [line[2:] for line in text.splitlines() if line.startswith("- ")]


def _actions(ledger: Ledger) -> list[str]:
    first = ledger.done - len(ledger.actions) + 1
    return [f"{number}. {did}" for number, did in enumerate(ledger.actions, first)]


def _errors(ledger: Ledger) -> list[str]:
    return [f"- `{tried}` failed: {error}" for tried, error in reversed(list(ledger.errors.items()))]


def _read_errors(text: str) -> Iterable[tuple[str, str]]:
    for line in reversed(text.splitlines()):
        tried, failed, error = line.removeprefix("- `").partition("` failed: ")
        if failed:
            yield tried, error


def _files(ledger: Ledger) -> list[str]:
    return [f"- {touch}: {path}" for path, touch in reversed(list(ledger.files.items())) if touch is not Touch.READ]


def _read_files(text: str) -> Iterable[tuple[str, Touch]]:
    for line in reversed(_unbulleted(text)):
        touch, _, path = line.partition(": ")
        if touch in _TOUCHES:
            yield path, _TOUCHES[touch]
        elif touch == "read":
            yield from ((read, Touch.READ) for read in reversed(path.split(", ")))


def _plan(ledger: Ledger) -> list[str]:
    return _bullets(item for item, status in ledger.plan.items() if status not in ("completed", "done", "deleted"))


def _strings(strings: Mapping[str, Seen], page: _Page, written: str) -> str:
    """The exact strings most likely needed, for what they cost, that do not stand in the summary already."""
    now = 1 + max((seen.last for seen in strings.values()), default=0)
    worths = {string: worth(seen, now) - 0.3 * log(len(string)) for string, seen in strings.items()}
    chosen: dict[Kind, list[str]] = {}
    allowance = page.left - 6 * len(Kind)
    for string in sorted(worths, key=lambda string: -worths[string]):
        if allowance < 3:
            break
        if string in written:
            continue
        cost = page.count(f" {string}")
        if cost <= allowance:
            chosen.setdefault(strings[string].kind, []).append(string)
            allowance -= cost
    return "\n".join(f"- {kind}: {' '.join(chosen[kind])}" for kind in Kind if kind in chosen)


def _read_strings(text: str) -> Iterable[tuple[str, Kind]]:
    for line in _unbulleted(text):
        kind, _, strings = line.partition(": ")
        if kind in list(Kind):
            yield from ((string, Kind(kind)) for string in strings.split(" ") if string)


def _about(focus: str | None) -> Callable[[str], bool] | None:
    words = focus_words(focus)
    return (lambda line: any(word in line.lower() for word in words)) if words else None

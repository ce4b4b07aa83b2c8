"""What a tool call did: its verb, its target, how it came out. Read from the call and its result, nothing guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from clew.core.pairs import Exchange
from clew.core.redact import redact
from clew.facts.messages import Message, ToolCall


class Verb(StrEnum):
    __hash__ = str.__hash__  # the one of Enum is written in Python, and verbs are looked up for every call

    READ = "READ"
    WRITE = "WRITE"
    EDIT = "EDIT"
    RUN = "RUN"
    SEARCH = "SEARCH"
    LIST = "LIST"
    FETCH = "FETCH"
    ASK = "ASK"
    PLAN = "PLAN"
    DELEGATE = "DELEGATE"
    CALL = "CALL"


class Touch(StrEnum):
    """What happened to a file."""

    READ = "read"
    CHANGED = "changed"
    CREATED = "created"
    DELETED = "deleted"


class Action(NamedTuple):
    """One call and how it came out."""

    tool: str
    verb: Verb
    target: str
    outcome: str
    failed: bool
    error: str = ""
    """The exact line that says what went wrong."""
    touched: tuple[tuple[str, Touch], ...] = ()

    @property
    def line(self) -> str:
        """`READ config.py — 120 lines [tool: read_file]`."""
        return f"{self.verb} {_end_of_path(self.target)} — {self.outcome} [tool: {self.tool}]"


# Words in a tool's name, in the order they are looked for, and what they tell. Names read off Claude Code, Codex,
# opencode, Cursor, SWE-agent, Hermes and MCP servers.
_NAMED: tuple[tuple[Verb, frozenset[str]], ...] = (
    (Verb.PLAN, frozenset({"todo", "todowrite", "todoread", "plan", "taskcreate", "taskupdate", "tasklist"})),
    (Verb.ASK, frozenset({"ask", "askuserquestion", "clarify", "question"})),
    (Verb.EDIT, frozenset({"edit", "patch", "replace", "multiedit", "notebookedit", "insert"})),
    (Verb.SEARCH, frozenset({"grep", "search", "glob", "find", "ripgrep"})),
    (Verb.RUN, frozenset({"bash", "shell", "terminal", "exec", "run", "command", "execute", "python", "stdin"})),
    (Verb.FETCH, frozenset({"fetch", "webfetch", "websearch", "browse", "browser", "navigate", "web", "url", "http"})),
    (Verb.READ, frozenset({"read", "view", "cat", "open", "notebookread"})),
    (Verb.WRITE, frozenset({"write", "create", "save"})),
    (Verb.LIST, frozenset({"ls", "list", "dir", "tree"})),
    (Verb.DELEGATE, frozenset({"task", "agent", "delegate", "spawn", "subagent"})),
)


def _names(words: str) -> frozenset[str]:
    return frozenset(word for name in words.split() for word in (name, name.replace("_", "")))


_PATH_KEYS = _names("file_path path filename file target_file notebook_path relative_workspace_path")
_COMMAND_KEYS = _names("command cmd script code chars input")
_QUERY_KEYS = _names("pattern query regex q glob glob_pattern")
_URL_KEYS = _names("url uri link href")
_ANY_KEYS = _PATH_KEYS | _COMMAND_KEYS | _QUERY_KEYS | _URL_KEYS
_WORD_KEYS = _names("question questions description subject prompt title name summary id")
_KEYS: Mapping[Verb, frozenset[str]] = {
    Verb.READ: _PATH_KEYS,
    Verb.WRITE: _PATH_KEYS,
    Verb.EDIT: _PATH_KEYS,
    Verb.LIST: _PATH_KEYS,
    Verb.RUN: _COMMAND_KEYS,
    Verb.SEARCH: _QUERY_KEYS,
    Verb.FETCH: _URL_KEYS | _QUERY_KEYS,
}
_NEED_A_TARGET = frozenset({Verb.READ, Verb.WRITE, Verb.EDIT})
_decode = json.JSONDecoder().decode
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_REDIRECTED = re.compile(r"(?<![0-9&>|-])>{1,2}\s*([\w./~@+-]*[\w])")
_EDITED_IN_PLACE = re.compile(r"\bsed\s+(?:-\w+\s+)*-i\S*\s[^|;&\n]{0,300}?\s([\w./~@+-]+\.\w+)\s*(?:$|[|;&\n])")
_REMOVED = re.compile(r"(?:^|[;&|]\s*|\bgit\s+)rm\s+(?:-\w+\s+)*([\w./~@+-]+\.\w+)")
_EXIT = re.compile(
    r"""(?:exit(?:ed)?(?:\s+with)?[\s_]*(?:code|status)|return_?code)["']?\s*[:=]?\s*(-?\d+)""", re.IGNORECASE
)
_PASSED = re.compile(r"\b(\d+)\s+(passed|passing|pass|failed|failing|fail|failures|errors?|skipped)\b", re.IGNORECASE)
_SAYS_ERROR = re.compile(
    r"^\s*(?:<tool_use_error>|Error\b|ERROR\b|error:|error\[|fatal:|panic:|Traceback |Exception\b|\{\"error\"|failed\b)"
)
_ERROR_LINE = re.compile(
    r"^[^\n]*(?:\b\w*(?:Error|Exception)\b[:\s(]|\berror(?:\[\w+\])?:|\bERROR\b|\bfatal:|\bpanic:|--- FAIL|\bFAILED\b"
    r"|\bcannot\b|\bnot found\b|\bNo such\b|\bdenied\b|\bundefined:)[^\n]*",
    re.MULTILINE,
)
_EMPTY_IS_FINE = re.compile(
    r"^\s*(?:cd [^&;]*(?:&&|;)\s*)?(?:rg|grep|egrep|diff|cmp|test|which|git diff|git grep|pgrep|\[)\b"
)
"""Commands for which exit 1 says "nothing found", not "broken"."""


def read_actions(exchange: Exchange) -> tuple[Action, ...]:
    """What the calls of an exchange did, in their order."""
    return tuple(map(read_action, exchange.said.calls, exchange.results))


def read_action(call: ToolCall, result: Message | None) -> Action:
    """The account of one call; `result` is None while it is under way."""
    arguments = read_arguments(call)
    verb = verb_of(call.name)
    named = _first(arguments, _KEYS[verb]) if verb in _KEYS else ""
    if not named and verb in _NEED_A_TARGET:
        patched = _PATCHED.search(call.arguments.replace("\\n", "\n")) if verb is Verb.EDIT else None
        named = patched[2] if patched else ""
        verb = verb if patched else Verb.CALL
    target = one_line(named or _first(arguments, _ANY_KEYS) or _first(arguments, _WORD_KEYS) or _brief(arguments), 160)
    if result is None:
        return Action(call.name, verb, target, "under way", failed=False)
    failed, error, outcome = _outcome(verb, target, result)
    touched = () if failed else _touched(verb, named, arguments)
    return Action(call.name or result.name or "tool", verb, target, outcome, failed, error, touched)


@lru_cache(maxsize=1_000)
def verb_of(tool: str) -> Verb:
    """What kind of tool this is, by the words of its name."""
    name = tool.rpartition("__")[2]
    words = {word.lower() for word in _WORDS.findall(name)} | {name.lower()}
    return next((verb for verb, known in _NAMED if words & known), Verb.CALL)


def read_arguments(call: ToolCall) -> Mapping[str, Any]:
    """A call's arguments as a mapping; text that is no JSON object stands under one name."""
    try:
        value = _decode(call.arguments)
    except (ValueError, RecursionError):
        value = call.arguments
    return value if isinstance(value, dict) else {"input": value} if value else {}


def leaves(value: Any) -> Iterator[str]:
    """Every piece of text in a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif value is not None:
        yield str(value)


def one_line(text: str, most: int) -> str:
    """Text on one line, its end cut off where it is longer than `most` characters."""
    if len(text) > 4 * most:
        text = text[: 4 * most]
    if len(text) <= most and "\n" not in text and "  " not in text:
        return text.strip()
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def size_of(text: str) -> str:
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"


def _end_of_path(target: str) -> str:
    """The last parts of a long path: a handoff names the whole path once, among its files."""
    if len(target) < 48 or " " in target or "://" in target or "/" not in target:
        return target
    return "…/" + "/".join(target.split("/")[-2:])


def _first(arguments: Mapping[str, Any], keys: frozenset[str]) -> str:
    """The first argument with one of these names, however its words are joined."""
    for key, value in arguments.items():
        if value and (key in keys or key.lower().replace("_", "") in keys):
            if isinstance(value, str):
                return value
            if isinstance(value, list) and all(isinstance(word, str) for word in value):
                return " ".join(value)
            if isinstance(value, (list, Mapping)):
                return next(leaves(value), "")
    return ""


def _brief(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={one_line(str(value), 40)}" for key, value in list(arguments.items())[:3])


def _outcome(verb: Verb, target: str, result: Message) -> tuple[bool, str, str]:
    text = result.text
    ends = text if len(text) <= 4_000 else _both_ends(text)
    code = _exit_code(ends) if verb is Verb.RUN or verb is Verb.CALL else None
    failed = bool(code) or _SAYS_ERROR.match(text) is not None or result.raw.get("is_error") is True
    if failed and code == 1 and _EMPTY_IS_FINE.match(target):
        failed = False
    error = _telling_line(redact(ends)) if failed else ""
    told = f"{error}, {size_of(text)} output" if error and verb is Verb.RUN else error or _what_came(verb, text)
    counts = _test_counts(ends[-2_000:]) if verb is Verb.RUN else ""
    status = f"exit {code}" if code is not None else ""
    return failed, error, ", ".join(filter(None, (status, counts, told))) if status or counts else told


def _both_ends(text: str) -> str:
    """How a long text begins and ends, cut between words: half a credential would not be known as one."""
    return f"{text[:1_000].rpartition(' ')[0]}\n{text[-3_000:].partition(' ')[2]}"


def _what_came(verb: Verb, text: str) -> str:
    if verb is Verb.EDIT or verb is Verb.WRITE:
        return "done"
    if len(text) <= 80 and "\n" not in text.strip():
        return one_line(redact(text), 80) or "no output"
    return f"{size_of(text)} output" if verb is Verb.RUN else size_of(text)


def _exit_code(text: str) -> int | None:
    if not any(word in text for word in ("exit", "Exit", "return", "EXIT")):  # a pattern may take its time only then
        return None
    found = _EXIT.search(text)
    return int(found[1]) if found and len(found[1]) < 7 else None


def _test_counts(text: str) -> str:
    if not any(word in text for word in ("pass", "PASS", "fail", "FAIL", "error", "skip")):
        return ""
    return ", ".join(f"{n} {what}" for n, what in _PASSED.findall(text)[-3:])


def _telling_line(text: str) -> str:
    told = _ERROR_LINE.search(text)
    if told:
        return one_line(told[0], 220)
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return one_line(lines[-1], 220) if lines else ""


_TOUCH = {Verb.READ: Touch.READ, Verb.WRITE: Touch.CREATED}
_PATCH = {"Add": Touch.CREATED, "Update": Touch.CHANGED, "Delete": Touch.DELETED}


def _touched(verb: Verb, named: str, arguments: Mapping[str, Any]) -> tuple[tuple[str, Touch], ...]:
    if verb is Verb.READ or verb is Verb.WRITE:
        return ((named, _TOUCH[verb]),)
    if verb is not Verb.EDIT and verb is not Verb.RUN:
        return ()
    text = "\n".join(leaves(arguments))
    patched = tuple((where, _PATCH[what]) for what, where in _PATCHED.findall(text))
    if verb is Verb.EDIT:
        return patched or ((named, Touch.CHANGED),)
    return (*patched, *_touched_by_shell(text))


def _touched_by_shell(command: str) -> Iterator[tuple[str, Touch]]:
    for where in _REDIRECTED.findall(command):
        if ("/" in where or "." in where) and not where.startswith("/dev/"):
            yield where, Touch.CHANGED
    for where in _EDITED_IN_PLACE.findall(command):
        yield where, Touch.CHANGED
    for where in _REMOVED.findall(command):
        yield where, Touch.DELETED

"""What would this shell command do: which programs does it run, and is it one to ask about every time?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from clew.agent.workspace import ToolError, Workspace

_OPERATORS = "();<>|&\n"
_SUBCOMMANDS = frozenset(
    "git npm pnpm yarn npx bun cargo go uv pip pip3 poetry docker podman kubectl helm make gh brew apt apt-get "
    "systemctl conda terraform aws gcloud rake mix dotnet just".split()
)
_WRAPPERS = frozenset("env nohup time timeout nice ionice stdbuf xargs command exec builtin setsid watch".split())
_SHELLS = frozenset("sh bash zsh dash ksh fish".split())
_INTERPRETERS = _SHELLS | frozenset("python python3 perl ruby node php source . eval".split())
_FETCHERS = re.compile(r"\b(?:curl|wget|fetch|aria2c)\b")
_ROOT = frozenset("sudo doas su pkexec runuser".split())
_MACHINE = frozenset("shutdown reboot halt poweroff mkfs fdisk parted wipefs crontab".split())
_WRITERS = frozenset(
    "rm rmdir mv cp tee touch mkdir ln chmod chown chgrp install dd rsync truncate shred unlink cd pushd".split()
)
_KEYWORDS = frozenset("if then else elif fi for while until do done case esac function select { } ! [[ coproc".split())
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_HIDES = re.compile(r"\$\(|`|[<>]\(|<<|\\\n")
_ASSIGNS = re.compile(r"\w+=")


@dataclass(frozen=True, slots=True)
class Reading:
    keys: tuple[str, ...]
    """The first words of every command in it: what a remembered answer is for."""
    warning: str = ""
    """Why it is asked about every time."""


@dataclass(frozen=True, slots=True)
class Simple:
    """One command of a line: its words without redirections, and the files it is redirected to."""

    words: tuple[str, ...]
    written: tuple[str, ...]


def read_command(command: str, at: Workspace) -> Reading:
    try:
        simple = tuple(_parts(command))
    except ValueError as error:
        return Reading((), f"it cannot be read as a shell command ({error})")
    keys = tuple(dict.fromkeys(_key(part) for part in simple))
    return Reading(keys, _warning(command, simple, at))


def _parts(command: str) -> Iterator[Simple]:
    """Its simple commands, those inside `bash -c` and behind `env` or `xargs` too."""
    words: list[str] = []
    written: list[str] = []
    tokens = iter([*_tokens(command), ";"])
    for token in tokens:
        if set(token) <= {"<", ">", "&", "|"} and ">" in token:
            if words and words[-1].isdigit():
                words.pop()  # the 2 of 2>
            target = next(tokens)
            if not (token.endswith("&") and (target.isdigit() or target == "-")):  # 2>&1 names a stream, no file
                written.append(target)
        elif token == "<":
            next(tokens)
        elif set(token) <= set(_OPERATORS):
            if words or written:
                part = Simple(tuple(words), tuple(written))
                yield part
                yield from _within(part.words)
            words, written = [], []
        else:
            words.append(token)


def _tokens(command: str) -> list[str]:
    reader = shlex.shlex(command, posix=True, punctuation_chars=_OPERATORS)
    reader.whitespace, reader.whitespace_split, reader.commenters = " \t\r", True, ""
    return [token for token in reader if token]


def _within(words: tuple[str, ...]) -> Iterator[Simple]:
    program, rest = _program(words)
    script = next((place + 1 for place, word in enumerate(rest) if re.fullmatch(r"-\w*c", word)), len(rest))
    if program in _SHELLS and script < len(rest):
        yield from _parts(rest[script])
    elif program == "eval":
        yield from _parts(" ".join(rest))
    elif program in _WRAPPERS:
        behind = tuple(_behind(rest))
        if behind:
            yield Simple(behind, ())
            yield from _within(behind)


def _behind(words: tuple[str, ...]) -> tuple[str, ...]:
    """The command a wrapper runs: what follows its options, numbers and assignments."""
    for place, word in enumerate(words):
        if not (word.startswith("-") or word[:1].isdigit() or _ASSIGNS.match(word)):
            return words[place:]
    return ()


def _program(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Its program, without the folder it lies in, and the words after it."""
    for place, word in enumerate(words):
        if not _ASSIGNS.match(word):
            return word.rpartition("/")[2], words[place + 1 :]
    return "", ()


def _key(part: Simple) -> str:
    """`git log` for `git log --stat`; assignments and redirections are part of it, for they change what runs."""
    words = list(part.words)
    first = next((place for place, word in enumerate(words) if not _ASSIGNS.match(word)), len(words) - 1)
    name = words[first].rpartition("/")[2] if words else ""
    more = words[first + 1 : first + 2] if name in _SUBCOMMANDS | _INTERPRETERS else []
    module = words[first + 2 : first + 3] if more == ["-m"] else []
    return " ".join([*words[: first + 1], *more, *module, *([">"] if part.written else [])])


def _warning(command: str, parts: tuple[Simple, ...], at: Workspace) -> str:
    """The first reason to ask every time; the order is from the gravest."""
    programs = [_program(part.words) for part in parts]
    names = {name for name, _ in programs}
    if root := names & _ROOT:
        return f"it runs as another user ({', '.join(sorted(root))})"
    if machine := {name for name in names if name.partition(".")[0] in _MACHINE}:
        return f"it changes the machine itself ({', '.join(sorted(machine))})"
    if _FETCHERS.search(command) and names & _INTERPRETERS:
        return "it runs what it fetches from the network"
    for part, (name, rest) in zip(parts, programs, strict=True):
        if why := _harm(name, rest) or _outside(name, rest, part.written, at):
            return why
    if _HIDES.search(command) or names & _KEYWORDS or any("$" in name or not name for name in names):
        return "what it runs cannot be seen from its words"
    return ""


def _harm(name: str, rest: tuple[str, ...]) -> str:
    flags = {letter for word in rest if re.fullmatch(r"-[A-Za-z]+", word) for letter in word[1:]}
    if name == "rm" and ("r" in flags or "R" in flags or "--recursive" in rest):
        wide = [word for word in rest if word.rstrip("/") in ("", ".", "..", "*", "~", "./*", ".git") or "*" in word]
        return f"it removes everything in {wide[0]}" if wide else ""
    if name == "find" and {"-delete", "-exec", "-execdir", "-ok", "-okdir"} & set(rest):
        return "it runs something on every file it finds"
    return _git_harm(rest, flags) if name == "git" else ""


def _git_harm(rest: tuple[str, ...], flags: set[str]) -> str:
    words = set(rest)
    forced = "f" in flags or any(word.startswith(("--force", "--mirror", "--delete", "+")) for word in rest)
    if "push" in words and forced:
        return "it overwrites what others have pushed"
    if ("reset" in words and "--hard" in words) or ("clean" in words and forced):
        return "it throws away work that is not committed"
    return ""


def _outside(name: str, rest: tuple[str, ...], written: tuple[str, ...], at: Workspace) -> str:
    operands = [word.partition("=")[2] or word for word in rest if not word.startswith("-")]
    changes = name in _WRITERS or (name == "sed" and any(word.startswith(("-i", "--in-place")) for word in rest))
    for target in (*written, *(operands if changes else ())):
        if "$" in target or "{" in target:
            return f"it changes {target}, and where that is cannot be seen"
        try:
            if target not in _NOWHERE:
                at.resolve(target)
        except ToolError:
            return f"it changes or enters a place outside the workspace: {target}"
    return "it leaves the workspace: cd goes home" if name == "cd" and not rest else ""

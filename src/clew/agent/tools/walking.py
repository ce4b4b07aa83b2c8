"""Which files and folders are below this one, in an order that stays the same?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from clew.agent.tools.ignoring import Rule, is_ignored, rules_of
from clew.agent.workspace import Workspace


class Found(NamedTuple):
    place: Path
    is_folder: bool
    size: int


def walk(folder: Path, at: Workspace, *, depth: int = 1_000) -> Iterator[Found]:
    """Everything below, but .git, what .gitignore names, what is no regular file, and links that lead out."""
    yield from _below(folder, at, _rules_above(folder, at), depth)


def _rules_above(folder: Path, at: Workspace) -> tuple[Rule, ...]:
    if not folder.is_relative_to(at.base):
        return ()
    above = [at.base, *reversed([parent for parent in folder.parents if parent.is_relative_to(at.base)][:-1])]
    return tuple(rule for parent in above if parent != folder for rule in rules_of(parent))


def _below(folder: Path, at: Workspace, above: tuple[Rule, ...], depth: int) -> Iterator[Found]:
    rules = above + rules_of(folder)
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entries, key=lambda entry: entry.name)
    except OSError:  # not ours to read
        return
    for entry in inside:
        found = _look(entry, at)
        if found is None or is_ignored(found.place, found.is_folder, rules):
            continue
        yield found
        if found.is_folder and depth > 1:
            yield from _below(found.place, at, rules, depth - 1)


def _look(entry: os.DirEntry[str], at: Workspace) -> Found | None:
    try:
        if entry.name == ".git" or not (entry.is_file() or entry.is_dir(follow_symlinks=False)):
            return None  # a folder behind a link is not entered: it may lead back up
        if entry.is_symlink() and not at.holds(Path(os.path.realpath(entry.path))):
            return None
        return Found(Path(entry.path), entry.is_dir(), entry.stat().st_size)
    except OSError:  # gone, or a link to nothing
        return None

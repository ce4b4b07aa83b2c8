"""Where does output go: documents to stdout as bytes, tables to a console, a progress bar only to a person?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from clew.screen.layout import console as console


def as_json(document: Any) -> bytes:
    """UTF-8 whatever the terminal speaks: a pipe's reader expects nothing else."""
    return spelled(document, indent=2) + b"\n"


def spelled(value: Any, indent: int | None = None) -> bytes:
    """JSON in UTF-8; half a surrogate pair, which UTF-8 has no bytes for, is escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent).encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent).encode()


def put(data: bytes) -> None:
    """A document on stdout."""
    click.echo(data, nl=False)


def warn(lines: list[str]) -> None:
    """Lines on stderr."""
    for line in lines:
        click.echo(line, err=True)


@contextmanager
def progress(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar of messages done, on stderr; nothing at all where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda done: bar.update(task, completed=done)

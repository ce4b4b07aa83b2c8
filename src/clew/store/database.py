"""The port to a database: transactions and rows, whichever of the two engines keeps them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

Row = tuple[Any, ...]
Values = Sequence[Any]


class Look(ABC):
    """Reading. Statements are written with `?` for each value; both engines understand the rest alike."""

    @abstractmethod
    def all(self, sql: str, values: Values = ()) -> list[Row]:
        """Every row."""

    def one(self, sql: str, values: Values = ()) -> Row | None:
        """The first row, or None."""
        rows = self.all(sql, values)
        return rows[0] if rows else None


class Work(Look):
    """An open transaction."""

    @abstractmethod
    def run(self, sql: str, values: Values = ()) -> int:
        """Change something; the number of rows it touched."""

    @abstractmethod
    def many(self, sql: str, rows: Iterable[Values]) -> None:
        """The same statement for many rows."""


class Glance(Look):
    """Single looks, each at its own moment: no transaction around what is one statement anyway."""

    def __init__(self, look: Callable[[str, Values], list[Row]]) -> None:
        self._look = look

    def all(self, sql: str, values: Values = ()) -> list[Row]:
        return self._look(sql, values)


class Database(ABC):
    """Where rows are kept."""

    glance: Glance

    types: Mapping[str, str]
    """How this engine spells the column types that `schema.py` leaves open."""
    row_lock: str
    """What makes a SELECT hold its row until the transaction ends, where that is not already so."""

    moment: str
    """An expression that grows with the order of commits; together with `seq` it orders the log."""

    @abstractmethod
    def behind(self, mark: tuple[int, int], *, settled: bool = True) -> tuple[str, Values]:
        """The condition for rows of the log behind a mark (moment, seq), and its values.

        `settled` leaves out those that a slower transaction could still come in front of.
        """

    @abstractmethod
    def write(self) -> AbstractContextManager[Work]:
        """A transaction that is durable once the block ends, and never happened if the block raises."""

    @abstractmethod
    def read(self) -> AbstractContextManager[Work]:
        """Several reads of one moment."""

    def now(self, work: Work) -> float:  # noqa: ARG002
        """The time that all who share this database agree on, in seconds since 1970."""
        return time.time()

    @abstractmethod
    def has_table(self, work: Work, name: str) -> bool:
        """Whether there is such a table."""

    def alone(self, work: Work) -> None:  # noqa: ARG002
        """Keep every other process from changing the shape of things until this transaction ends."""
        return  # a writer has the whole file to itself, where it is a file

    def lock_table(self, work: Work, name: str) -> None:  # noqa: ARG002
        """Let no one else write to a table until this transaction ends."""
        return  # a writer has the whole file to itself, where it is a file

    @abstractmethod
    def integrity(self, work: Work) -> list[str]:
        """What the engine itself finds broken in its files."""

    @abstractmethod
    def settle(self) -> None:
        """Make sure that what was deleted does not linger in a journal or in dead rows."""

    @abstractmethod
    def size(self) -> int:
        """Bytes it takes up."""

    @abstractmethod
    def close(self) -> None:
        """Let go of every connection."""

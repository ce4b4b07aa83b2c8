"""How far has the index come, and how does it keep what it has?"""

from __future__ import annotations

from typing import NamedTuple

from clew.store.database import Database, Row, Work
from clew.store.values import START, Mark

FORMAT = 2
"""Counted up when an older index can no longer be read: it is then dropped, and made again from the log."""


class State(NamedTuple):
    """One row that every transaction of the index reads, and every writer holds."""

    mark: Mark
    """The moment of the log up to which everything is indexed."""
    young: bool
    """Whether the store is small enough to be kept in blocks."""
    fresh: int
    """Messages of a young store that are not in blocks yet."""
    messages: int
    derived: int
    characters: int
    removals: int
    """How often messages were taken out: whoever read the log before such a moment has to read it again."""


COLUMNS = "mark_first, mark_second, young, fresh, messages, derived, characters, removals"
WIDTH = 8


def create(work: Work, database: Database) -> None:
    whole = database.types["whole"]
    columns = ", ".join(f"{column} {whole} NOT NULL" for column in ("format", *COLUMNS.split(", ")))
    work.run(f"CREATE TABLE IF NOT EXISTS recall_state ({columns})")


def is_readable(work: Work) -> bool:
    """Whether there is a state, written by a clew that keeps things as this one does."""
    return work.all("SELECT format FROM recall_state") == [(FORMAT,)]


def begin(work: Work) -> None:
    """As if nothing had been indexed."""
    work.run("DELETE FROM recall_state")
    work.run(f"INSERT INTO recall_state (format, {COLUMNS}) VALUES (?, ?, ?, 1, 0, 0, 0, 0, 0)", (FORMAT, *START))


def read(work: Work, lock: str = "") -> State:
    return as_state(work.all(f"SELECT {COLUMNS} FROM recall_state {lock}")[0])


def write(work: Work, state: State) -> None:
    columns = ", ".join(f"{column} = ?" for column in COLUMNS.split(", "))
    work.run(f"UPDATE recall_state SET {columns}", (*state.mark, int(state.young), *state[2:]))


def as_state(row: Row) -> State:
    """The state from the first columns of a row."""
    return State((row[0], row[1]), row[2] == 1, row[3], row[4], row[5], row[6], row[7])

"""What a session is: a thread of entries that only grows, and where it came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Generic, TypeVar, overload

from clew.facts.messages import Message

T = TypeVar("T")


class Thread(Generic[T]):
    """An immutable sequence whose longer versions share its memory, so that adding one costs one, not all."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items = list(items)
        self._length = len(self._items)

    def add(self, item: T) -> Thread[T]:
        # Whoever adds first to the longest version extends the shared list; a second branch takes a copy.
        items = self._items if len(self._items) == self._length else self._items[: self._length]
        items.append(item)
        longer: Thread[T] = Thread.__new__(Thread)
        longer._items, longer._length = items, self._length + 1
        return longer

    def first(self, length: int) -> Thread[T]:
        """How it was when it had that many."""
        shorter: Thread[T] = Thread.__new__(Thread)
        shorter._items, shorter._length = self._items, min(length, self._length)
        return shorter

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return (self._items[place] for place in range(self._length))

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        if isinstance(place, slice):
            return tuple(self._items[start] for start in range(*place.indices(self._length)))
        if not -self._length <= place < self._length:
            raise IndexError(place)
        return self._items[place % self._length]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Thread)
            and self._length == len(other)
            and all(a == b for a, b in zip(self, other, strict=True))
        )

    def __hash__(self) -> int:
        return hash(tuple(self))


class Origin(StrEnum):
    """How a session came to be: recorded, never inferred."""

    NEW = "new"
    COMPRESSION = "compression"
    BRANCH = "branch"
    DELEGATE = "delegate"


@dataclass(frozen=True, slots=True)
class Entry:
    """One message in its place, with its weight and the weight of all up to it."""

    message: Message
    tokens: int
    upto: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What the provider last reported: the prompt of the first `entries` entries weighed `prompt` tokens."""

    prompt: int
    entries: int


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation between two compactions. It only grows: adding a message makes a new one that shares the old.

    >>> from clew.facts.messages import message
    >>> before = Session("20261116-7f3a2c91.0")
    >>> after = before.add(message("user", "Port the parser."), tokens=7)
    >>> len(before.entries), after.messages[0].text, after.counted
    (0, 'Port the parser.', 7)
    """

    id: str
    system: str = ""
    entries: Thread[Entry] = field(default_factory=Thread)
    origin: Origin = Origin.NEW
    parent: str | None = None
    measured: Measured | None = None
    """None: nothing reported since the session was opened."""
    compactions: int = 0
    """How many sessions stand before this one in its chain."""
    fruitless: int = 0
    """Compactions in a row that freed too little."""
    settled_at: int | None = None
    """What was counted when room was last made, or tried for. None: never."""
    pins: tuple[str, ...] = ()
    """Texts that a person wants in the window for good, word for word."""

    def add(self, message: Message, tokens: int) -> Session:
        upto = (self.entries[-1].upto if len(self.entries) else 0) + tokens
        return replace(self, entries=self.entries.add(Entry(message, tokens, upto)))

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(entry.message for entry in self.entries)

    @property
    def counted(self) -> int:
        """The weight of all its messages as clew counts them."""
        return self.entries[-1].upto if len(self.entries) else 0

    def counted_since(self, entries: int) -> int:
        return self.counted - (self.entries[entries - 1].upto if entries else 0)


@dataclass(frozen=True, slots=True)
class Compaction:
    """What making room came to: the messages to go on with, and an account of the rest."""

    messages: tuple[Message, ...]
    system_note: str = ""
    """Appended to the system prompt, once."""
    summary: str = ""
    """The handoff's text; empty when nothing had to leave."""
    tokens_before: int = 0
    tokens_after: int = 0
    kept: tuple[int, ...] = ()
    """Places, in the history handed in, of the messages that stayed."""
    dropped: tuple[int, ...] = ()
    """Places of those that the summary stands for."""
    shortened: tuple[int, ...] = ()
    """Places of those that stayed in part: too large to keep whole."""
    notes: tuple[str, ...] = ()
    """What a person should know: a summariser that failed, a message too large to keep."""
    declined: bool = False
    """The engine chose to leave everything as it is, and nothing is pressing."""

    @property
    def freed(self) -> int:
        return self.tokens_before - self.tokens_after

    @property
    def progress(self) -> bool:
        return self.freed > 0


@dataclass(frozen=True, slots=True)
class Opened:
    """The session in which a conversation goes on after a compaction."""

    id: str
    system: str
    """Its system prompt: memory may have been written since the last one."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A compaction worked out beside the conversation, while that went on."""

    session: Session
    """As it was then."""
    compaction: Compaction


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a compaction would do."""

    kept: int
    """Messages."""
    leaving: tuple[int, ...]
    """Places of those that a summary would stand for."""
    tokens_before: int
    tokens_after: int
    """At most, with the longest summary allowed."""

"""What a model can take, and how clew is asked to treat it."""

from __future__ import annotations

from dataclasses import dataclass, field

SMALLEST_WINDOW = 8_000
"""Below this a system prompt, a few tools and one reply leave no room worth managing."""


@dataclass(frozen=True, slots=True)
class Window:
    """The tokens a model accepts, and how many of them its reply may take."""

    size: int
    reserved_output: int = 0
    """The `max_tokens` really sent: providers refuse prompt + output > size."""

    @property
    def usable(self) -> int:
        return self.size - self.reserved_output


@dataclass(frozen=True, slots=True)
class Model:
    """The model a session talks to."""

    name: str
    window: Window


@dataclass(frozen=True, slots=True)
class Policy:
    """When to compact and what to protect. Defaults are those people know from agents in the field."""

    threshold: float = 0.50
    """Share of the window that triggers compaction. Half, because tool schemas, the next reply and its tool results
    still have to fit."""
    target_ratio: float = 0.20
    """Share of the trigger that the newest messages keep, word for word."""
    protect_first_n: int = 3
    """Messages kept at the front on the first compaction: the request and how it was taken up."""
    protect_last_n: int = 20
    """Messages kept at the end even when they weigh more than their share, as long as they fit."""
    max_compactions: int = 3
    """Compactions for one model call; after that the session says so instead of looping."""
    enabled: bool = True
    """False: nothing is compacted by itself, not even at an overflow; a person may still ask for it."""
    min_progress: float = 0.05
    """A compaction that frees less than this share did not help; two in a row stop the automatic path."""

    def __post_init__(self) -> None:
        refuse_outside("threshold", self.threshold, 0.05, 0.95)
        refuse_outside("target_ratio", self.target_ratio, 0.05, 0.80)
        refuse_outside("protect_first_n", self.protect_first_n, 0, 1_000)
        refuse_outside("protect_last_n", self.protect_last_n, 0, 10_000)
        refuse_outside("max_compactions", self.max_compactions, 1, 10)
        refuse_outside("min_progress", self.min_progress, 0.0, 0.5)


@dataclass(frozen=True, slots=True)
class ResultLimits:
    """How much tool output may enter the window, in characters."""

    result: int = 100_000
    turn: int = 200_000
    preview: int = 1_500
    per_tool: dict[str, int | None] = field(default_factory=lambda: {"read_file": None})
    """`None` is no limit: a stored result that is read back must not be stored again."""

    def for_tool(self, name: str) -> int | None:
        return self.per_tool.get(name, self.result)

    def within(self, window: Window) -> ResultLimits:
        """The same limits for a small window: one turn's output may take a third of it, at four characters a token."""
        most = max(self.preview * 2, window.usable * 4 // 3)
        return ResultLimits(min(self.result, most // 2), min(self.turn, most), self.preview, self.per_tool)


class Unsatisfiable(ValueError):
    """Settings that cannot be met together; the text says which and what would do."""


def refuse_outside(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise Unsatisfiable(f"{name} is {value}; it has to lie between {low} and {high}")

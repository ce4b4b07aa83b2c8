"""What is known about an error before anything is decided?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from clew.wire.errors.envelope import Told
from clew.wire.errors.lexicon import LEAST, pattern
from clew.wire.errors.plain import plain
from clew.wire.errors.stated import Stated, read_numbers

NEARLY_FULL = 0.8
"""Share of the window from which an error without words is taken for an overflow. Our counts are up to a fifth below a
provider's (nine in ten within 15 % where we have its tokenizer); further below, a malformed request is likelier."""


@dataclass(frozen=True)
class Case:
    """An error as it arrived, and what we know of the prompt that met it."""

    status: int | None
    told: Told
    provider: str = ""
    prompt_tokens: int | None = None
    context_length: int | None = None

    @cached_property
    def text(self) -> str:
        return plain(self.told.text)

    @cached_property
    def words(self) -> str:
        """Text and codes, to look for phrases in, without those that ask for more."""
        codes = " ; ".join(sorted(self.told.codes))
        return _LEAST.sub(" ", f"{self.text} ; {codes} ; {codes.replace('_', ' ')}")

    @cached_property
    def numbers(self) -> Stated:
        return read_numbers(self.text)

    @property
    def nearly_full(self) -> bool | None:
        """None: not known."""
        if not self.prompt_tokens or not self.context_length:
            return None
        return self.prompt_tokens >= self.context_length * NEARLY_FULL


_LEAST = pattern(LEAST)

"""A reply on its way: the pieces in which any provider's stream arrives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from clew.facts.exchange import Failure, Foreign
from clew.facts.usage import Usage


@dataclass(frozen=True, slots=True)
class Begun:
    """The provider has begun to answer."""

    id: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """More of the reply's plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the content opens as this dict: thinking, or a block of a provider's own. `Grown` fills it."""

    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Grown:
    """The newest part grows at one of its fields: text is put behind text, anything else into a list."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Beside:
    """A field beside the content, such as reasoning_content or refusal: text is put behind its text, anything else is
    all of its value."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Called:
    """The model begins its call number `place`, counted from 0."""

    place: int
    id: str
    name: str
    raw: Mapping[str, Any] = field(default_factory=dict)
    """What the call's dict holds besides id, type and function."""


@dataclass(frozen=True, slots=True)
class Argued:
    """More of the arguments of call number `place`."""

    place: int
    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The model has stopped, for this reason in chat's words."""

    stop: str
    foreign: Foreign = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counted:
    """What the call used, as far as the provider says by now; a later one replaces it."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Broken:
    """The stream ended in an error."""

    failure: Failure


Piece: TypeAlias = Begun | Said | Part | Grown | Beside | Called | Argued | Ended | Counted | Broken

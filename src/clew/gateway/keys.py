"""Who may ask? Keys of the gateway's own, kept as hashes, each with what it may use."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import Any

from clew.runtime.files import replace_file
from clew.runtime.home import home
from clew.runtime.settings import BadSettings

FILE = "gateway-keys.json"
PREFIX = "clew-"


@dataclass(frozen=True, slots=True)
class Key:
    """What the gateway knows of a key. Nothing of it opens the door: the key itself is shown once and not kept."""

    name: str
    hash: str = ""
    created: float = 0.0
    models: tuple[str, ...] = ()
    """Patterns, as `claude-*`; none: any model."""
    paths: tuple[str, ...] = ()
    """Patterns, as `/v1/chat/*`; none: any path."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    tokens_per_day: int | None = None
    usd_per_day: float | None = None

    @property
    def is_limited(self) -> bool:
        limits = (self.requests_per_minute, self.tokens_per_minute, self.tokens_per_day, self.usd_per_day)
        return any(limit is not None for limit in limits)

    def may_call(self, path: str) -> bool:
        return not self.paths or any(fnmatchcase(path, pattern) for pattern in self.paths)

    def may_use(self, model: str) -> bool:
        return not self.models or any(fnmatchcase(model, pattern) for pattern in self.models)


LOCAL = Key("")
"""Whoever is on this machine, when no keys are set up: their own credentials are passed on."""


class Keyring:
    """All keys, by the hash of what a client shows."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self.keys = tuple(keys)
        self._by_hash = {key.hash: key for key in self.keys}

    def __bool__(self) -> bool:
        return bool(self.keys)

    def find(self, shown: str) -> Key | None:
        """Whose key this is. A hash is looked up, so the time it takes tells nothing about the key."""
        return self._by_hash.get(_hashed(shown))


def path() -> Path:
    return home() / FILE


def read(file: Path | None = None) -> Keyring:
    """The keys that there are. BadSettings names a file that cannot be."""
    file = file or path()
    try:
        return Keyring([_read(row) for row in json.loads(file.read_bytes())["keys"]])
    except FileNotFoundError:
        return Keyring()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise BadSettings(f"{file} cannot be read ({wrong}); mend it or move it away") from None


def add(key: Key, file: Path | None = None) -> str:
    """Make a key with this name and these limits; what the client has to show, told this once."""
    ring = read(file)
    if any(other.name == key.name for other in ring.keys):
        raise BadSettings(f"there is a key {key.name} already; remove it first, or choose another name")
    shown = PREFIX + secrets.token_urlsafe(32)
    made = replace(key, hash=_hashed(shown), created=time.time())
    _write([*ring.keys, made], file)
    return shown


def remove(name: str, file: Path | None = None) -> bool:
    """Let a key no longer open the door; whether there was one of that name."""
    ring = read(file)
    left = [key for key in ring.keys if key.name != name]
    if len(left) < len(ring.keys):
        _write(left, file)
    return len(left) < len(ring.keys)


def _write(keys: Iterable[Key], file: Path | None) -> None:
    text = json.dumps({"keys": [asdict(key) for key in keys]}, indent=2) + "\n"
    replace_file(file or path(), text.encode(), mode=0o600)


def _read(row: dict[str, Any]) -> Key:
    values: dict[str, Any] = {name: tuple(told) if isinstance(told, list) else told for name, told in row.items()}
    key = Key(**values)
    if not key.name or not key.hash:
        raise ValueError("a key has a name and a hash")
    return key


def _hashed(shown: str) -> str:
    """A plain hash will do: what it hides has 256 bits of chance and cannot be guessed."""
    return sha256(shown.encode("utf-8", "surrogateescape")).hexdigest()

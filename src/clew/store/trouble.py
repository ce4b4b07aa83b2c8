"""What can go wrong with a store, each with a sentence that says what happened and what to do."""

from __future__ import annotations


class StoreError(Exception):
    """Something the store could not do. Nothing that was acknowledged before is lost by it."""


class NotFound(StoreError):
    """No session, conversation or blob goes by that name."""


class SessionBusy(StoreError):
    """Someone else is writing to this session. Nothing was changed: keep what you have and try again."""


class StoreBusy(StoreError):
    """The whole store was locked for longer than we wait."""


class StoreDamaged(StoreError):
    """The database itself is broken."""


class StoreFull(StoreError):
    """No room is left on the disk."""


class StoreReadOnly(StoreError):
    """The file or its folder may not be written."""


class NewerSchema(StoreError):
    """The store was written by a newer clew."""


class Unreachable(StoreError):
    """The store could not be opened: no such folder, no such server."""

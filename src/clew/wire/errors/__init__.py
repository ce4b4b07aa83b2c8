"""What went wrong, by whatever words a provider says it?"""

from __future__ import annotations

from clew.wire.errors.classify import classify_error

__all__ = ["classify_error"]

"""What if an engine has all the methods and is of no class that clew knows?"""

from __future__ import annotations

from typing import Any

from clew.engines.plugin import ContextEngine

NEEDED = ("update_from_response", "should_compress", "compress")


def is_like_an_engine(candidate: Any) -> bool:
    name = getattr(candidate, "name", None)
    return isinstance(name, str) and all(callable(getattr(candidate, each, None)) for each in NEEDED)


class Adopted(ContextEngine):
    """Such an engine with everything it lacks filled in; what it has is asked and set on it."""

    def __init__(self, whose: Any) -> None:
        object.__setattr__(self, "_whose", whose)

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("__"):
            whose = object.__getattribute__(self, "_whose")
            if hasattr(whose, name):
                return getattr(whose, name)
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._whose, name, value)

    # Asked through __getattribute__; written down because a class without them cannot be made.
    name = ""
    update_from_response = should_compress = compress = ContextEngine.on_session_reset  # type: ignore[assignment]
